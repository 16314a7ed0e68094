"""The water world for learners: normalised and egocentric, with skipped frames, and stable under random actions."""

import gymnasium
import numpy as np
import pytest

from same import assert_same_step
from sandlot.robots.snake import Snake
from sandlot.worlds.water.vector import WaterVector
from sandlot.worlds.water.world import Water

SMALL = Snake(links=6)
FIDELITIES = pytest.mark.parametrize("fidelity", ["fast", "reference"])


@FIDELITIES
def test_skipped_frames_are_steps_with_the_same_action(fidelity):
    given = {"fidelity": fidelity, "snake": SMALL, "target": (9.0, 3.0), "tracking_penalty": 0.1}
    plain, skipping = Water(**given), Water(**given, frame_skip=4)
    plain.reset(seed=0)
    skipping.reset(seed=0)
    skipping.action_space.seed(1)
    for _ in range(10):
        action = skipping.action_space.sample()
        steps = [plain.step(action) for _ in range(4)]
        seen, reward, *_, info = skipping.step(action)
        np.testing.assert_array_equal(seen, steps[-1][0])
        assert reward == pytest.approx(sum(step[1] for step in steps), abs=1e-12)
        assert info == steps[-1][4]
    assert skipping.metadata["render_fps"] == pytest.approx(12.5)


def test_skipping_stops_at_the_end_of_an_episode():
    """Of each member of a vector alone, while the others go on."""
    given = {"snake": {"links": 6}, "distance": 4.0, "frame_skip": 7, "max_episode_steps": 30}
    one = gymnasium.make_vec("sandlot/Water-v0", num_envs=40, **given)
    other = gymnasium.make_vec("sandlot/Water-v0", num_envs=40, vectorization_mode="sync", **given)
    one.reset(seed=3)
    other.reset(seed=3)
    one.action_space.seed(3)
    ends, times = 0, set()
    for _ in range(40):
        actions = one.action_space.sample()
        step = one.step(actions)
        assert_same_step(step, other.step(actions))
        ends += step[2].sum()
        times |= set(np.rint(step[4]["time"][step[2]] / 0.02).astype(int) % 7)
    assert ends > 3
    assert len(times) > 1, "episodes end between decisions"


def test_the_normalised_observation_is_that_of_the_head():
    given = {"snake": SMALL, "target": (9.0, 3.0), "destination": (1.0, -2.0), "frame_skip": 1}
    plain, world = Water(**given), Water(**given, interface="normalised")
    plain.reset(seed=0)
    world.reset(seed=0)
    world.action_space.seed(0)
    for _ in range(30):
        action = world.action_space.sample()
        plain.step(action.astype(np.float64) * SMALL.max_angle)
        seen, *_ = world.step(action)
    frame = plain.frame()
    c, s = np.cos(frame["yaw"]), np.sin(frame["yaw"])
    into = np.array([[c, s], [-s, c]])
    head = np.array([frame["link_x"][0], frame["link_y"][0]])
    phase = 2.0 * np.pi * 0.6 / 1.1
    expected = [
        *(np.cos(phase), np.sin(phase)),
        *into @ [frame["velocity_x"], frame["velocity_y"]] / 0.9,
        *into @ (np.array([9.0, 3.0]) - head) / 9.0,
        *into @ (np.array([1.0, -2.0]) - head) / 9.0,
        *frame["joint_angles"] / SMALL.max_angle,
        *frame["joint_rates"] / 10.0,
    ]
    np.testing.assert_allclose(seen, expected, rtol=1e-5, atol=1e-6)
    assert seen.dtype == np.float32


def test_motors_that_do_not_follow_cost_reward():
    weak = {"snake": {"links": 6, "max_torque": 10.0}, "target": (9.0, 3.0)}
    plain, penalised = Water(**weak), Water(**weak, tracking_penalty=0.5)
    errors = []
    for world in (plain, penalised):
        world.reset(seed=0)
        assert world.reset(seed=0)[1]["tracking_error"] == 0.0
    for _ in range(5):
        _, reward, *_, info = plain.step(np.full(5, 0.4))
        error = np.sqrt(np.mean((plain.frame()["joint_angles"] - 0.4) ** 2))
        assert info["tracking_error"] == pytest.approx(error)
        assert penalised.step(np.full(5, 0.4))[1] == pytest.approx(reward - 0.5 * error)
        errors.append(error)
    assert errors[-1] > 0.3, "these motors are too weak to follow"


@pytest.mark.parametrize("interface", ["units", "normalised"])
def test_the_reference_survives_random_actions(interface):
    """Uniform random actions, new at every command or kept for four, with balls near and far."""
    for distance in (15.0, 60.0):
        world = WaterVector(4, fidelity="reference", distance=distance, interface=interface, max_episode_steps=120)
        world.action_space.seed(0)
        world.reset(seed=0)
        for _ in range(150):
            seen, *_, info = world.step(world.action_space.sample())
            assert not info["exploded"].any()
            assert world.observation_space.contains(seen)


@FIDELITIES
@pytest.mark.parametrize("interface", ["units", "normalised"])
def test_the_last_observation_of_an_explosion_is_within_its_space(fidelity, interface):
    world = Water(fidelity=fidelity, snake=SMALL, interface=interface)
    for broken in (np.nan, 1e300, np.inf):
        world.reset(seed=0)
        if fidelity == "fast":
            world.swimmers.state[:] = broken
        else:
            world.swimmers.rates[:] = broken
        seen, _, _, truncated, info = world.step(np.zeros(5, np.float32))
        assert truncated
        assert info["exploded"]
        assert world.observation_space.contains(seen)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 100])
def test_uniform_random_actions_for_whole_episodes_do_not_explode_the_reference(seed):
    """Ten episodes of the registered length: 12,000 steps each, with the default snake."""
    vector = gymnasium.make_vec("sandlot/Water-v0", num_envs=10, fidelity="reference")
    vector.reset(seed=seed)
    vector.action_space.seed(seed)
    over = np.zeros(10, np.bool_)
    while not over.all():
        seen, _, terminated, truncated, info = vector.step(vector.action_space.sample())
        assert vector.observation_space.contains(seen)
        assert not info["exploded"].any()
        over |= terminated | truncated
