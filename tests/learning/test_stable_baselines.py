"""Compiled vector worlds as environments of Stable-Baselines3, beside its own adapter of single worlds."""

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

import sandlot.worlds
from sandlot.errors import SettingError
from sandlot.learning.stable_baselines import as_sb3

sandlot.worlds.register()
CASES = {
    "Water": {"snake": {"links": 6}, "distance": 5.0},
    "Indoor": {"laser": {"beams": 12}, "task": "goal"},
    "Obstacles": {},
    "Leveling": {"shape": (6, 6), "agents": 2},
    "Terrain": {"fidelity": "learned", "shape": (150, 150), "terrain": "hills", "task": "goal"},
}


def make(name, count=3, limit=5):
    given = {**CASES[name], "max_episode_steps": limit}
    return as_sb3(gymnasium.make_vec(f"sandlot/{name}-v0", num_envs=count, **given))


@pytest.mark.parametrize("name", CASES)
def test_same_as_single_worlds(name):
    """Bit for bit, also when episodes end."""
    given = {**CASES[name], "max_episode_steps": 5}
    one = make(name)
    other = DummyVecEnv([lambda: gymnasium.make(f"sandlot/{name}-v0", **given)] * 3)
    assert one.observation_space == other.observation_space
    assert one.action_space == other.action_space
    one.action_space.seed(0)
    for each in (one, other):
        each.seed(3)
    np.testing.assert_array_equal(one.reset(), other.reset())
    ends = 0
    for _ in range(12):
        actions = np.stack([one.action_space.sample() for _ in range(3)])
        a, b = one.step(actions), other.step(actions)
        for x, y in zip(a[:3], b[:3], strict=True):
            np.testing.assert_array_equal(x, y)
        for mine, theirs in zip(a[3], b[3], strict=True):
            if not mine:
                continue
            ends += 1
            np.testing.assert_array_equal(mine.pop("terminal_observation"), theirs.pop("terminal_observation"))
            outcomes = mine.pop("outcomes")
            assert outcomes
            theirs.pop("outcomes", None)
            assert mine == theirs
    assert ends >= 6


def test_ppo_learns_with_it():
    """A few updates; that infos are complete shows in the means that PPO logs."""
    model = PPO(
        "MlpPolicy", VecMonitor(make("Water", 4, 16)), n_steps=32, batch_size=64, n_epochs=1, device="cpu", seed=0
    )
    model.learn(256)
    assert len(model.ep_info_buffer) >= 256 // 16
    assert len(model.ep_success_buffer) == len(model.ep_info_buffer)


def test_what_is_not_compiled_is_refused():
    with pytest.raises(SettingError, match=r"^as_sb3 takes a compiled vector world of Sandlot, not SyncVectorEnv$"):
        as_sb3(gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync"))
    with pytest.raises(SettingError, match="without wrappers"):
        as_sb3(RecordEpisodeStatistics(gymnasium.make_vec("sandlot/Water-v0", num_envs=2)))
    worlds = make("Water")
    worlds.set_options([{"target": (5.0, 5.0)}, {}, {"target": (6.0, 5.0)}])
    with pytest.raises(SettingError, match="must be the same for all members"):
        worlds.reset()
