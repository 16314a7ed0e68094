"""The vector form of the indoor world equals single worlds, bit for bit."""

import gymnasium
import numpy as np
import pytest
from numba import config

from same import assert_same, assert_same_step, assert_stands_in
from sandlot.errors import SandlotError
from sandlot.surrogates.files import save
from sandlot.surrogates.local import WIDE, Local
from sandlot.surrogates.sensor_models import Headings, Sectors
from sandlot.worlds.indoor.learned import explore
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.vector import IndoorVector
from sandlot.worlds.indoor.world import Indoor

SLOW = bool(config.DISABLE_JIT)
FEW = {"laser": {"beams": 12}}
MODELS = {"local": Local(grids=((60.0, WIDE, WIDE), (30.0, 2.5, WIDE))), "headings": Headings(3), "sectors": Sectors()}


def make(count, mode=None, **settings):
    return gymnasium.make_vec(
        "sandlot/Indoor-v0", num_envs=count, vectorization_mode=mode, interface="units", **settings
    )


def assert_same_episodes(one, other, steps, seed=11):
    """Returns how often the episode of each world ended."""
    one.action_space.seed(3)
    for a, b in zip(one.reset(seed=seed), other.reset(seed=seed), strict=True):
        assert_same(a, b)
    ends = np.zeros(one.num_envs, np.int64)
    for _ in range(steps):
        actions = one.action_space.sample()
        actions[:, 0] = abs(actions[:, 0])  # to go somewhere, and bump
        a, b = one.step(actions), other.step(actions)
        assert_same_step(a, b)
        assert not a[2].any()
        ends += a[3]
    return ends


def test_make_vec_gives_it():
    world = make(7)
    assert type(world.unwrapped) is IndoorVector
    assert_stands_in(world, make(7, "sync"))


@pytest.mark.parametrize(
    ("count", "settings"),
    [
        (3, {"plan": "flat"}),  # it has shiny walls and pillars
        (70, FEW),
        (3, {**FEW, "plan": "office", "start": (3.0, 3.0, 0.0)}),
        (2, {"laser": {"beams": 40, "mixed": 0.0, "missing": 0.0}, "plan": "cluttered"}),
    ],
)
def test_same_as_single_worlds(count, settings):
    """Also when episodes end and the next ones begin."""
    limited = {**settings, "max_episode_steps": 37}
    steps = 20 if SLOW else 300 if count < 10 else 90
    ends = assert_same_episodes(make(count, **limited), make(count, "sync", **limited), steps)
    assert ends.tolist() == [steps // 38] * count


@pytest.mark.parametrize("name", MODELS)
def test_same_as_single_worlds_with_a_learned_laser(tmp_path, name):
    save(MODELS[name].fit(explore(IndoorSettings(laser={"beams": 36}), 60 if SLOW else 300)), tmp_path / "a")
    settings = {"fidelity": "learned", "model": tmp_path / "a", "max_episode_steps": 60}
    ends = assert_same_episodes(make(9, **settings), make(9, "sync", **settings), 20 if SLOW else 200)
    assert SLOW or (ends == 3).all()


def test_robot_k_is_the_single_world_of_seed_plus_k():
    """Bit for bit, also the state that is not observed."""
    many = make(4, **FEW).unwrapped
    many.reset(seed=5)
    singles = [Indoor(**FEW) for _ in range(4)]
    for k, single in enumerate(singles):
        single.reset(seed=5 + k)
    for _ in range(50):
        actions = np.tile([0.7, 0.2], (4, 1))
        many.step(actions)
        for k, single in enumerate(singles):
            single.step(actions[k])
            np.testing.assert_array_equal(many.task.state[k], single.task.state[0])
            np.testing.assert_array_equal(many.task.ranges[k], single.frame()["ranges"])
            np.testing.assert_array_equal(many.task.floor.covered[k], single.floor.covered[0])


def test_every_member_has_its_own_time_limit():
    """A member that was reset alone reaches its time limit later."""
    world = make(3, max_episode_steps=4, **FEW)
    world.reset(seed=0)
    go = np.tile([0.5, 0.0], (3, 1))
    world.step(go)
    world.step(go)
    world.reset(options={"reset_mask": np.array([False, True, False])})
    cut = [world.step(go)[3].tolist() for _ in range(5)]
    assert cut == [[False] * 3, [True, False, True], [False] * 3, [False, True, False], [False] * 3]
    _, rewards, _, _, info = world.step(go)
    assert (rewards > 0.0).all()
    assert info["time"] == pytest.approx([0.75, 0.25, 0.75])


def test_a_step_that_resets_has_no_reward():
    world = make(2, max_episode_steps=1, **FEW)
    world.reset(seed=0)
    assert world.step(np.ones((2, 2)))[3].all()
    _, rewards, _, truncations, info = world.step(np.ones((2, 2)))
    assert rewards.tolist() == [0.0, 0.0]
    assert not truncations.any()
    assert info["time"].tolist() == [0.0, 0.0]


def test_threads_make_no_difference():
    results = []
    for threads in (1, 2):
        world = make(70, threads=threads, **FEW)
        world.action_space.seed(0)
        world.reset(seed=0)
        for _ in range(3):
            observations, *_ = world.step(world.action_space.sample())
        results.append(observations)
    np.testing.assert_array_equal(*results)


def test_some_can_be_reset():
    world = make(3, **FEW)
    world.reset(seed=[5, None, 7])
    for _ in range(3):
        before = world.step(np.full((3, 2), 0.3))[0]
    mask, start = np.array([True, False, False]), (5.0, 5.0, 1.0)
    observations, info = world.reset(seed=5, options={"reset_mask": mask, "start": start})
    assert world.unwrapped.task.poses[0].tolist() == list(start)
    assert info["_time"].tolist() == mask.tolist()
    assert info["time"].tolist() == info["bumps"].tolist() == [0.0, 0.0, 0.0]
    assert info["covered"][0] > 0.0
    np.testing.assert_array_equal(observations[1:], before[1:])
    world.reset(options={"reset_mask": np.zeros(3, bool)})


def test_pictures():
    world = make(2, render_mode="rgb_array", **FEW)
    world.reset(seed=0)
    single = Indoor(render_mode="rgb_array", **FEW)
    single.reset(seed=1)
    np.testing.assert_array_equal(world.render()[1], single.render())


def test_mistakes_are_explained():
    with pytest.raises(SandlotError, match="num_envs=0"):
        IndoorVector(0)
    with pytest.raises(SandlotError, match=r"num_envs=2.0 is not possible"):
        IndoorVector(2.0)
    with pytest.raises(SandlotError, match="max_episode_steps=0 is not possible"):
        IndoorVector(1, max_episode_steps=0)
    with pytest.raises(SandlotError, match="allowed: rgb_array"):
        IndoorVector(1, render_mode="human")
    with pytest.raises(SandlotError, match="did you mean 'fidelity'"):
        IndoorVector(1, fidelty="fast")
    with pytest.raises(SandlotError, match="no room for a robot"):
        IndoorVector(1, start=(0.1, 0.1, 0.0))
    world = IndoorVector(2)
    with pytest.raises(SandlotError, match="before the first step, reset all worlds"):
        world.step(np.zeros((2, 2)))
    with pytest.raises(SandlotError, match="3 seeds for 2 worlds"):
        world.reset(seed=[1, 2, 3])
    with pytest.raises(SandlotError, match="reset_mask must hold 2 booleans"):
        world.reset(options={"reset_mask": np.array([1, 0])})
    with pytest.raises(SandlotError, match="start is x"):
        world.reset(seed=1, options={"start": (1.0, 2.0)})
    with pytest.raises(SandlotError, match="before the first step, reset all worlds"):
        world.step(np.zeros((2, 2)))
    world.reset(seed=0)
    with pytest.raises(SandlotError, match=r"shape \(2, 2\), not \(2,\)"):
        world.step(np.zeros(2))
    with pytest.raises(SandlotError, match=r"1 of 4 are not finite") as said:
        world.step(np.array([[0.0, np.nan], [0.0, 0.0]]))
    assert "\n" not in str(said.value)


def test_a_reset_that_is_refused_changes_nothing():
    one, other = (IndoorVector(2, **FEW) for _ in range(2))
    for world in (one, other):
        world.reset(seed=np.int64(3))
    with pytest.raises(SandlotError, match="no room"):
        one.reset(seed=5, options={"start": (0.1, 0.1, 0.0)})
    commands = np.full((2, 2), 0.3)
    assert_same(one.step(commands)[0], other.step(commands)[0])


def test_a_limit_of_minus_one_means_none():
    world = IndoorVector(1, max_episode_steps=-1, **FEW)
    world.reset(seed=0)
    assert not any(world.step(np.zeros((1, 2)))[3].any() for _ in range(5))
