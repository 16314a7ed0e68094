"""Whether worlds are the same, and what they say, to the last bit."""

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv


def assert_same(one, other):
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert set(one) == set(other)
        for key in one:
            assert_same(one[key], other[key])
    else:
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_array_equal(one, other)


def assert_same_step(one, other):
    """Of a compiled vector world and of Gymnasium's own."""
    for a, b in zip(one[:-1], other[:-1], strict=True):
        assert_same(a, b)
    assert_same(comparable(one[-1]), comparable(other[-1]))


def comparable(info):
    """An info whose last observations are by member, as others have none."""
    if "final_obs" not in info:
        return info
    return {**info, "final_obs": {str(k): each for k, each in enumerate(info["final_obs"]) if each is not None}}


def assert_stands_in(world, plain):
    """A vector world has all that Gymnasium's own has."""
    assert isinstance(world, VectorEnv)
    assert world.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    for name in ("single_observation_space", "single_action_space", "observation_space", "action_space"):
        assert getattr(world, name) == getattr(plain, name)
    observations, _ = world.reset(seed=1)
    assert world.observation_space.contains(observations)
    observations, *_ = world.step(world.action_space.sample())
    assert world.observation_space.contains(observations)
