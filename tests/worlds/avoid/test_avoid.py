"""The avoid world as its users meet it."""

import gymnasium
import numpy as np
import pytest

import sandlot.worlds
from sandlot.control.navigation.avoiding import Avoider, Straight, load_avoider
from sandlot.errors import ModelError, SandlotError
from sandlot.models.dense import make_dense
from sandlot.places.situations import KINDS
from sandlot.worlds.avoid.vector import AvoidVector
from sandlot.worlds.avoid.world import Avoid
from sandlot.worlds.gap import measure_gap
from sandlot.worlds.record import record_world
from sandlot.worlds.rollout import rollout


def reached(controller, situation, count=100, fidelity="reference"):
    world = AvoidVector(count, autoreset_mode="Disabled", fidelity=fidelity, situation=situation)
    found = np.zeros(count, np.bool_)
    for step in rollout(world, controller, 700, world.settings.longest):
        found |= step.running & step.info["reached"]
    return found.mean()


def test_the_trained_avoider_passes_both_scenarios_and_a_straight_drive_does_not():
    assert reached(load_avoider(), "obstacle") >= 0.97
    assert reached(load_avoider(), "wall") >= 0.92
    assert reached(Straight(), "obstacle") <= 0.05


def test_each_situation_can_be_chosen_and_mixed_has_all():
    for kind in KINDS:
        world = Avoid(situation=kind)
        world.reset(seed=1)
        assert world.task.rovers.situations.counts[0, 1] == 1
    walls = AvoidVector(60)
    walls.reset(seed=0)
    assert set(walls.task.rovers.situations.counts[:, 0].tolist()) == {0, 1, 2}


@pytest.mark.parametrize("action", [4, -1, 0.5])
def test_what_is_no_move_is_refused(action):
    world = Avoid()
    world.reset(seed=0)
    with pytest.raises(SandlotError, match=r"an action is a move: 0 forward, 1 backward, 2 right, 3 left; not"):
        world.step(action)
    worlds = AvoidVector(2)
    worlds.reset(seed=0)
    with pytest.raises(SandlotError, match="an action is a move"):
        worlds.step(np.array([0, action]))


def test_a_move_that_the_rover_cannot_make_in_time_is_refused():
    with pytest.raises(SandlotError, match=r"interval=0.1 is too short .* at most 0.3 m/s"):
        Avoid(interval=0.1)


def test_noise_is_only_for_reference():
    with pytest.raises(SandlotError, match=r"noise=0\.1 is only for fidelity=reference"):
        Avoid(noise=0.1)


def test_an_avoider_for_other_lines_is_refused():
    net = make_dense([np.zeros((7, 4))], [np.zeros(4)], ["linear"])
    with pytest.raises(ModelError, match="a net with 7 inputs and 4 outputs is not an avoider with 5 lines; it has 9"):
        Avoider(net, 5)
    assert "trained" not in Avoid(lines=3).controllers()
    assert next(iter(Avoid().controllers())) == "trained"


def test_it_is_recorded_and_has_a_gap(tmp_path):
    facts = record_world("avoid", tmp_path / "a", 40, settings={"fidelity": "reference"})
    assert facts["controller"] == "trained"
    found = measure_gap("avoid", "trained", episodes=4, steps=60)
    assert found["reached"].shape == (2, 4)


def test_make_vec_is_compiled():
    sandlot.worlds.register()
    assert isinstance(gymnasium.make_vec("sandlot/Avoid-v0", num_envs=2).unwrapped, AvoidVector)
