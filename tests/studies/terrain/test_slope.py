"""The study of rovers uphill: its claims about made-up results, and where a rover stalls."""

import numpy as np
import pytest

from claims import assert_fails, bumped, changed, failing, scaled
from sandlot.studies.terrain.slope import Slope

ANGLES = np.array(Slope().angles)
IDEAL = {
    "slip": lambda job: ANGLES / 28.0,
    "sinkage": lambda job: np.full(len(ANGLES), 0.02 if job["ground"] == "soft" else 0.01),
}


def test_all_claims_hold_for_ideal_results():
    assert failing(Slope(), **IDEAL) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sinkage": scaled(0.4, ground="soft")}, ["sink in"]),
        ({"slip": bumped(2, -0.9)}, ["slip more"]),
        ({"slip": scaled(1.4, shear=1.0)}, ["stall on a slope"]),
        ({"slip": scaled(0.5, shear=1.0)}, ["stall on a slope"]),
        ({"slip": scaled(1.4, shear=0.1, ground="mid")}, ["On mid, with a tenth"]),
        ({"slip": scaled(1.4, shear=0.1, ground="soft")}, ["On soft, with a tenth"]),
    ],
)
def test_each_claim_can_fail(changes, words):
    assert_fails(Slope(), changed(IDEAL, **changes), words)


def test_the_stall_angle_is_interpolated_between_slopes():
    study = Slope(angles=(0.0, 10.0, 20.0))
    assert study.stall(np.array([0.1, 0.5, 1.5])) == pytest.approx(15.0)
    assert study.stall(np.array([0.1, 0.5, 40.0])) == pytest.approx(15.0), "the speed of sliding down does not matter"
    assert study.stall(np.array([0.1, 0.2, 0.3])) == np.inf
    assert study.stall(np.array([1.1, 1.2, 1.3])) == 0.0
