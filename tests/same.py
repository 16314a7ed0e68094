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
    """Of a compiled vector world and of Gymnasium's own.

    Only the compiled one has the outcomes of episodes that Gymnasium's time limit ends: a single world does not know of
    that limit.
    """
    assert_same(one[0], other[0])
    for a, b in zip(one[1:-1], other[1:-1], strict=True):
        assert_same(a, b)
    assert_same(without_outcomes(one[-1]), without_outcomes(other[-1]))


def without_outcomes(info):
    kept = {key: value for key, value in info.items() if key not in ("outcomes", "_outcomes")}
    if "final_obs" in kept:
        kept["final_obs"] = {str(k): each for k, each in enumerate(kept["final_obs"]) if each is not None}
    return kept | ({"final_info": without_outcomes(kept["final_info"])} if "final_info" in kept else {})


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
