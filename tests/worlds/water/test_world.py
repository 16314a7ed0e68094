"""The water world: targets, ends of episodes, outcomes, and how mistakes are explained."""

import numpy as np
import pytest

from sandlot.control.snake.files import save_controller
from sandlot.control.snake.gaits import Gait
from sandlot.errors import SandlotError
from sandlot.physics.swimming import rows
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import ReferenceSwimmers
from sandlot.robots.snake import Snake
from sandlot.worlds.rollout import rollout
from sandlot.worlds.scene import FRONT, GOAL, LOAD, ROBOT
from sandlot.worlds.water.task import REACHED
from sandlot.worlds.water.world import SWIM, Water

FIDELITIES = pytest.mark.parametrize("fidelity", ["fast", "reference"])
SMALL = Snake(links=6)


def drive(world, controller, steps, seed=0):
    """All steps of an episode."""
    return list(rollout(world, world.controller(controller), seed, steps))


def head(world):
    frame = world.frame()
    return np.array([frame["link_x"][0], frame["link_y"][0]])


@FIDELITIES
def test_moves_as_the_swimmers_do(fidelity):
    world = Water(fidelity=fidelity, snake=SMALL, current=(0.3, -0.2), target=(30.0, 5.0))
    kind = FastSwimmers if fidelity == "fast" else ReferenceSwimmers
    balls = {} if fidelity == "fast" else {"balls": np.array([[30.0, 5.0]])}
    swimmers = kind(SMALL, 1, (0.3, -0.2), **balls)
    for episode in range(2):
        world.reset(seed=episode)
        for k in range(40):
            targets = SWIM.targets((k + 1) * SMALL.interval, SMALL.joints)
            observation, *_ = world.step(targets)
            if episode == 0:
                swimmers.command(targets[None])
        assert observation[0] == pytest.approx(0.8)
        np.testing.assert_array_equal(observation[1:3], swimmers.centre[0])
        np.testing.assert_array_equal(observation[8:13], swimmers.angles[0])
        frame = world.frame()
        assert [frame["velocity_x"], frame["velocity_y"]] == swimmers.velocity[0].tolist()
        assert [frame["x"], frame["y"], frame["yaw"]] == [*swimmers.centre[0], swimmers.head[0]]
        assert frame["drive"] == swimmers.drive[0]


def test_random_targets_are_clear_of_the_body_and_the_same_at_every_fidelity():
    worlds = [Water(fidelity=fidelity, distance=6.0, ball_radius=1.5) for fidelity in ("fast", "reference")]
    for seed in range(30):
        targets = []
        for world in worlds:
            world.reset(seed=seed)
            targets.append(world.target.copy())
        np.testing.assert_array_equal(*targets)
        x, y = targets[0]
        assert np.hypot(x, y) <= 6.0
        assert np.hypot(max(x, -x - 25.5, 0.0), max(abs(y) - 0.25, 0.0)) > 1.5
        assert not world.reached


@FIDELITIES
def test_rewards_sum_up_to_the_decrease_of_the_distance(fidelity):
    world = Water(fidelity=fidelity, snake=SMALL, target=(9.0, 3.0))

    def potential():
        far = np.linalg.norm(head(world) - world.target)
        return far + (np.linalg.norm(world.target) if fidelity == "reference" else 0.0)

    world.reset(seed=0)
    before = potential()
    rewards = [step.rewards[0] for step in drive(world, "swim", 60)]
    assert sum(rewards) == pytest.approx(before - potential(), abs=1e-9)


def test_ends_when_the_target_is_reached():
    world = Water(target=(12.0, 0.0))
    last = drive(world, "swim", 1000)[-1]
    observation = last.observations[0]
    assert (last.terminated[0], last.truncated[0], last.info["exploded"]) == (True, False, False)
    assert world.reached
    outcomes = world.outcomes()
    assert set(outcomes) == set(world.outcome_quantities)
    assert outcomes["reached"] == 1.0
    assert outcomes["reach_time"] == observation[0]
    assert outcomes["distance"] == pytest.approx(np.hypot(observation[1] + 12.75, observation[2]))
    assert outcomes["speed"] == pytest.approx(outcomes["distance"] / outcomes["reach_time"])
    assert np.isnan(outcomes["delivered"])
    assert np.linalg.norm(head(world) - (12.0, 0.0)) <= REACHED


def test_outcomes_at_the_reference_are_those_of_the_moment_of_reaching():
    world = Water(fidelity="reference", target=(5.0, 0.5), region=1.0)
    drive(world, "swim", 250)
    at_reaching = world.outcomes()
    assert at_reaching["reached"] == 1.0
    for _ in range(20):
        world.step(np.zeros(16))
    assert world.outcomes() == at_reaching
    assert at_reaching["delivered"] == 0.0
    assert world.task.touched[0]


def test_a_ball_is_delivered_only_if_it_was_touched_and_let_go():
    """A ball that drifts home with the water is not delivered."""
    world = Water(fidelity="reference", snake=SMALL, target=(12.0, 6.0), region=11.0, current=(-2.0, 0.0))
    world.reset(seed=0)
    assert not world.in_region
    for _ in range(250):
        *_, terminated, _, _ = world.step(np.zeros(5))
        assert not terminated
    assert world.in_region
    world.task.touched[:] = True
    assert world.delivered


@FIDELITIES
def test_an_explosion_is_reported(fidelity):
    world = Water(fidelity=fidelity, snake=SMALL)
    world.reset(seed=0)
    if fidelity == "fast":
        world.swimmers.state[:] = np.nan
    else:
        world.swimmers.rates[:] = 1e3
    *_, terminated, truncated, info = world.step(np.zeros(5))
    assert (terminated, truncated, info["exploded"], world.exploded) == (False, True, True, True)
    assert world.render().shape[2] == 3
    world.reset(seed=0)
    assert not world.exploded
    assert np.isfinite(world.step(np.zeros(5))[0]).all()


@FIDELITIES
def test_a_step_that_explodes_has_no_reward(fidelity):
    world = Water(fidelity=fidelity, snake=SMALL)
    world.reset(seed=0)
    if fidelity == "fast":
        world.swimmers.state[rows.velocities(world.swimmers.snake.joints)] = 1e9
    else:
        world.swimmers.ball_velocity[:] = 1e9
    for _ in range(3):
        _, reward, _, truncated, info = world.step(np.zeros(5))
        assert (reward, truncated, info["exploded"]) == (0.0, True, True)
    world.reset(seed=0)
    assert np.isfinite(world.step(np.zeros(5))[1])


def test_pictures_show_body_ball_and_home():
    world = Water(fidelity="reference", target=(35.0, 4.0), render_mode="rgb_array")
    world.reset(seed=0)
    picture = world.render()
    colours = [tuple(colour) for colour in picture[:-60].reshape(-1, 3).tolist()]
    assert {LOAD, GOAL, ROBOT, FRONT} <= set(colours)
    assert colours.count(LOAD) > 40
    assert colours.count(GOAL) > 1000
    for _ in range(100):
        world.step(np.zeros(16))
    np.testing.assert_array_equal(world.render()[:-60], picture[:-60])


def test_seek_reaches_its_target_in_every_episode():
    world = Water(target=(25.0, 20.0))
    ends = [step.terminated[0] for step in rollout(world, world.controller("seek"), 0, 6000, again=True)]
    assert sum(ends) >= 2


def test_a_short_body_has_no_fetch():
    assert "fetch" in Water().controllers()
    assert "fetch" not in Water(snake=SMALL).controllers()


def test_controllers_come_from_files_and_directories(tmp_path, monkeypatch):
    gait = Gait(amplitude=0.3, frequency=1.5, phase=0.9)
    file = tmp_path / "gait.toml"
    save_controller(file, gait, SMALL)
    world = Water(snake=SMALL)
    _, first = rollout(world, world.controller(str(file)), 0, 1)
    np.testing.assert_allclose(first.actions[0], gait.targets(0.02, 5))
    with pytest.raises(SandlotError, match=r"6 links.*17 links"):
        Water().controller(str(file))
    save_controller(tmp_path / "models" / "swimmer", gait, SMALL)
    for name in (str(tmp_path / "models" / "swimmer"), "swimmer"):
        monkeypatch.chdir(tmp_path / "models")
        _, again = rollout(world, world.controller(name), 0, 1)
        np.testing.assert_array_equal(again.actions, first.actions)
    with pytest.raises(SandlotError, match=r"no controller at .*none\.json.*ready controllers: fetch"):
        Water().controller(str(tmp_path / "none.json"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"snake": {"links": 2}}, r"snake\.links=2 .*at least 3"),
        ({"snake": {"mass": -1.0}}, r"snake\.mass=-1.0 .*at least 0.001"),
        ({"fidelity": "reference", "snake": {"drag": 1e5}}, "step=0.01 would make the reference unstable.*at most"),
        ({"fidelity": "reference", "target": (-3.0, 0.5)}, r"target=\[-3, 0.5\] lies inside the body"),
        ({"fidelity": "reference", "ball_mass": 0.001}, "step=0.01 would make .*drag on the ball.*at most 0.00013"),
        (
            {"fidelity": "reference", "snake": {"step": 0.04, "interval": 0.04}},
            "step=0.04 would make .*wrong: motors.*at most 0.02",
        ),
        ({"distance": 0.5}, "distance=0.5 leaves no room"),
        ({"target": (1.0, 2.0, 3.0)}, "target=.*not possible"),
    ],
)
def test_impossible_settings_are_explained(settings, words):
    with pytest.raises(SandlotError, match=words):
        Water(**settings)


def test_a_wrong_action_or_target_is_explained():
    world = Water(fidelity="reference", snake=SMALL)
    world.reset(seed=0)
    with pytest.raises(SandlotError, match=r"shape \(5,\), not \(4,\)"):
        world.step(np.zeros(4))
    with pytest.raises(SandlotError, match=r"joint angles .*; 5 of 5 are not finite"):
        world.step(np.full(5, np.nan))
    with pytest.raises(SandlotError, match="lies inside the body"):
        world.reset(options={"target": (-1.0, 0.0)})
    world.reset(options={"target": (3.0, 4.0)})
    assert world.target.tolist() == [3.0, 4.0]
