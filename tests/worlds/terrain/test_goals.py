"""Rovers that drive to goals, see ahead, and get another map by the seed."""

import copy

import gymnasium
import numpy as np
import pytest

from same import assert_same, assert_same_step
from sandlot.errors import SandlotError
from sandlot.physics.height_map import height_between
from sandlot.worlds.rollout import rollout
from sandlot.worlds.terrain.world import Terrain

LEARNED = {"fidelity": "learned", "shape": (300, 300)}


def test_a_rover_that_steers_to_its_goal_reaches_it_and_its_rewards_are_the_distance():
    world = Terrain(**LEARNED, task="goal", terrain="flat")
    seen, info = world.reset(seed=2)
    assert not info["is_success"]
    start, total, terminated = float(seen[0, 11]), 0.0, False
    assert 1.0 <= start <= 2.0
    top = world.action_space.high[0]
    for _ in range(3000):
        bearing = seen[0, 12]
        turn = np.clip(3.0 * bearing, -1.0, 1.0)
        seen, reward, terminated, _, info = world.step(np.array([[top[0] * (abs(bearing) < 0.5), top[1] * turn]]))
        total += reward
        if terminated:
            break
    assert terminated
    assert info["is_success"]
    assert info["outcomes"]["reached"] == 1.0
    assert seen[0, 11] <= 0.2
    assert total == pytest.approx(start - seen[0, 11], abs=1e-5)


def test_the_bearing_of_a_goal_is_positive_to_the_left():
    for goal, bearing in (((1.0, 0.0), 0.0), ((0.0, 1.0), 0.5 * np.pi), ((0.0, -1.0), -0.5 * np.pi)):
        seen, _ = Terrain(**LEARNED, task="goal", terrain="flat", goal=goal).reset(seed=0)
        assert seen[0, 11:13] == pytest.approx([1.0, bearing], abs=1e-3)


def test_a_patch_looks_ahead_with_a_stride():
    world = Terrain(**LEARNED, patch=3, patch_stride=10, patch_ahead=0.4)
    seen, _ = world.reset(seed=0)
    (x, y, z), yaw = world.task.state.position[0], world.task.state.yaw[0]
    heights, grid = world.task.ground.heights, world.task.ground.grid
    for i in range(3):
        for j in range(3):
            ahead, left = 0.4 + 0.1 * (j - 1), 0.1 * (i - 1)
            px, py = x + np.cos(yaw) * ahead - np.sin(yaw) * left, y + np.sin(yaw) * ahead + np.cos(yaw) * left
            column, row = (np.array([px, py]) - grid.corner) / grid.spacing
            height = height_between(heights, row, column, grid.wrap)
            assert seen[0, 11 + 3 * i + j] == pytest.approx(height - z, abs=1e-6)


def test_every_reset_draws_another_map_if_asked():
    fixed, drawn = Terrain(**LEARNED), Terrain(**LEARNED, redraw=True)
    maps = []
    for world in (fixed, drawn):
        for seed in (1, 2, 1, None):
            world.reset(seed=seed)
            maps.append(world.task.ground.initial.copy())
    assert all(np.array_equal(maps[0], each) for each in maps[1:4])
    assert not np.array_equal(maps[4], maps[5])
    assert np.array_equal(maps[4], maps[6])
    assert not np.array_equal(maps[6], maps[7])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"goal": (1.0, 0.0)}, "goal is only for task=goal, not drive"),
        ({"patch_stride": 3}, "need a patch"),
        ({"redraw": True, "terrain": "flat"}, "redraw is only for the terrains A and B, not flat"),
        ({"task": "goal", "goal": (9.0, 0.0), "wrap": False}, r"goal: \(9, 0\) is beyond the ground, 3 x 3 m"),
    ],
)
def test_impossible_settings_are_explained(given, message):
    with pytest.raises(SandlotError, match=message):
        Terrain(**LEARNED, **given)


@pytest.mark.parametrize("fidelity", ["learned", "reference"])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_vector_with_all_options_equals_single_worlds(fidelity, mode):
    given = {"fidelity": fidelity, "max_episode_steps": 5, "terrain": "hills", "shape": (150, 150), "task": "goal"}
    given |= {
        "patch": 5,
        "patch_stride": 6,
        "patch_ahead": 0.3,
        "rovers": ("wheeled", "wheeled" if fidelity == "learned" else "tracked"),
    }
    given |= {"imu": {"rate_noise": 0.01}, "encoders": {"speed_bias": 0.1}}
    given |= {"frame_skip": 1 if mode == "NextStep" else 3}
    one = gymnasium.make_vec("sandlot/Terrain-v0", num_envs=2, autoreset_mode=mode, **given)
    sync = {"autoreset_mode": gymnasium.vector.AutoresetMode(mode)}
    other = gymnasium.make_vec("sandlot/Terrain-v0", num_envs=2, vectorization_mode="sync", vector_kwargs=sync, **given)
    assert_same(one.reset(seed=3)[0], other.reset(seed=3)[0])
    one.action_space.seed(1)
    for _ in range(8):
        actions = one.action_space.sample()
        assert_same_step(one.step(actions), other.step(actions))


def test_a_step_with_skipped_frames_equals_so_many_steps():
    given = {**LEARNED, "task": "goal", "terrain": "flat", "goal": (0.26, 0.0)}
    plain, skipping = Terrain(**given), Terrain(**given, frame_skip=7)
    for each in (plain, skipping):
        each.reset(seed=0)
    action = plain.action_space.high * (1.0, 0.0)
    ended, frames = False, []
    while not ended:
        seen, reward, ended, _, info = skipping.step(action)
        parts, start = [], len(frames)
        while len(frames) < start + 7 and not (parts and parts[-1][2]):
            parts.append(plain.step(action))
            frames.append(plain.frame())
        assert ended == parts[-1][2]
        assert reward == sum(part[1] for part in parts)
        np.testing.assert_array_equal(seen, parts[-1][0])
        assert info["time"] == parts[-1][4]["time"]
        assert skipping.frame()["dx"] == pytest.approx(sum(frame["dx"] for frame in frames[start:]))
    assert len(frames) % 7  # the goal was reached between two actions
    assert info["is_success"]


def test_a_member_that_arrives_within_a_step_is_seen_as_in_a_single_world():
    given = {**LEARNED, "task": "goal", "terrain": "flat", "goal": (0.26, 0.0), "frame_skip": 7, "interface": "units"}
    vector, world = gymnasium.make_vec("sandlot/Terrain-v0", num_envs=2, **given), Terrain(**given)
    vector.reset(seed=0)
    world.reset(seed=0)
    actions, ended = np.zeros((2, 1, 2)), False
    actions[0] = world.action_space.high * (1.0, 0.0)
    while not ended:
        seen, reward, ended, _, info = world.step(actions[0])
        all_seen, rewards, terminated, _, _ = vector.step(actions)
        assert terminated.tolist() == [ended, False]  # the other one drives on
        assert rewards[0] == reward
        np.testing.assert_array_equal(all_seen[0], seen)
    assert round(info["time"] / world.settings.interval) % 7, "it has to arrive between two actions"


def test_a_member_that_explodes_stands_still_and_is_cut_off():
    vector = gymnasium.make_vec(
        "sandlot/Terrain-v0", num_envs=2, autoreset_mode="Disabled", interface="units", **LEARNED
    )
    vector.reset(seed=0)
    before, *_ = vector.step(vector.action_space.sample())
    vector.task.exploded[0] = True
    for _ in range(3):
        seen, rewards, _, truncated, info = vector.step(0.5 * vector.action_space.high)
        assert truncated.tolist() == info["exploded"].tolist() == [True, False]
        assert rewards[0] == 0.0
        np.testing.assert_array_equal(seen[0], before[0])


def test_a_member_that_leaves_its_map_is_cut_off_with_the_single_world():
    given = {"fidelity": "learned", "terrain": "flat", "shape": (60, 60), "wrap": False, "interface": "units"}
    vector, world = gymnasium.make_vec("sandlot/Terrain-v0", num_envs=2, **given), Terrain(**given)
    vector.reset(seed=0)
    world.reset(seed=0)
    forward, left = np.zeros((2, 1, 2)), False
    forward[1, 0, 0] = world.action_space.high[0, 0]
    while not left:
        *_, left, _ = world.step(forward[1])
        *_, truncated, _ = vector.step(forward)
        assert truncated.tolist() == [False, left]
    assert 20 < world.task.steps < 400


def test_threads_give_the_same_results_and_are_not_copied():
    given = {"shape": (60, 60), "ground": "rigid", "num_envs": 3}
    one, other = (gymnasium.make_vec("sandlot/Terrain-v0", threads=threads, **given) for threads in (1, 2))
    for vector in (one, other):
        vector.reset(seed=0)
    actions = [0.5 * one.action_space.high] * 3
    for action in actions:
        assert_same_step(one.step(action), other.step(action))
    assert_same_step(one.step(actions[0]), copy.deepcopy(other).step(actions[0]))


def test_a_recording_of_a_goal_task_is_made_frame_by_frame():
    world = Terrain(task="goal", shape=(150, 150))
    assert not world.recorder().can_hold
    steps = list(rollout(world, world.controller("straight"), 0, 2))
    assert len(steps) == 3
