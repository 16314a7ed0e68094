"""Goals and exploring: rewards, endings, and the squares and paths they are computed with."""

import math

import numpy as np
import pytest
from numba import config
from scipy import sparse
from scipy.sparse import csgraph

from sandlot.places.plans import load_plan, make_plan
from sandlot.worlds.indoor.floor import Floor
from sandlot.worlds.indoor.paths import Paths, spread
from sandlot.worlds.indoor.sight import see
from sandlot.worlds.indoor.world import Indoor
from sandlot.worlds.rollout import rollout

SURE = {"kind": "tracked", "slip": 0.0}


def test_the_rewards_of_a_goal_sum_up_to_the_path_that_became_shorter():
    world = Indoor(
        robot=SURE, lidar={"beams": 9}, plan="apartment", start=(2.0, 4.5, 0.0), task="goal", goal=(4.0, 4.5, 0.0)
    )
    seen, info = world.reset(seed=0)
    assert seen[-3:] == pytest.approx([2.0, 0.0, 0.0])
    assert not info["reached"]
    rewards, ended = [], False
    while not ended:
        seen, reward, ended, cut, info = world.step(np.array([0.3, 0.0]))
        rewards.append(reward)
    assert not cut
    assert info["reached"]
    assert sum(rewards) == pytest.approx(2.0 - world.outcomes()["goal_path"], abs=0.1)
    assert world.outcomes()["goal_path"] <= 0.15
    assert world.outcomes()["reached"] == 1.0
    assert 0.0 < seen[-3] < 0.2


def test_a_goal_with_another_yaw_is_not_reached():
    world = Indoor(
        robot=SURE, lidar={"beams": 9}, plan="apartment", start=(2.0, 4.5, 0.0), task="goal", goal=(2.1, 4.5, 1.0)
    )
    world.reset(seed=0)
    *_, info = world.step(np.zeros(2))
    assert not info["reached"]
    while not info["reached"]:
        *_, info = world.step(np.array([0.0, 0.5]))
    assert world.pose[2] == pytest.approx(0.75, abs=0.15)


def test_a_collision_ends_the_way_to_a_goal_and_time_cuts_it_off():
    world = Indoor(
        robot=SURE, lidar={"beams": 9}, plan="apartment", start=(0.5, 4.8, math.pi), task="goal", time_limit=20.0
    )
    world.reset(seed=0)
    for _ in range(40):
        *_, ended, cut, info = world.step(np.array([0.3, 0.0]))
        if ended:
            break
    assert ended
    assert info["bumped"]
    assert not cut
    world.reset(seed=0)
    cut, steps = False, 0
    while not cut:
        *_, ended, cut, info = world.step(np.zeros(2))
        steps += 1
        assert not ended
    assert steps == 110  # 20 s at 5.5 turns a second


def test_exploring_is_rewarded_for_what_is_seen_and_ends_when_all_is_seen():
    exact = dict.fromkeys(("noise", "noise_growth", "missing", "specular", "mixed"), 0.0)
    world = Indoor(robot="tracked", lidar=exact, plan="arena", start=(5.0, 5.0, 0.0), task="explore")
    _, info = world.reset(seed=0)
    assert 0.6 < world.outcomes()["seen_share"] < 0.99
    total, first = 0.0, info["seen"]
    assert not world.endless
    for step in rollout(world, world.controller("wander"), 0, 20 if config.DISABLE_JIT else 600):
        total += float(step.rewards[0])
    assert total == pytest.approx(world.task.values()["seen"][0] - first)
    if not config.DISABLE_JIT:
        assert step.terminated[0]
        assert world.outcomes()["seen_share"] >= 0.99


def test_beams_mark_the_squares_they_cross_as_a_twin_does():
    rng = np.random.default_rng(0)
    beams = np.column_stack([rng.uniform(0.0, 3.0, (40, 2)), rng.uniform(-3.0, 3.0, 40)])
    ranges = rng.uniform(0.0, 4.0, 40)
    ranges[:3] = np.nan
    reachable, seen = rng.random((30, 20)) < 0.8, np.zeros((30, 20), np.bool_)
    corner = np.array([0.5, -0.5])
    new = see(beams, ranges, corner, 0.1, reachable, seen)
    twin = np.zeros_like(seen)
    for (x, y, yaw), length in zip(beams, ranges, strict=True):
        if np.isfinite(length):
            steps = math.ceil(2.0 * length / 0.1)
            for k in range(steps):
                along = k * length / steps
                i = math.floor((y + along * math.sin(yaw) - corner[1]) / 0.1)
                j = math.floor((x + along * math.cos(yaw) - corner[0]) / 0.1)
                if 0 <= i < 30 and 0 <= j < 20:
                    twin[i, j] |= reachable[i, j]
    assert (seen != twin).sum() <= 2  # a point may lie on the border of two squares
    assert new == seen.sum()
    assert see(beams, ranges, corner, 0.1, reachable, seen) == 0


def test_paths_go_around_walls():
    walls = [(0, 0, 6, 0), (6, 0, 6, 4), (6, 4, 0, 4), (0, 4, 0, 0), (3, 0, 3, 3)]
    floor = Floor(make_plan(np.array(walls, np.float64)), 0.2)
    paths, goal = Paths(floor), np.array([4.0, 0.5])
    field = paths.lengths_to(goal)

    def length(x, y):
        return paths.lengths(field[None], np.array([[x, y]]), goal[None])[0]

    assert length(5.0, 0.5) == pytest.approx(1.0, abs=0.15)
    around = length(2.0, 0.5)
    assert 2.0 * math.hypot(1.0, 2.7) < around < 1.12 * 2.0 * math.hypot(1.0, 2.7) + 0.2
    assert length(4.05, 0.5) == pytest.approx(0.05)
    against = length(0.2, 0.2)  # touching a corner, where no square is free
    assert around < against < around + 2.5


def test_paths_are_the_shortest():
    """As those of SciPy."""
    free = np.random.default_rng(3).random((25, 30)) < 0.7
    free[12, 17] = True
    number, edges = np.arange(free.size).reshape(free.shape), []
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        one, other = (
            number[: 25 - down, max(-right, 0) : 30 - max(right, 0)],
            number[down:, max(right, 0) : 30 + min(right, 0)],
        )
        both = free.ravel()[one] & free.ravel()[other]
        edges += [(a, b, math.hypot(down, right)) for a, b in zip(one[both], other[both], strict=True)]
    rows, columns, lengths = zip(*edges, strict=True)
    graph = sparse.csr_matrix((lengths, (rows, columns)), (free.size, free.size))
    twin = csgraph.dijkstra(graph, directed=False, indices=12 * 30 + 17).reshape(free.shape)
    found = np.full(free.shape, np.inf)
    spread(free, 12, 17, found)
    np.testing.assert_allclose(found, twin, rtol=1e-12)


def test_rewards_of_the_goal_and_of_collisions_are_added():
    settings = {"task": "goal", "laser": {"beams": 9}, "start": (5.0, 5.0, 0.0), "goal": (5.1, 5.0, 0.0)}
    plain, added = Indoor(**settings), Indoor(**settings, goal_reward=3.0, bump_penalty=2.0)
    rewards = []
    for world in (plain, added):
        world.reset(seed=0)
        _, reward, terminated, _, info = world.step(np.array([0.2, 0.0]))
        assert terminated
        assert info["is_success"]
        rewards.append(reward)
    assert rewards[1] == pytest.approx(rewards[0] + 3.0)
    poses, covered, touched = np.zeros((1, 3)), np.zeros(1), np.array([True])
    before = [world.task.mission.left.copy() for world in (plain, added)]
    assert before[0] == before[1]
    one, other = (world.task.mission.reward(poses, covered, touched) for world in (plain, added))
    assert other == pytest.approx(one - 2.0)


def test_random_goals_are_free_and_away_from_the_start():
    world = Indoor(robot="tracked", lidar={"beams": 9}, plan="flat", task="goal")
    plan = load_plan("flat")
    for seed in range(20):
        world.reset(seed=seed)
        goal = world.task.goals[0]
        assert plan.clearance(goal[:2]) > 0.17
        assert np.hypot(*(goal[:2] - world.pose[:2])) > 1.0
        assert math.isfinite(world.outcomes()["goal_path"])
