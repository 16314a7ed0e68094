"""The study of steering to targets."""

import numpy as np
import pytest

from claims import synthetic
from sandlot.studies.water.base import SHORT
from sandlot.studies.water.fetching import SAMPLES
from sandlot.studies.water.turn import Turn

SHAPES = {"body": (4, SAMPLES, 2), "ball": (4, SAMPLES, 2), "mark": (4, 2)}


STRONG = SHORT.model_copy(update={"max_torque": 1000.0})


def made_up(radius=15.0, lap=100.0, **changes):
    """Results of bodies that swim a circle to the left, and reach no target unless told otherwise."""
    return {
        "when": lambda job: np.full(4, np.nan),
        "exploded": lambda job: np.zeros(4),
        **{name: (lambda job, shape=shape: np.zeros(shape)) for name, shape in SHAPES.items()},
        "middle": lambda job: np.array([-5.0, radius]),
        "radius": lambda job: radius,
        "lap": lambda job: lap,
        "round": lambda job: 1.0,
        **changes,
    }


def test_targets_in_all_quadrants_are_reached():
    study = Turn(veers=(0.1,), snake=STRONG)
    job = next(study.jobs())
    found = study.run(job)
    assert (found["when"] < 30.0).all()
    assert found["body"].shape == (4, SAMPLES, 2)
    assert np.isnan(found["body"][:, -1]).all(), "a path ends when the target is reached"


def test_a_body_that_stays_bent_swims_a_circle():
    study = Turn(snake=STRONG, seconds=15.0)
    wide, narrow = (study.circle("fast", veer) for veer in study.veers)
    assert 5.0 < narrow["radius"] < wide["radius"] < 30.0
    x, y = wide["middle"]
    assert abs(x + 5.0) < 2.0, "its centre lies beside the start"
    assert y == pytest.approx(wide["radius"], rel=0.1)
    assert 10.0 < narrow["lap"] < wide["lap"]


def test_the_note_counts_exploded_simulations():
    study = Turn(veers=(0.05,))
    outcomes = made_up(
        when=lambda job: np.array([np.nan, 9.0, 9.0, 9.0]),
        exploded=lambda job: np.array([float(job["fidelity"] == "reference"), 0.0, 0.0, 0.0]),
    )
    claims = study.claims(synthetic(study, **outcomes))[:2]
    assert [claim.note for claim in claims] == ["0 exploded", "1 exploded"]
    assert not any(claim.holds for claim in claims)


@pytest.mark.parametrize(
    ("radius", "lap", "expected"),
    [
        (15.0, 100.0, [True, True, True]),
        (9.0, 100.0, [False, True, True]),
        (15.0, 59.0, [True, False, False]),
    ],
    ids=["large and slow", "small", "fast"],
)
def test_claims_about_the_circle_can_hold_and_fail(radius, lap, expected):
    """Seen from the centre of a circle of 15 m, the targets are 11.2 m away; of 9 m, 10.0 m."""
    study = Turn()
    claims = study.claims(synthetic(study, **made_up(radius, lap)))[4:]
    assert [claim.holds for claim in claims] == expected
    assert ["0.05" in claim.text for claim in claims] == [True, True, False]
    assert all(claim.text.startswith("Bent by") and "swims a circle" in claim.text for claim in claims)


def test_a_path_that_is_no_circle_explains_nothing():
    study = Turn()
    claims = study.claims(synthetic(study, **made_up(round=lambda job: 0.0)))[4:]
    assert not any(claim.holds for claim in claims)
    assert all(claim.note.startswith("its path is no circle") for claim in claims)


def test_claims_about_reaching_count_30_seconds():
    study = Turn(veers=(0.1,))
    late = synthetic(study, **made_up(when=lambda job: np.array([9.0, 9.0, 9.0, 31.0])))
    assert [claim.holds for claim in study.claims(late)[:2]] == [False, False]
    soon = synthetic(study, **made_up(when=lambda job: np.full(4, 30.0)))
    assert [claim.holds for claim in study.claims(soon)[:2]] == [True, True]
