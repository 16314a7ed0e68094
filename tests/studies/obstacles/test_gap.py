"""The study of what controllers lose in the reference, and how runs end."""

import numpy as np
import pytest

from claims import assert_fails, changed, failing, synthetic
from sandlot.places.course_kinds import Box, Flat, Rubble, Stairs
from sandlot.studies.obstacles.gap import Gap, draw
from sandlot.studies.obstacles.trials import OVERTURNED, PASSED, STUCK, endings, rate_interval

STUDY = Gap()
runs = np.arange(STUDY.block)
SHARE = {"reactive": 5, "neural": 4, "reinforced": 6, "trained": 9}
IDEAL = {
    name: lambda job: np.where(runs < SHARE[job["controller"]], PASSED, STUCK).astype(float)
    for name in ("fast", "reference")
}


def passing(number, name):
    return lambda job, x: np.where(runs < number, PASSED, STUCK).astype(float) if job["controller"] == name else x


def test_a_study_without_losses_holds():
    assert failing(STUDY, **IDEAL) == []
    assert len(STUDY.claims(synthetic(STUDY, **IDEAL))) == 5


@pytest.mark.parametrize(
    ("number", "name", "words"),
    [
        (4, "reactive", ["The reactive controller passes as much"]),
        (10, "neural", ["more than every controller"]),
        (5, "trained", ["The trained controller passes as much", "more than every controller"]),
    ],
)
def test_each_claim_can_fail(number, name, words):
    assert_fails(STUDY, changed(IDEAL, reference=passing(number, name)), words)


def test_all_controllers_get_the_same_obstacles():
    one, other = (draw("rubble", np.random.default_rng([0, 2, 1])) for _ in range(2))
    assert one == other
    assert {type(draw(kind, np.random.default_rng(0))) for kind in ("boxes", "stairs", "rubble")} == {
        Box,
        Stairs,
        Rubble,
    }


def test_the_figure_has_bars_for_each_kind():
    assert len(STUDY.figure(synthetic(STUDY, **IDEAL)).axes) == 4


@pytest.mark.parametrize("fidelity", ["fast", "reference"])
def test_runs_end_as_they_should(fidelity):
    """The reactive controller on level ground, and against a wall."""
    found = endings("reactive", [Flat(distance=0.2, length=0.1), Box(distance=1.0, height=2.9)], fidelity, 0)
    assert found[0] == PASSED
    assert found[1] in (OVERTURNED, STUCK)


def test_a_rate_has_an_interval_within_its_bounds():
    some = rate_interval(np.arange(200) < 198)
    assert (some.mean, round(some.low, 3), round(some.high, 3)) == (0.99, 0.964, 0.997)
    assert rate_interval(np.ones(10, np.bool_)).high == 1.0
