"""Steering: reading observations, signs of angles, and that targets are reached."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

from sandlot.control.snake.gaits import Gait
from sandlot.control.snake.steering import (
    Average,
    Coil,
    Rate,
    Seeker,
    Speed,
    StateSteering,
    angle_between,
    see,
)
from sandlot.errors import SandlotError
from sandlot.geometry.planar import rotate_one
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake, link_angles, link_centres

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="too much without compilation")

SNAKE = Snake()
GAIT = Gait(amplitude=0.6, frequency=1.0, phase=2.0 * np.pi / 7.0)


def observe(swimmers: FastSwimmers, target: tuple[float, float]) -> np.ndarray:
    parts = (swimmers.time, swimmers.centre[0], swimmers.head[:1], target, (0.0, 0.0))
    return np.concatenate([*parts, swimmers.angles[0], swimmers.rates[0]])


def test_the_links_are_computed_from_an_observation():
    rng = np.random.default_rng(0)
    angles, head, centre = rng.uniform(-1.0, 1.0, SNAKE.joints), 0.7, np.array([3.0, -2.0])
    values = np.concatenate([[1.5], centre, [head], (4.0, 5.0), (6.0, 7.0), angles, np.zeros(SNAKE.joints)])
    seen = see(values, SNAKE)
    directions = link_angles(np.float64(head), angles)
    np.testing.assert_allclose(seen.directions, directions, atol=1e-12)
    np.testing.assert_allclose(seen.links, link_centres(centre, directions, SNAKE.length), atol=1e-12)
    assert (seen.time, *seen.target, *seen.destination) == (1.5, 4.0, 5.0, 6.0, 7.0)


def test_an_observation_of_another_body_is_refused():
    with pytest.raises(SandlotError, match="16 joints has 40 entries, not 22"):
        see(np.zeros(22), SNAKE)


@given(st.floats(-3.1, 3.1), st.floats(-3.1, 3.1))
def test_the_angle_between_vectors_is_the_rotation(start, turn):
    a = np.array([math.cos(start), math.sin(start)])
    assert angle_between(a, rotate_one(a, turn)) == pytest.approx(turn, abs=1e-9)


def test_left_is_positive():
    assert angle_between(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == pytest.approx(math.pi / 2)


def test_the_average_of_179_and_minus_179_degrees_is_180():
    average = Average(2)
    average(math.radians(179.0))
    assert abs(average(math.radians(-179.0))) == pytest.approx(math.pi)


def test_an_average_drops_old_values():
    average = Average(3)
    for angle in (2.0, 2.0, 0.5, 0.5):
        average(angle)
    assert average(0.5) == pytest.approx(0.5)


def test_velocity_and_turn_rate():
    speed, rate = Speed(10), Rate(10, 0.1)
    for k in range(30):
        velocity = speed(0.1 * k, np.array([0.3 * k, -0.1 * k]))
        turning = rate(math.remainder(3.0 + 0.02 * k, 2.0 * math.pi))
    np.testing.assert_allclose(velocity, [3.0, -1.0])
    assert turning == pytest.approx(0.2)


def test_velocity_and_turn_rate_are_zero_at_first():
    np.testing.assert_array_equal(Speed(10)(0.0, np.array([5.0, 5.0])), 0.0)
    assert Rate(10, 0.1)(1.0) == 0.0


@pytest.mark.parametrize(
    ("target", "state", "sign"),
    [
        ((30.0, 20.0), "left", 1.0),
        ((30.0, -20.0), "right", -1.0),
        ((30.0, 2.0), "forward", 0.0),
        ((0.5, 1.0), "stop", 0.0),
    ],
)
def test_states_turn_towards_the_target(target, state, sign):
    seen = see(observe(FastSwimmers(SNAKE, 1), target), SNAKE)
    steering = StateSteering()
    assert steering(seen, seen.target) == pytest.approx(0.05 * sign)
    assert steering.state == state


def test_the_state_stop_is_final():
    swimmers, steering = FastSwimmers(SNAKE, 1), StateSteering()
    for target in ((0.5, 1.0), (30.0, 20.0)):
        seen = see(observe(swimmers, target), SNAKE)
        steering(seen, seen.target)
    assert steering.state == "stop"


@compiled
@pytest.mark.parametrize("target", [(25.0, 15.0), (25.0, -15.0)])
def test_a_seeker_reaches_its_target_and_straightens(target):
    seeker, swimmers = Seeker(SNAKE, GAIT), FastSwimmers(SNAKE, 1)
    for _ in range(6000):
        action = seeker(observe(swimmers, target))
        swimmers.command(action[None])
        if seeker.steering.state == "stop":
            break
    # It stops within 2 m; its head sways by up to 1 m until the next command.
    assert np.linalg.norm(swimmers.centres[0, 0] - target) < 3.0
    np.testing.assert_array_equal(seeker(observe(swimmers, target)), 0.0)


@pytest.mark.parametrize("left", [True, False])
def test_a_coil_holds_each_joint_and_then_resumes_the_wave(left):
    hold, side, body = 2.0, 1.0 if left else -1.0, Snake(links=8)
    plan = Coil(GAIT, 3.0, hold, left)
    before, after = (plan.targets(t, body) for t in (1.0, 20.0 + hold))
    np.testing.assert_allclose(before, GAIT.targets(1.0, 7), atol=1e-12)
    np.testing.assert_allclose(after, GAIT.targets(20.0, 7), atol=1e-9)
    at_peak = np.array([plan.targets(t, body) for t in np.arange(0.0, 8.0, 0.02)])
    held = np.isclose(at_peak, 0.6 * side, atol=1e-9).sum(axis=0) * 0.02
    assert (held > hold - 0.1).all()
    first = [int(np.argmax(np.diff(at_peak[:, j], n=1)[150:] == 0.0)) for j in range(7)]
    assert first == sorted(first), "the hold begins at the head"


@compiled
@pytest.mark.parametrize("left", [True, False])
def test_a_coil_rotates_the_body(left):
    swimmers, gait = FastSwimmers(SNAKE, 1), Gait(amplitude=0.5, frequency=0.9, phase=0.8)
    plan = Coil(gait, 15.0, 3.0, left)
    for _ in range(1250):
        swimmers.command(plan.targets(swimmers.time[0], SNAKE)[None])
    turn = swimmers.directions[0].mean()
    assert turn * (1.0 if left else -1.0) > 0.5


@pytest.mark.parametrize("frequency", [0.0, (1.0, 2.0)])
def test_a_coil_needs_one_travelling_wave(frequency):
    with pytest.raises(SandlotError, match="frequency"):
        Coil(GAIT.model_copy(update={"frequency": frequency}), 3.0, 2.0).targets(1.0, SNAKE)
