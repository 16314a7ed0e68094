"""Driving among points: the choice of commands against a plain twin, and that no command leads into anything."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.control.navigation.driving import STOP, Mobility, arc, steer

ROVER = Mobility()
NOTHING, NONE = np.empty((0, 2)), np.empty(0, np.bool_)


def braked(command, speed, mobility, steps=400):
    """Twin: places (n, 2) during an interval of a command and braking after it, and the times [s]."""
    fastest = max(abs(command.speed), speed)
    total = mobility.interval + fastest / mobility.braking
    times = np.linspace(0.0, total, steps)
    braking = np.maximum(times - mobility.interval, 0.0)
    lengths = fastest * np.minimum(times, mobility.interval) + fastest * braking - 0.5 * mobility.braking * braking**2
    turns = command.turn_rate / abs(command.speed) * lengths
    places = [arc(math.copysign(length, command.speed), turn)[:2] for length, turn in zip(lengths, turns, strict=True)]
    return np.array(places), times


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(-3.0, 3.0), st.floats(-3.0, 3.0), st.floats(0.0, 0.3), st.booleans())
def test_every_command_can_be_braked_in_time(seed, x, y, speed, moving):
    rng = np.random.default_rng(seed)
    angles, ranges = rng.uniform(-math.pi, math.pi, 60), rng.uniform(ROVER.radius + ROVER.safety, 2.0, 60)
    points = np.column_stack([ranges * np.cos(angles), ranges * np.sin(angles)])
    command = steer(np.array([x, y]), points, np.full(60, moving), speed, ROVER)
    if command.speed == 0.0:
        return
    places, times = braked(command, speed, ROVER)
    away = np.hypot(*(points[:, None] - places).transpose(2, 0, 1))
    walked = ROVER.stranger * times if moving else 0.0
    approaches = away[:, -1:] < away[:, :1]
    # Arcs are checked every 3 cm, during which the distance to a point changes by at most 1.5 cm.
    assert (away - walked)[approaches.ravel()].min(initial=9.0) > ROVER.radius + ROVER.safety - 0.02


@pytest.mark.parametrize(
    ("target", "speed", "turn"),
    [((2.0, 0.0), 0.27, 0.0), ((0.0, 2.0), None, 1.0), ((0.0, -2.0), None, -1.0), ((-2.0, 0.1), 0.0, 1.0)],
)
def test_it_drives_or_turns_to_the_target(target, speed, turn):
    command = steer(np.array(target), NOTHING, NONE, 0.0, ROVER)
    assert np.sign(command.turn_rate) == np.sign(turn)
    assert speed is None or command.speed == pytest.approx(speed, abs=0.01)


def test_it_stops_before_a_wall_and_waits_for_a_person():
    wall = np.column_stack([np.full(41, 0.22), np.linspace(-1.0, 1.0, 41)])
    forward_only = ROVER.model_copy(update={"reverse": False})
    assert steer(np.array([1.0, 0.0]), wall, np.zeros(41, np.bool_), 0.1, forward_only).speed == 0.0
    further = wall + np.array([0.5, 0.0])
    assert steer(np.array([1.0, 0.0]), further, np.zeros(41, np.bool_), 0.3, forward_only).speed > 0.1
    assert steer(np.array([1.0, 0.0]), further, np.ones(41, np.bool_), 0.3, forward_only).speed < 0.1


def test_what_is_too_near_already_may_be_left():
    behind = np.array([(-0.18, 0.0)])
    assert steer(np.array([1.0, 0.0]), behind, np.zeros(1, np.bool_), 0.0, ROVER).speed > 0.2
    assert steer(np.array([1.0, 0.0]), -behind, np.zeros(1, np.bool_), 0.0, ROVER).speed <= 0.0


def test_an_arc_ends_where_it_should():
    assert arc(2.0, 0.0) == (2.0, 0.0, 0.0)
    x, y, yaw = arc(math.pi, math.pi)
    assert (x, y, yaw) == pytest.approx((0.0, 2.0, math.pi))
    assert STOP == (0.0, 0.0)


@pytest.mark.parametrize("away", [0.171, 0.18, 0.19, 0.2])
@pytest.mark.parametrize("bearing", [-2.0, 0.4, 1.6])
def test_beside_a_wall_a_turn_cannot_push_the_body_into_it(away, bearing):
    """The body of a skid-steered robot moves sideways while it turns, until the next command has stopped it."""
    wall = away * np.array([[math.cos(bearing), math.sin(bearing)]])
    command = steer(np.array([-1.0, 0.1]), wall, np.zeros(1, np.bool_), 0.0, ROVER)
    assert abs(command.turn_rate) * ROVER.pivot * 2.0 * ROVER.interval <= away - ROVER.radius
    assert command != STOP, "it drives away"
