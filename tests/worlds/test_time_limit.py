import gymnasium
import pytest
from gymnasium.wrappers import TimeLimit, TransformReward

from sandlot.worlds import world_id
from sandlot.worlds.time_limit import limit_of


def make(limit):
    return gymnasium.make(world_id("avoid"), max_episode_steps=limit)


def last(env, steps):
    env.reset(seed=0)
    return [env.step(0)[4] for _ in range(steps)][-1]


@pytest.mark.parametrize(("inner", "outer"), [(3, 5), (5, 3), (-1, 3)])
def test_the_shortest_of_several_limits_counts(inner, outer):
    env = TimeLimit(TransformReward(make(inner), abs), outer)
    assert "outcomes" in last(env, 3)
    assert "outcomes" not in last(env, 2)


def test_a_limit_is_known_only_while_its_wrapper_is_used():
    env = make(3)
    assert "outcomes" in last(env, 3)
    assert "outcomes" not in last(env.unwrapped, 3)


def test_no_limit_is_found_of_another_world():
    seen = []

    class Outer(gymnasium.Env):
        def reset(self, seed=None, options=None):
            inner = make(-1)
            inner.reset(seed=seed)
            seen.append(inner.unwrapped._limit)
            return 0, {}

    TimeLimit(Outer(), 3).reset()
    assert seen == [None]
    assert limit_of(make(3).unwrapped) is None
