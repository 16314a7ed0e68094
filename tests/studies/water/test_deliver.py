"""The study of deliveries: its claims about made-up results."""

import numpy as np
import pytest
import xarray as xr

from sandlot.studies.water.deliver import Deliver
from sandlot.studies.water.fetching import SAMPLES


def made_up(delivered: float, failures: float = 0.0, quadrant: float = 50.0, circles: bool = True) -> xr.Dataset:
    """Results of `water.deliver` with a share of balls at random places delivered."""
    angles = np.linspace(0.0, 40.0 if circles else 2.0, SAMPLES)
    paths = np.broadcast_to(18.0 * np.stack([np.cos(angles), np.sin(angles)], axis=1), (27, 4, SAMPLES, 2))
    when = np.full((27, 4), 80.0)
    when[:2] = quadrant
    random = when[2:].ravel()
    random[: round((1.0 - delivered) * random.size)] = np.nan
    when[2:] = random.reshape(-1, 4)
    return xr.Dataset(
        {
            "when": (("job", "target"), when),
            "attempts": (("job", "target"), np.full(when.shape, 2.0)),
            "failures": (("job", "target"), np.full(when.shape, failures)),
            "exploded": (("job", "target"), np.zeros(when.shape)),
            "how": ("job", ["source"] + ["sure"] * 26),
            "place": ("job", ["quadrant"] * 2 + ["random"] * 25),
            "set": ("job", [0, 0, *np.repeat(np.arange(5), 5)]),
            **dict.fromkeys(("body", "ball"), (("job", "target", "sample", "axis"), paths)),
        }
    )


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (made_up(0.96, 1.0), [True, True, True, True, True]),
        (made_up(0.94, 1.0), [True, True, True, True, False]),
        (made_up(1.0), [True, True, True, False, True]),
        (made_up(1.0, 1.0, np.nan), [False, False, True, True, True]),
        (made_up(1.0, 1.0, np.nan, circles=False), [False, False, False, True, True]),
    ],
    ids=["all", "too few", "no failed grasp", "no quadrant", "no circles"],
)
def test_each_claim_can_hold_and_fail(results, expected):
    assert [claim.holds for claim in Deliver().claims(results)] == expected


def test_the_share_is_of_all_sets_and_the_note_has_the_worst_and_the_best():
    *_, claim = Deliver().claims(made_up(0.96))
    assert claim.measured.startswith("96 of 100 (96.0%)")
    assert claim.note.startswith("80.0% to 100.0% in 5 sets")


def test_every_set_has_its_own_targets():
    study = Deliver(targets=8, sets=3)
    jobs = list(study.jobs())
    assert [job.parameters["set"] for job in jobs] == [0, 0, 0, 0, 1, 1, 2, 2]
    assert len(list(Deliver().jobs())) == 2 + 5 * 50
    draws = [study.draw_targets(job, 60.0) for job in jobs[2:]]
    assert len({draw.tobytes() for draw in draws}) == 6


@pytest.mark.slow
def test_half_the_step_delivers_the_same_balls():
    study = Deliver()
    finer = Deliver(snake=study.snake.model_copy(update={"step": 0.5 * study.snake.step}))
    job = list(study.jobs())[2]
    coarse, fine = (each.run(job)["when"] for each in (study, finer))
    assert np.isfinite(coarse).all()
    np.testing.assert_allclose(coarse, fine, rtol=0.05)
