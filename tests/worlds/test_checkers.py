"""No checker of Gymnasium or Stable-Baselines3 warns of what a user gets without asking for an interface.

In every world, at every fidelity: the single world, a member of the compiled vector, and one of what ``as_sb3`` makes.
Worlds also run in the subprocesses of Stable-Baselines3.
"""

from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_env_for_stable_baselines
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

from sandlot.learning.stable_baselines import as_sb3
from sandlot.surrogates.files import save
from sandlot.surrogates.sensor_models import Headings
from sandlot.worlds import WORLDS, load, register, world_id
from sandlot.worlds.indoor.learned import explore
from sandlot.worlds.indoor.settings import IndoorSettings

register()
CASES = [(name, fidelity) for name in WORLDS for fidelity in load(name).fidelities()]
HEAVY = [
    ("water", "reference"),
    *(
        pytest.param(*case, marks=pytest.mark.slow)
        for case in (("obstacles", "reference"), ("terrain", "reference"), ("indoor", "learned"))
    ),
]
"""Worlds that hold MuJoCo or a model; a new process takes about 5 s to import what it needs."""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A small sensor model, as the one that the indoor world fits by itself takes long."""
    path = tmp_path_factory.mktemp("models") / "model"
    save(Headings(2).fit(explore(IndoorSettings(), 60)), path)
    return path


class Member(gymnasium.Env):
    """The only member of a vector world, as a single world."""

    def __init__(self, name, **given):
        self.vector = gymnasium.make_vec(world_id(name), num_envs=1, autoreset_mode="Disabled", **given)
        self.observation_space, self.action_space = (
            self.vector.single_observation_space,
            self.vector.single_action_space,
        )
        self.metadata, self.render_mode = load(name).metadata, self.vector.render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)  # the checker looks at its generator
        seen, info = self.vector.reset(seed=seed, options=options)
        return seen[0], info

    def step(self, action):
        seen, rewards, terminated, truncated, info = self.vector.step(np.asarray(action)[None])
        return seen[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self):
        return self.vector.render()[0]


class MemberForStableBaselines(Member):
    """The only member of what ``as_sb3`` makes, which begins its next episode by itself."""

    def __init__(self, name, **given):
        super().__init__(name, **given)
        self.worlds = as_sb3(self.vector)
        self.observation_space, self.action_space = self.worlds.observation_space, self.worlds.action_space

    def reset(self, *, seed=None, options=None):
        gymnasium.Env.reset(self, seed=seed)
        self.worlds.seed(seed)
        self.worlds.set_options(options)
        return self.worlds.reset()[0], {}

    def step(self, action):
        seen, rewards, over, infos = self.worlds.step(np.asarray(action)[None])
        last = infos[0].get("terminal_observation", seen[0])
        return last, float(rewards[0]), bool(over[0]), False, infos[0]


@pytest.mark.parametrize(("name", "fidelity"), CASES)
@pytest.mark.parametrize("form", ["single", "vector", "as_sb3"])
@pytest.mark.filterwarnings("error")
def test_no_checker_warns(name, fidelity, form, model):
    given = {"fidelity": fidelity, "render_mode": "rgb_array"}
    if (name, fidelity) == ("indoor", "learned"):
        given["model"] = model
    if form == "single":
        world = gymnasium.make(world_id(name), **given).unwrapped
    else:
        world = (Member if form == "vector" else MemberForStableBaselines)(name, **given)
    check_env(world, skip_render_check=True)  # the next checker renders
    check_env_for_stable_baselines(world, skip_render_check=False)


@pytest.mark.parametrize(("name", "fidelity"), HEAVY)
def test_a_subprocess_of_stable_baselines_gives_the_same_world(name, fidelity, model):
    given = {"fidelity": fidelity, "max_episode_steps": 5, **({"model": model} if name == "indoor" else {})}
    make = [partial(gymnasium.make, f"sandlot:{world_id(name)}", **given)]
    here, there = DummyVecEnv(make), SubprocVecEnv(make)
    try:
        assert there.observation_space == here.observation_space
        here.action_space.seed(0)
        for each in (here, there):
            each.seed(3)
        np.testing.assert_array_equal(here.reset(), there.reset())
        for _ in range(8):
            action = np.stack([here.action_space.sample()])
            for one, other in zip(here.step(action)[:3], there.step(action)[:3], strict=True):
                np.testing.assert_array_equal(one, other.astype(one.dtype))  # rewards here are float32
    finally:
        there.close()
