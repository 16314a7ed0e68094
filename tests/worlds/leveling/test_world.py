import re

import gymnasium
import numpy as np
import pytest
from PIL import Image

from sandlot.control.leveling import LevelingController, Rule
from sandlot.errors import SandlotError
from sandlot.worlds.leveling.vector import LevelingVector
from sandlot.worlds.leveling.world import Leveling
from sandlot.worlds.picture import from_above
from sandlot.worlds.rollout import rollout
from sandlot.worlds.scene import LOAD, ROBOT


def roughness(world, level):
    return float(((world.swarm.heights - level) ** 2).sum())


def test_rewards_sum_up_to_the_decrease_of_the_squared_deviation():
    world = Leveling(shape=(8, 8), agents=5)
    world.action_space.seed(0)
    world.reset(seed=0)
    level = world.swarm.heights.mean()
    before, total = roughness(world, level), 0.0
    for _ in range(200):
        _, reward, *_ = world.step(world.action_space.sample())
        total += reward
    assert world.swarm.tally[3] > 0
    assert total == pytest.approx(before - roughness(world, level))


@pytest.mark.parametrize("kind", ["probabilistic", "memetic", "pool"])
@pytest.mark.parametrize("flatness", ["range", "gradient"])
def test_stepping_a_rule_equals_running_it(kind, flatness):
    stepped, ran = (Leveling(shape=(4, 4), relief=4, agents=2, sensing=0.02, flatness=flatness) for _ in range(2))
    rule = LevelingController(Rule(kind=kind), 2)
    *_, step = rollout(stepped, rule, 2, 10**7)
    assert step.terminated[0]
    ran.reset(seed=2)
    rule.reset([np.random.SeedSequence(2)])
    assert ran.run(rule, 10**7) == step.info["cycles"]
    assert np.array_equal(ran.swarm.heights, stepped.swarm.heights)
    assert np.array_equal(ran.swarm.agents, stepped.swarm.agents)


def test_flat_by_range_and_flat_by_gradient_differ():
    ramp = np.tile(np.arange(8), (8, 1))
    for flatness, flat in (("range", False), ("gradient", True)):
        world = Leveling(shape=(8, 8), flatness=flatness, slope=1.0)
        world.reset(seed=0, options={"heights": ramp})
        assert world.flat is flat


def test_observations_hold_height_estimate_and_free_neighbours():
    world = Leveling(shape=(1, 3), agents=2, sensing=1.0)
    observation, _ = world.reset(seed=0, options={"heights": np.array([[3, 5, 7]])})
    for row, agent in zip(observation, world.swarm.agents, strict=True):
        height = [3, 5, 7][agent["x"]]
        assert row[:3].tolist() == [height, height, 0]
    assert observation[:, 3:].sum() == sum(
        not world.swarm.occupied[0, x]
        for agent in world.swarm.agents
        for x in (agent["x"] - 1, agent["x"] + 1)
        if 0 <= x < 3
    )


def test_given_heights_are_copied_and_checked():
    world = Leveling(shape=(4, 4))
    mine = np.full((4, 4), 3)
    mine[0, 0] = 9
    world.reset(seed=0, options={"heights": mine})
    for _ in range(50):
        world.step(world.action_space.sample())
    assert mine.sum() == 54
    with pytest.raises(SandlotError, match=r"\(3, 3\)"):
        world.reset(options={"heights": np.zeros((3, 3))})


@pytest.mark.parametrize(
    ("heights", "message"), [([[1, 2], [3, 9999]], "whole numbers from 0 to 4095"), ([[1, 2], [3]], "are not numbers")]
)
def test_impossible_heights_are_refused_before_anything_changes(heights, message):
    for world in (Leveling(shape=(2, 2), agents=1), LevelingVector(2, shape=(2, 2), agents=1)):
        world.reset(seed=3)
        before = world.np_random_seed
        with pytest.raises(SandlotError, match=message):
            world.reset(seed=5, options={"heights": heights})
        assert world.np_random_seed == before


def test_an_image_makes_the_terrain(tmp_path):
    Image.fromarray(np.full((5, 9), 255, np.uint8)).save(tmp_path / "a.png")
    world = Leveling(terrain=tmp_path / "a.png", relief=7)
    world.reset(seed=0)
    assert world.frame()["cell_heights"].shape == (5, 9)
    assert world.swarm.heights.min() == 7
    with pytest.raises(SandlotError, match="no image"):
        Leveling(terrain=tmp_path / "b.png")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"agents": 0}, "agents=0 .* at least 1"),
        ({"sensing": 1.5}, "sensing=1.5 .* at most 1"),
        ({"flatness": "smooth"}, "one of range, gradient"),
        ({"shape": (0, 4)}, r"shape\[0\]=0 .* at least 1"),
        ({"roughness": float("nan")}, "roughness=nan"),
    ],
)
def test_impossible_settings_are_explained(settings, says):
    with pytest.raises(SandlotError, match=says):
        Leveling(**settings)


@pytest.mark.parametrize(
    ("action", "says"),
    [
        (np.zeros((2, 2)), "not (2, 2)"),
        (np.full((3, 2), 3), "some are out of range"),
        (np.full((3, 2), -1), "some are out of range"),
        (np.zeros(6), "of shape (3, 2), not (6,)"),
        (np.full((3, 2), np.nan), "6 of 6 are not finite"),
    ],
)
def test_impossible_actions_are_refused_and_change_nothing(action, says):
    world = Leveling(agents=3)
    world.reset(seed=0)
    before = world.swarm.agents.copy()
    with pytest.raises(SandlotError, match=f"^an action is hand .*{re.escape(says)}$"):
        world.step(action)
    assert np.array_equal(before, world.swarm.agents)


def test_a_controller_for_other_agents_is_refused():
    world = Leveling(agents=3)
    world.reset(seed=0)
    with pytest.raises(SandlotError, match="for 2 agents; this world has 3"):
        world.run(LevelingController(Rule(), 2), 10)
    with pytest.raises(SandlotError, match="reset the controller with one seed"):
        world.run(LevelingController(Rule(), 3), 10)


def test_more_agents_than_cells_are_refused():
    with pytest.raises(SandlotError, match="1 to 4"):
        Leveling(shape=(2, 2), agents=5).reset(seed=0)


def test_the_picture_shows_every_agent():
    world = Leveling(render_mode="rgb_array", shape=(6, 4), agents=3)
    world.reset(seed=0)
    drawn = from_above(world.scene())
    assert drawn.shape == (48, 32, 3)
    assert (drawn == ROBOT).all(axis=2).sum() == pytest.approx(3 * 7.4**2, abs=30)
    world.swarm.agents["carrying"][1] = True
    loaded = (from_above(world.scene()) == LOAD).all(axis=2).sum()
    assert loaded == pytest.approx(5.8**2, abs=14)
    assert world.render().shape[1] == 640


def test_many_worlds_run_as_a_vector():
    worlds = gymnasium.make_vec("sandlot/Leveling-v0", num_envs=3, agents=2, interface="units")
    observation, _ = worlds.reset(seed=0)
    assert observation.shape == (3, 2, 11)
