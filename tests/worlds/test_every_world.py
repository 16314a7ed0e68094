"""What must be true of every registered world."""

from importlib.metadata import entry_points

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from sandlot.errors import SandlotError
from sandlot.recordings import check_frame
from sandlot.worlds import WORLDS, load, register, world_id

every_world = pytest.mark.parametrize("name", WORLDS)


def frames(name, seed, steps=30):
    """The frames of an episode under random actions."""
    world = load(name)()
    world.action_space.seed(seed)
    world.reset(seed=seed)
    kept = [{key: np.copy(value) for key, value in world.frame().items()}]
    for _ in range(steps):
        world.step(world.action_space.sample())
        kept.append({key: np.copy(value) for key, value in world.frame().items()})
    return kept


@every_world
@pytest.mark.filterwarnings("error", "ignore:.*symmetric and normalized")  # actions have units
def test_passes_the_checker_of_gymnasium(name):
    check_env(gymnasium.make(world_id(name), render_mode="rgb_array").unwrapped)


@every_world
def test_same_seed_same_frames(name):
    for one, other in zip(frames(name, 3), frames(name, 3), strict=True):
        for key, value in one.items():
            assert np.array_equal(value, other[key], equal_nan=True), key


@every_world
def test_another_seed_gives_other_frames(name):
    pairs = zip(frames(name, 3), frames(name, 4), strict=True)
    assert any(not np.array_equal(one[key], other[key]) for one, other in pairs for key in one if key != "time")


@every_world
def test_frames_hold_what_was_declared(name):
    world = load(name)()
    for frame in frames(name, 0):
        check_frame(frame, world.quantities)
    for key, quantity in world.quantities.items():
        assert quantity.long_name
        assert key.isidentifier()


@every_world
def test_time_goes_on(name):
    times = [float(frame["time"]) for frame in frames(name, 0)]
    assert times[0] == 0.0
    assert np.all(np.diff(times) > 0)


@every_world
def test_controllers_drive_it(name):
    world = load(name)()
    for controller in world.controllers():
        act = world.controller(controller, np.random.SeedSequence(0))
        observation, _ = world.reset(seed=0)
        for _ in range(5):
            action = act(observation)
            assert world.action_space.contains(np.asarray(action, world.action_space.dtype))
            observation, *_ = world.step(action)
            assert world.observation_space.contains(observation)


@every_world
def test_its_docstring_is_a_page(name):
    page = load(name).__doc__
    for part in ("## Actions", "## Observations", "## Reward", "## Start and end", "## Versions"):
        assert part in page


@every_world
@pytest.mark.parametrize("fidelity", ["no such", 3])
def test_an_unknown_fidelity_is_explained(name, fidelity):
    with pytest.raises(SandlotError, match=r"fidelity=.*allowed"):
        load(name)(fidelity=fidelity)


@every_world
def test_an_unknown_setting_is_explained(name):
    with pytest.raises(SandlotError, match="no setting 'fidelty'; did you mean 'fidelity'"):
        load(name)(fidelty="fast")


def test_an_unknown_controller_or_render_mode_is_explained():
    with pytest.raises(SandlotError, match="did you mean 'probabilistic'"):
        load("leveling")().controller("probabilistc", np.random.SeedSequence(0))
    with pytest.raises(SandlotError, match="allowed: rgb_array"):
        load("leveling")(render_mode="human")
    with pytest.raises(SandlotError, match="did you mean 'leveling'"):
        load("levelling")


def test_the_entry_point_registers_and_may_do_so_again():
    (plugin,) = entry_points(group="gymnasium.envs", name="sandlot")
    assert plugin.load() is register
    register()
    for name in WORLDS:
        assert world_id(name) in gymnasium.registry
        assert gymnasium.make(f"sandlot:{world_id(name)}") is not None
