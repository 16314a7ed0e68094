"""The vector form of the water world equals single worlds, bit for bit."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from same import assert_same, assert_same_step, assert_stands_in
from sandlot.errors import SandlotError
from sandlot.worlds.water.vector import WaterVector

SMALL = {"links": 6}
FIDELITIES = pytest.mark.parametrize("fidelity", ["fast", "reference"])


def make(count, mode=None, **settings):
    return gymnasium.make_vec(
        "sandlot/Water-v0", num_envs=count, vectorization_mode=mode, interface="units", **settings
    )


def test_make_vec_gives_it():
    world = make(7, snake=SMALL)
    assert type(world.unwrapped) is WaterVector
    assert_stands_in(world, make(7, "sync", snake=SMALL))


@pytest.mark.parametrize(("fidelity", "count"), [("fast", 3), ("fast", 70), ("reference", 3)])
def test_same_as_single_worlds(fidelity, count):
    """Also when episodes end at different times and the next ones begin."""
    # Near targets, so that many are reached; a limit, so that all end.
    settings = {"fidelity": fidelity, "snake": SMALL, "distance": 6.0, "current": (0.5, 0.2), "max_episode_steps": 37}
    one, other = make(count, **settings), make(count, "sync", **settings)
    one.action_space.seed(3)
    for a, b in zip(one.reset(seed=11), other.reset(seed=11), strict=True):
        assert_same(a, b)
    ends = np.zeros((2, count), np.int64)
    for _ in range(90):
        actions = one.action_space.sample()
        a, b = one.step(actions), other.step(actions)
        assert_same_step(a, b)
        ends += a[2:4]
    assert ends[1].min() >= 1, "every world was truncated"
    if count > 3:
        assert ends[0].any(), "some reached their target"


def test_threads_make_no_difference():
    results = []
    for threads in (1, 2):
        world = make(4, fidelity="reference", snake=SMALL, threads=threads)
        world.action_space.seed(0)
        world.reset(seed=0)
        for _ in range(20):
            observations, *_ = world.step(world.action_space.sample())
        results.append(observations)
    np.testing.assert_array_equal(*results)


@FIDELITIES
def test_only_a_member_that_explodes_is_reset(fidelity):
    world = make(3, fidelity=fidelity, snake=SMALL).unwrapped
    first, _ = world.reset(seed=0)
    actions = np.full((3, 5), 0.1)
    for _ in range(5):
        world.step(actions)
    if fidelity == "fast":
        world.task.swimmers.state[:, 1] = np.nan
    else:
        world.task.swimmers.rates[1] = 1e3
    _, _, terminations, truncations, info = world.step(actions)
    assert terminations.tolist() == [False, False, False]
    assert truncations.tolist() == info["exploded"].tolist() == [False, True, False]
    observations, rewards, terminations, truncations, info = world.step(actions)
    assert not np.any([terminations, truncations, info["exploded"]])
    assert rewards[1] == 0.0
    assert np.isfinite(observations).all()
    assert info["time"] == pytest.approx([0.14, 0.0, 0.14])
    np.testing.assert_array_equal(observations[1, 8:], first[1, 8:])
    assert not np.array_equal(observations[1, 4:6], first[1, 4:6]), "a new target"


def test_some_can_be_reset():
    world = make(3, snake=SMALL)
    world.reset(seed=[5, None, 7])
    for _ in range(3):
        world.step(np.zeros((3, 5)))
    observations, info = world.reset(seed=5, options={"reset_mask": np.array([True, False, False]), "target": (9, 9)})
    assert observations[:, 0].tolist() == pytest.approx([0.0, 0.06, 0.06])
    assert observations[0, 4:6].tolist() == [9.0, 9.0]
    assert info["_time"].tolist() == [True, False, False]


def test_every_member_can_have_its_own_target():
    world, targets = make(3, snake=SMALL), np.array([(9.0, 9.0), (8.0, 1.0), (3.0, 4.0)])
    observations, _ = world.reset(seed=0, options={"target": targets})
    np.testing.assert_array_equal(observations[:, 4:6], targets)
    with pytest.raises(SandlotError, match=r"target=.*not possible"):
        world.reset(options={"target": targets[:2]})


def test_without_autoreset_members_go_on_after_their_end():
    world = WaterVector(2, snake=SMALL, max_episode_steps=2, autoreset_mode="Disabled")
    assert world.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    assert WaterVector.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    world.reset(seed=0)
    times = [world.step(np.zeros((2, 5)))[4]["time"][0] for _ in range(4)]
    assert times == pytest.approx([0.02, 0.04, 0.06, 0.08])


def test_pictures():
    world = make(2, snake=SMALL, render_mode="rgb_array")
    world.reset(seed=0)
    assert [max(picture.shape) >= 600 for picture in world.render()] == [True] * 2


def test_mistakes_are_explained():
    with pytest.raises(SandlotError, match="num_envs=0"):
        WaterVector(0)
    with pytest.raises(SandlotError, match="allowed: rgb_array"):
        WaterVector(1, render_mode="human")
    with pytest.raises(SandlotError, match="did you mean 'fidelity'"):
        WaterVector(1, fidelty="fast")
    world = WaterVector(2, snake=SMALL)
    with pytest.raises(SandlotError, match="3 seeds for 2 worlds"):
        world.reset(seed=[1, 2, 3])
    with pytest.raises(SandlotError, match="reset_mask"):
        world.reset(options={"reset_mask": np.array([1, 0])})
    world.reset(seed=0)
    with pytest.raises(SandlotError, match=r"shape \(2, 5\), not \(5,\)"):
        world.step(np.zeros(5))


def test_it_starts_with_a_reset():
    world = WaterVector(2, max_episode_steps=1)
    with pytest.raises(SandlotError, match="before the first step, reset all worlds"):
        world.step(np.zeros((2, 16)))
    with pytest.raises(SandlotError, match="target=up is not possible"):
        world.reset(options={"target": "up"})
