"""The study of rovers uphill: its claims about made-up results, and where a rover stalls."""

import numpy as np
import pytest
from numba import config

from claims import assert_fails, bumped, changed, failing, scaled
from sandlot.studies.terrain.ride import Ride
from sandlot.studies.terrain.shared import ROVERS
from sandlot.studies.terrain.slope import LIFTED, STALLED, TOUCHES, Slope

ANGLES = np.array(Slope().angles)
IDEAL = {
    "slip": lambda job: ANGLES / (32.0 if job["chassis"] == LIFTED else 26.0),
    "sinkage": lambda job: np.full(len(ANGLES), 0.02 if job["ground"] == "soft" else 0.01),
}


def test_all_claims_hold_for_ideal_results():
    assert failing(Slope(), **IDEAL) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sinkage": scaled(0.4, ground="soft")}, ["sink in"]),
        ({"slip": bumped(2, -0.9)}, ["slip more"]),
        ({"slip": scaled(1.4, shear=1.0, chassis=TOUCHES)}, ["stall on a slope"]),
        ({"slip": scaled(0.5, shear=1.0, ground="mid")}, ["stall on a slope"]),
        ({"slip": scaled(1.4, shear=0.1, ground="mid")}, ["On mid, with a tenth"]),
        ({"slip": scaled(1.4, shear=0.1, ground="soft", chassis=TOUCHES)}, ["On soft, with a tenth"]),
        ({"slip": scaled(1.1, shear=0.1, chassis=LIFTED)}, ["does not touch its chassis"]),
    ],
)
def test_each_claim_can_fail(changes, words):
    assert_fails(Slope(), changed(IDEAL, **changes), words)


def test_the_stall_angle_is_interpolated_between_slopes():
    study = Slope(angles=(0.0, 10.0, 20.0))
    between = pytest.approx(10.0 + 10.0 * (STALLED - 0.5))
    assert study.stall(np.array([0.1, 0.5, 1.5])) == between
    assert study.stall(np.array([0.1, 0.5, 40.0])) == between, "the speed of sliding down does not matter"
    assert study.stall(np.array([0.1, 0.2, 0.3])) == np.inf
    assert study.stall(np.array([1.1, 1.2, 1.3])) == 0.0


def test_a_rover_that_creeps_in_its_hole_has_stalled():
    study = Slope(angles=(0.0, 10.0, 20.0))
    assert study.stall(np.array([0.1, 0.5, 0.9999])) == pytest.approx(20.0, abs=0.3)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")
@pytest.mark.parametrize("rover", ROVERS)
def test_soil_that_does_not_touch_the_chassis_touches_wheels_or_tracks_only(rover):
    whole, lifted = (Ride(rover, "soft", chassis=chassis) for chassis in (True, False))
    names = [contact.name for contact in lifted.soil.contacts()]
    assert 0 < len(names) < len(whole.soil.contacts())
    assert all("Wheel" in name or "track" in name for name in names)
