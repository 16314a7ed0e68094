"""The study of the robot's unknown dimensions."""

import numpy as np
import pytest

from claims import assert_fails, changed, failing, synthetic
from sandlot.studies.obstacles.dimensions import FITTED, ROBOTS, USUAL, Dimensions

STUDY = Dimensions()
LONG = "tracks 0.40 m"


def heights(job):
    best, deep = {LONG: (0.44, 0.4), FITTED: (0.44, 0.3), USUAL: (0.43, 0.3)}.get(job["robot"], (0.4, 0.3))
    return np.tile(np.interp(STUDY.depths, [0.3, 0.4], [best, deep])[:, None], (1, STUDY.lanes))


IDEAL = {"limit": heights}


def test_the_claims_can_hold():
    assert failing(STUDY, **IDEAL) == []
    assert len(STUDY.figure(synthetic(STUDY, **IDEAL)).axes) == 1


@pytest.mark.parametrize(
    ("robot", "gain", "word"),
    [(USUAL, -0.1, "as shipped"), (FITTED, 0.1, "belly"), ("body 8 kg", 0.2, "longer tracks")],
)
def test_each_claim_can_fail(robot, gain, word):
    assert_fails(STUDY, changed(IDEAL, limit=lambda job, x: x + gain * (job["robot"] == robot)), [word])


def test_every_robot_can_be_made():
    """Each climbs a box of 5 cm, and no box of 80 cm."""
    study = Dimensions(robots=("tracks 0.26 m", FITTED), depths=(0.5,), lanes=1, attempts=1, patience=1.0, seconds=8.0)
    low, high = (float(study.run(job)["limit"][0, 0]) for job in study.jobs())
    assert 0.05 <= low < high < 0.8
    assert set(study.robots) <= set(ROBOTS)
