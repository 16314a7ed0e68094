"""The trained climber: the same batched or alone, and refused if its net is another."""

import gymnasium
import numpy as np
import pytest

from sandlot.control.climbing.policy import (
    AHEAD,
    BEHIND,
    HALTED,
    POOL,
    PROGRESS,
    SHIPPED,
    ClimbPolicy,
    load_policy,
    remember,
)
from sandlot.control.climbing.senses import FORWARD, UP
from sandlot.errors import ModelError
from sandlot.models.dense import make_dense
from sandlot.robots.climbers import INTERVAL

SEEDS = [np.random.SeedSequence(k) for k in range(3)]


def observations(steps):
    """Of three robots that are driven at random: (steps, 3, observations)."""
    worlds = gymnasium.make_vec("sandlot/Obstacles-v0", num_envs=3, interface="units")
    rng = np.random.default_rng(1)
    found = [worlds.reset(seed=0)[0]]
    for _ in range(steps - 1):
        found.append(worlds.step(np.column_stack([rng.uniform(-1.0, 1.0, (3, 2)), np.full((3, 2), 0.5)]))[0])
    return np.array(found)


def test_one_at_a_time_acts_like_a_batch():
    seen = observations(40)
    together = load_policy()
    together.reset(SEEDS)
    acted = np.array([together.act(each) for each in seen])
    for k in range(3):
        alone = load_policy()
        alone.reset(SEEDS[k : k + 1])
        np.testing.assert_allclose([alone.act(each[k : k + 1])[0] for each in seen], acted[:, k], atol=1e-12)
    assert np.ptp(acted[:, :, 0]) > 0.1


def test_members_go_on_and_begin_again_by_themselves():
    seen = observations(20)
    policy, fresh = load_policy(), load_policy()
    policy.reset(SEEDS)
    for each in seen:
        policy.act(each)
    policy.reset(SEEDS[:1], [1])
    fresh.reset(SEEDS)
    np.testing.assert_array_equal(policy.act(seen[0][[1]], [1]), fresh.act(seen[0])[[1]])


def test_a_robot_that_comes_no_further_varies_its_actions():
    """Robots stand still for 3 s: the same actions until `HALTED`, then random ones by its seed; then one moves."""
    seen = np.repeat(observations(1), 60, axis=0)
    seen[:, :, FORWARD : UP + 1] = 0.0
    policy, other, alone = load_policy(), load_policy(), load_policy()
    policy.reset(SEEDS)
    other.reset([np.random.SeedSequence(9), *SEEDS[1:]])
    alone.reset(SEEDS[2:])
    acted, differently = (np.array([each.act(row) for row in seen]) for each in (policy, other))
    before = round(HALTED / INTERVAL) - 1
    np.testing.assert_array_equal(acted[:before], differently[:before])
    assert (acted[before:, 0] != differently[before:, 0]).any()
    np.testing.assert_array_equal(acted[:, 1:], differently[:, 1:])
    np.testing.assert_allclose([alone.act(row[2:])[0] for row in seen], acted[:, 2], atol=1e-12)
    moving = seen[0].copy()
    moving[0, FORWARD] = 2.5 * PROGRESS / INTERVAL
    policy.act(moving)
    assert not policy._variations(np.array([0])).any()
    assert policy._variations(np.array([1])).any()


def test_what_was_ahead_is_remembered_behind():
    """A robot passes a post of 0.3 m; after 20 cells it is 20 cells behind, and lower by what the robot climbed."""
    total = (BEHIND + AHEAD) * POOL
    maps, profile, ahead = np.zeros((1, total)), np.empty((1, BEHIND + AHEAD)), np.zeros((1, 201))
    ahead[0, 3] = 0.3
    member = np.array([0])
    remember(maps, member, ahead, np.array([0]), np.zeros(1), profile)
    assert profile[0, BEHIND] == 0.3
    ahead[0, 3] = 0.0
    for moved, climbed in ((12, 0.1), (11, 0.0), (-3, 0.0)):
        remember(maps, member, ahead, np.array([moved]), np.array([climbed]), profile)
    # 3 cells ahead, then 20 back: 17 cells behind.
    np.testing.assert_allclose(maps[0, BEHIND * POOL - 17], 0.2)
    assert profile[0].argmax() == BEHIND - 4
    assert maps[0, BEHIND * POOL + 3] == 0.0


def test_the_shipped_net_is_small():
    assert sum(each.stat().st_size for each in SHIPPED.iterdir()) < 100_000


def test_another_net_is_refused():
    with pytest.raises(ModelError, match="4 inputs and 2 outputs is not a climber"):
        ClimbPolicy(make_dense([np.zeros((4, 2))], [np.zeros(2)], ["linear"]))
