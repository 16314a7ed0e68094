"""What the indoor world adds to an observation when asked."""

import math

import gymnasium
import numpy as np
import pytest

from same import assert_same_step
from sandlot.worlds.indoor.learned import explore
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.world import Indoor

LASER = {"beams": 8}


def test_the_pose_by_odometry_follows_the_speeds_and_the_goal():
    world = Indoor(laser=LASER, task="goal", observe_pose=True)
    world.reset(seed=3)
    for _ in range(5):
        seen, *_ = world.step(np.array([0.2, 0.3]))
    x, y, yaw = world.task.odometry[0]
    assert seen.shape == (8 + 2 + 3 + 4,)
    np.testing.assert_allclose(seen[13:], [x, y, math.cos(yaw), math.sin(yaw)], rtol=1e-5)


@pytest.mark.parametrize("yaw", [0.0, 1.2])
def test_coverage_is_seen_in_the_frame_of_the_robot(yaw):
    world = Indoor(laser=LASER, observe_coverage=True)
    x, y, _ = next(p for p in (world.floor.draw_pose(np.random.default_rng(k)) for k in range(99)) if abs(p[0]) < 9)
    seen, _ = world.reset(seed=0, options={"start": (x, y, yaw)})
    grid = seen[10:].reshape(9, 9)
    assert grid[4, 4] == 1.0, "the robot covers where it stands"
    assert set(np.unique(grid)) <= {-1.0, 0.0, 1.0}
    for i in range(9):
        for j in range(9):
            ahead, left = 0.5 * (i - 4), 0.5 * (j - 4)
            place = np.array(
                [x + math.cos(yaw) * ahead - math.sin(yaw) * left, y + math.sin(yaw) * ahead + math.cos(yaw) * left]
            )
            column, row = np.floor((place - world.floor.corner) / world.floor.spacing).astype(int)
            ny, nx = world.floor.reachable.shape
            if not (0 <= row < ny and 0 <= column < nx and world.floor.reachable[row, column]):
                assert grid[i, j] == -1.0
            else:
                assert grid[i, j] == world.floor.covered[0, row, column]


@pytest.mark.parametrize("task", ["cover", "goal"])
def test_a_vector_sees_the_same(task):
    given = {"laser": LASER, "task": task, "observe_pose": True, "observe_coverage": True, "interface": "normalised"}
    one = gymnasium.make_vec("sandlot/Indoor-v0", num_envs=3, **given)
    other = gymnasium.make_vec("sandlot/Indoor-v0", num_envs=3, vectorization_mode="sync", **given)
    for each in (one, other):
        each.reset(seed=5)
    one.action_space.seed(0)
    for _ in range(12):
        actions = one.action_space.sample()
        step = one.step(actions)
        assert_same_step(step, other.step(actions))
        assert one.observation_space.contains(step[0])


def test_a_robot_wanders_alike_whatever_the_task_and_the_interface():
    """A learned laser is fitted to these scans."""
    plain = explore(IndoorSettings(laser=LASER, plan="arena"), 40)
    goal = explore(IndoorSettings(laser=LASER, plan="arena", task="goal", interface="normalised"), 40)
    np.testing.assert_array_equal(plain.poses, goal.poses)
    np.testing.assert_array_equal(plain.ranges, goal.ranges)
