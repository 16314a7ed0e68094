"""The study of heaps: its claims about made-up results, and how an angle is measured."""

import numpy as np
import pytest

from claims import assert_fails, changed, failing, scaled
from sandlot.physics.soil import PRESETS
from sandlot.studies.terrain.heaps import Heaps, angle_of


def angle(job):
    """Of particles, growing with friction; of soil, its angle of repose [rad]."""
    if job["ground"] == "particles":
        return np.radians(20.5 + 20.0 * job["friction"])
    return np.radians(PRESETS[job["ground"]].friction)


def test_all_claims_hold_for_ideal_results():
    assert failing(Heaps(), angle=angle) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (scaled(0.7, ground="particles"), ["between 20 and 40"]),
        (scaled(0.7, friction=0.9), ["grows with friction"]),
        (scaled(1.1, ground="mid"), ["angle of repose"]),
    ],
)
def test_each_claim_can_fail(change, words):
    assert_fails(Heaps(), changed({"angle": angle}, angle=change), words)


def test_the_angle_is_measured_on_the_slope_without_its_ends():
    x = np.linspace(0.0, 10.0, 101)
    assert angle_of(x, np.clip(6.0 - x, 0.0, 4.0)) == pytest.approx(45.0)
    assert angle_of(x, np.zeros(101)) == 0.0
