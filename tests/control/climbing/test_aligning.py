"""Steering that aligns the climbing robot with edges."""

import numpy as np
import pytest
from numba import config

from sandlot.control.climbing.aligning import Aligned
from sandlot.control.climbing.policy import load_policy
from sandlot.control.controller import as_controller
from sandlot.errors import SettingError
from sandlot.mapping.edges import FINE
from sandlot.places.course_kinds import Box, Flat
from sandlot.robots.climber import load_climber
from sandlot.worlds.obstacles.vector import ObstaclesVector
from sandlot.worlds.rollout import rollout

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="each command takes half a second without compilation")
CLIMBER = load_climber()
BOX = Box(distance=1.3, height=0.2)
DRIVE = np.array([0.3, 0.0, 0.5, 0.5])
SIGNS = np.array([-1, 1, 1, -1, 1, -1, 1, -1, 1, 1])
"""Of the states of a mirrored robot: roll, left velocity, roll rate and yaw rate change."""


def world(count=1, **given):
    return ObstaclesVector(count, fidelity="reference", rows=19, autoreset_mode="Disabled", **given)


def steered(inner=None):
    made = Aligned(inner or as_controller(lambda _: DRIVE.copy()), CLIMBER, 19)
    made.reset([np.random.SeedSequence(0)])
    return made


def looks(yaw, **given):
    """What a robot observes that starts turned."""
    return world(**given).reset(seed=0, options={"courses": [BOX], "yaws": [yaw]})[0]


def mirrored(observations):
    maps = observations[:, 10:].reshape(len(observations), 19, -1)[:, ::-1]
    return np.concatenate([SIGNS * observations[:, :10], maps.reshape(len(observations), -1)], axis=1)


@pytest.mark.parametrize("yaw", [0.05, 0.17, 0.35])
def test_a_robot_turned_to_the_left_turns_to_the_right(yaw):
    controller, seen = steered(), looks(yaw)
    for _ in range(20):
        action = controller.act(seen)[0]
    assert controller.yaw[0] == pytest.approx(yaw, abs=np.radians(2.0))
    np.testing.assert_array_equal(action[:2], DRIVE[:2])
    assert action[2] > action[3] + 0.1
    assert 0.0 < action[2:].mean() < 0.5


@pytest.mark.parametrize("perception", ["exact", "laser"])
@pytest.mark.parametrize("yaw", [-0.3, 0.1, 0.2])
def test_a_mirrored_robot_gets_the_mirrored_command(yaw, perception):
    seen = looks(yaw, perception=perception)
    one, other = (steered().act(each)[0] for each in (seen, mirrored(seen)))
    np.testing.assert_allclose(other, one[[0, 1, 3, 2]], atol=3.0 * FINE)


def test_where_no_edge_is_in_view_the_yaw_follows_its_rate():
    controller = steered()
    seen = world(course=Flat()).reset(seed=0)[0]
    np.testing.assert_array_equal(controller.act(seen)[0], DRIVE)
    seen[:, 7] = 0.4
    for _ in range(10):
        controller.act(seen)
    assert controller.yaw[0] == pytest.approx(0.2)
    controller.reset([np.random.SeedSequence(0)], [0])
    assert controller.yaw[0] == 0.0


def test_one_row_is_refused():
    with pytest.raises(SettingError, match="rows=1 shows no direction of edges; allowed for steering: rows=5 or 19"):
        Aligned(load_policy(), CLIMBER, 1)


def drive(controller, worlds, yaws, x):
    """Attitudes and positions when the first robot comes to x: (robots, 3) each."""
    options = {"courses": [BOX] * len(yaws), "yaws": yaws}
    for _ in rollout(worlds, controller, 0, 200, options=options):
        if worlds.task.x.max() >= x:
            break
    return worlds.task.attitude, worlds.task.position


def test_steering_aligns_the_robot_before_it_touches_the_box():
    """By what a noisy laser sees."""
    worlds, touching = world(2, perception="laser"), BOX.distance - CLIMBER.reach
    plain, _ = drive(as_controller(lambda _: DRIVE.copy()), worlds, [0.3, -0.3], touching)
    aligned, _ = drive(steered(), worlds, [0.3, -0.3], touching)
    np.testing.assert_allclose(plain[:, 2], [0.3, -0.3], atol=0.03)
    assert np.abs(aligned[:, 2]).max() < 0.05


def test_a_steered_robot_crosses_the_box_straight():
    behind = BOX.distance + BOX.depth + 0.4
    plain, away = drive(load_policy(rows=19), world(), [0.3], behind)
    aligned, near = drive(steered(load_policy(rows=19)), world(), [0.3], behind)
    assert abs(aligned[0, 2]) < 0.1 < abs(plain[0, 2])
    assert abs(near[0, 1]) < 0.5 * abs(away[0, 1])
    assert near[0, 0] >= behind
