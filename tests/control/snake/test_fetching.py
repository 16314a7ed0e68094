"""Fetching: when a ball counts as held, where the snake steers, and that it delivers the ball."""

from typing import Any

import numpy as np
import pytest
from numba import config

from sandlot.control.controller import Separate
from sandlot.control.snake.fetching import CAREFUL, GIVE, Fetcher, FetchSettings
from sandlot.control.snake.gaits import Gait, grasp_poses
from sandlot.control.snake.steering import see
from sandlot.errors import SandlotError
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake
from sandlot.settings import build
from sandlot.worlds.rollout import rollout
from sandlot.worlds.water.vector import WaterVector

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="simulations take too long without compilation")

SNAKE = Snake()
FAR = (60.0, 0.0)


def observation(angles: Any = 0.0, target: Any = FAR, time: float = 0.0, centre: Any = (-12.75, 0.0)) -> np.ndarray:
    joints = np.broadcast_to(angles, SNAKE.joints)
    return np.concatenate([[time], centre, [0.0], target, (0.0, 0.0), joints, np.zeros(SNAKE.joints)])


def fetch(targets: Any, settings: FetchSettings, seconds: float, current: tuple[float, float] = (0.0, 0.0)):
    """Let snakes fetch until all have delivered and retreat; returns when each did, and the fetchers."""
    marks = np.array(targets, np.float64)
    world = WaterVector(len(marks), fidelity="reference", current=current, autoreset_mode="Disabled")
    controller = Separate(lambda _: Fetcher(SNAKE, settings))
    when = np.full(len(marks), np.nan)

    def done() -> np.ndarray:
        return world.task.delivered & np.array([each.state == "retreat" for each in controller.policies])

    steps = round(seconds / SNAKE.interval)
    for step in rollout(world, controller, 0, steps, options={"target": marks}, until=done):
        when[step.terminated] = step.number * SNAKE.interval
    return when, controller.policies


def test_the_default_settings_are_those_of_the_source():
    plain = FetchSettings()
    assert plain.gain == pytest.approx(0.2 / np.pi)
    assert (plain.window, plain.grasping, plain.retreat, plain.release) == (30, 3, 2.0, 4.0)
    assert plain.reach * SNAKE.arclength == pytest.approx(25.5 / np.pi)
    assert (plain.carry.amplitude, plain.carry.frequency, plain.carry.phase) == (0.61, 1.82, 0.75)
    assert not plain.careful


def test_a_ball_is_held_inside_the_box_of_the_links_around_it():
    fetcher = Fetcher(SNAKE)
    pose = grasp_poses(SNAKE.joints, 3)[-1]
    ring = see(observation(pose), SNAKE).links[:4]
    middle, low, high = ring.mean(axis=0), ring.min(axis=0), ring.max(axis=0)
    assert fetcher.holds(see(observation(pose, middle), SNAKE))
    for outside in ((low[0] - 0.1, middle[1]), (high[0] + 0.1, middle[1]), (middle[0], high[1] + 0.1)):
        assert not fetcher.holds(see(observation(pose, outside), SNAKE))


@pytest.mark.parametrize("settings", [FetchSettings(), CAREFUL], ids=["source", "careful"])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_body_rotates_towards_the_target(settings, side):
    fetcher, swimmers = Fetcher(SNAKE, settings), FastSwimmers(SNAKE, 1)
    target = (20.0, 60.0 * side)
    for _ in range(400):
        fixed = (swimmers.time, swimmers.centre[0], swimmers.head[:1], target, (0.0, 0.0))
        seen = np.concatenate([*fixed, swimmers.angles[0], swimmers.rates[0]])
        swimmers.command(fetcher(seen)[None])
    assert side * swimmers.directions[0].mean() > 0.1


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_ball_beside_the_body_is_grasped_to_its_side(side):
    fetcher = Fetcher(SNAKE, CAREFUL)
    for k in range(40):
        action = fetcher(observation(fetcher._last, (-12.75, 3.0 * side), 0.02 * k))
    assert fetcher.state == "grasp"
    assert (side * action > 0.0).all()


def test_a_missed_ball_is_tried_again_from_further_away():
    fetcher = Fetcher(SNAKE)
    fetcher.state = "grasp"
    near, far = (8.0, 0.0), (60.0, 0.0)
    states = []
    for k in range(600):
        fetcher(observation(fetcher._last, near if k < 300 else far, 0.02 * k))
        states.append(fetcher.state)
    assert fetcher.attempts == fetcher.failures == 1
    assert list(dict.fromkeys(states)) == ["grasp", "back off", "approach"]


def test_a_blocked_joint_is_not_forced():
    fetcher = Fetcher(SNAKE, CAREFUL)
    for k in range(100):
        action = fetcher(observation(0.0, (-12.75, 3.0), 0.02 * k))
    assert np.abs(action).max() <= GIVE


def test_commands_do_not_jump():
    fetcher, last = Fetcher(SNAKE, CAREFUL), np.zeros(SNAKE.joints)
    for k in range(500):
        action = fetcher(observation(last, (-12.75 + 0.02 * k, 3.0), 0.02 * k))
        assert np.abs(action - last).max() < 0.2
        last = action


def test_a_body_too_short_is_refused():
    with pytest.raises(SandlotError, match=r"6 joints are too few .* at least 7"):
        Fetcher(Snake(links=7))


def test_impossible_settings_are_refused():
    with pytest.raises(SandlotError, match="grasping=2 is not possible; allowed: a whole number at least 3"):
        build(FetchSettings, {"grasping": 2})


@pytest.mark.parametrize("word", ["swim", "carry"])
@pytest.mark.parametrize(("frequency", "message"), [((0.9,) * 16, "has 16 values"), (0.0, "=0 is not possible")])
def test_a_gait_without_one_travelling_wave_is_refused(word, frequency, message):
    gait = Gait(amplitude=0.7, frequency=frequency, phase=0.8)
    with pytest.raises(SandlotError, match=f"frequency *{message}"):
        Fetcher(SNAKE, FetchSettings(**{word: gait}))


def test_the_same_observations_give_the_same_actions():
    one, other = Fetcher(SNAKE, CAREFUL), Fetcher(SNAKE, CAREFUL)
    for k in range(50):
        seen = observation(one._last, (20.0, 10.0), 0.02 * k)
        np.testing.assert_array_equal(one(seen), other(seen))


@pytest.mark.parametrize(
    "places",
    [[(30.0, 30.0), (-30.0, -30.0)], pytest.param([(-30.0, 30.0), (30.0, -30.0)], marks=pytest.mark.slow)],
    ids=["left and right", "the other quadrants"],
)
def test_it_delivers_from_every_quadrant(places):
    when, fetchers = fetch(places, CAREFUL, 240.0)
    assert np.isfinite(when).all()
    assert all(each.attempts >= 1 for each in fetchers)


def test_it_estimates_the_current_from_the_drift_of_the_ball():
    _, (fetcher,) = fetch([(40.0, 20.0)], CAREFUL, 5.0, current=(0.5, -1.0))
    np.testing.assert_allclose(fetcher._current, [0.5, -1.0], atol=0.02)


@pytest.mark.slow
def test_it_delivers_in_a_current():
    when, _ = fetch([(30.0, 20.0), (-30.0, 10.0), (10.0, -40.0)], CAREFUL, 300.0, current=(0.9, 0.9))
    assert np.isfinite(when).sum() >= 2
