import numpy as np
from pettingzoo.test import parallel_api_test, parallel_seed_test

from sandlot.worlds.leveling.parallel import LevelingParallel
from sandlot.worlds.leveling.world import Leveling


def test_passes_the_checks_of_pettingzoo():
    parallel_api_test(LevelingParallel(), num_cycles=300)
    parallel_seed_test(LevelingParallel)


def test_ends_for_all_when_flat():
    world = LevelingParallel(relief=0)
    world.reset(seed=0)
    _, _, terminations, _, _ = world.step({name: np.array([0, 0]) for name in world.agents})
    assert all(terminations.values())
    assert world.agents == []


def test_equals_the_world_agent_by_agent():
    together, apart = Leveling(shape=(6, 6), agents=3), LevelingParallel(shape=(6, 6), agents=3)
    whole, _ = together.reset(seed=5)
    parts, _ = apart.reset(seed=5)
    together.action_space.seed(1)
    for _ in range(100):
        assert np.array_equal(whole, np.stack(list(parts.values())))
        action = together.action_space.sample()
        whole, reward, *_ = together.step(action)
        parts, rewards, *_ = apart.step(dict(zip(apart.possible_agents, action, strict=True)))
        assert sum(rewards.values()) == reward
