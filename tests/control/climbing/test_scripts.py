"""Climbs that are written down in advance."""

import numpy as np
import pytest

from sandlot.control.climbing.scripts import CLIMB_BOX, Script
from sandlot.robots.climbers import INTERVAL


def test_angles_go_straight_from_knot_to_knot_and_then_stay():
    script = Script(knots=((0.0, 0.0, 1.0), (2.0, 1.0, 0.0)), speed=0.3, distance=1.0)
    np.testing.assert_allclose(script.at(0.5), [0.25, 0.75, 0.3, 0.3])
    np.testing.assert_allclose(script.at(9.0), [1.0, 0.0, 0.3, 0.3])


def test_a_controller_begins_anew_with_each_episode():
    controller = CLIMB_BOX.controller()
    seeds = np.random.SeedSequence(0).spawn(2)
    controller.reset(seeds)
    blank = np.zeros((2, 1))
    first = [controller.act(blank) for _ in range(3)]
    np.testing.assert_allclose(first[2][0], CLIMB_BOX.at(2 * INTERVAL))
    controller.reset(seeds[:1], [1])
    now = controller.act(blank)
    np.testing.assert_allclose(now[1], CLIMB_BOX.at(0.0))
    np.testing.assert_allclose(now[0], CLIMB_BOX.at(3 * INTERVAL))
    assert now[0] != pytest.approx(now[1])
