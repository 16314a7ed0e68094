"""What the trained climber that comes with the package can climb."""

import numpy as np
import pytest
from numba import config

from climbing_runs import run
from sandlot.control.climbing.policy import load_policy
from sandlot.places.course_kinds import Box, Rubble, Stairs

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="runs take minutes without compilation")
BOXES = [Box(height=0.45, depth=depth, distance=0.9) for depth in np.arange(0.3, 1.05, 0.1)]


def typical_stairs(number):
    """Within the range that the source gives."""
    rng = np.random.default_rng(7)
    sizes = rng.uniform((0.178, 0.254), (0.203, 0.304), (number, 2))
    return [Stairs(riser=riser, tread=tread, distance=0.9) for riser, tread in sizes]


def test_typical_stairs_up_and_down():
    assert (run(load_policy(), typical_stairs(200)) == "passed").mean() >= 0.99


def test_boxes_of_45_centimetres():
    assert (run(load_policy(), BOXES) == "passed").all()


def test_it_rarely_overturns_on_rubble():
    assert (run(load_policy(), [Rubble(distance=0.9)] * 400) == "overturned").mean() <= 0.01


@pytest.mark.slow
def test_typical_stairs_and_boxes_in_the_reference():
    """The policy has never seen this fidelity."""
    policy = load_policy()
    assert (run(policy, BOXES, "reference") == "passed").all()
    assert (run(policy, typical_stairs(200), "reference") == "passed").mean() >= 0.99
