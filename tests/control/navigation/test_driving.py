"""Driving among points: the choice of commands against a plain twin, and that no command leads into anything."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.control.navigation.driving import (
    SLACK,
    STEP,
    STOP,
    TOUCH,
    Command,
    Mobility,
    arc,
    clearance_of,
    limits_of,
    steer,
)

ROVER = Mobility()
NOTHING, NONE = np.empty((0, 2)), np.empty(0, np.bool_)
REST = Command(0.0, 0.0)


def changed(now, wanted, gain, loss):
    faster = wanted != 0.0 and (now * wanted < 0.0 or abs(wanted) > abs(now))
    most = gain if faster else loss
    return now + np.clip(wanted - now, -most, most)


def predicted(command, now, mobility):
    """Twin: poses (n, 3) of a robot that takes a command for an interval and then brakes, and the times [s]."""
    (speed, turn_rate), pose, time = now, np.zeros(3), 0.0
    poses, times = [], []
    while True:
        commanded = time < mobility.interval - 1e-9
        step = min(STEP, mobility.interval - time) if commanded else STEP
        wanted = command if commanded else STOP
        after = changed(speed, wanted.speed, step * mobility.acceleration, step * mobility.braking)
        turn_after = changed(
            turn_rate, wanted.turn_rate, step * mobility.turn_acceleration, step * mobility.turn_braking
        )
        length, turn = 0.5 * (speed + after) * step, 0.5 * (turn_rate + turn_after) * step
        middle = pose[2] + 0.5 * turn
        pose = np.add(pose, (length * math.cos(middle), length * math.sin(middle), turn))
        speed, turn_rate, time = after, turn_after, time + step
        poses.append(pose)
        times.append(time)
        if speed == 0.0 and turn_rate == 0.0 and not commanded:
            return np.array(poses), np.array(times)


def around(seed, count=60):
    rng = np.random.default_rng(seed)
    angles, ranges = rng.uniform(-math.pi, math.pi, count), rng.uniform(ROVER.radius + 0.005, 1.0, count)
    ranges.sort()
    return np.column_stack([ranges * np.cos(angles), ranges * np.sin(angles)])


SPEED, TURN_RATE = st.floats(-0.09, 0.3), st.floats(-1.2, 1.2)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), SPEED, TURN_RATE, SPEED, TURN_RATE, st.booleans())
def test_predictions_agree_with_a_plain_twin(seed, v, w, speed, turn_rate, moving):
    points, limits = around(seed, 6), limits_of(ROVER)
    before = np.hypot(*points.T)
    room, left = clearance_of(v, w, speed, turn_rate, points, np.full(6, moving), limits)
    poses, times = predicted(Command(v, w), Command(speed, turn_rate), ROVER)
    turns = np.diff(poses[:, 2], prepend=0.0)
    middle = poses[:, 2] - 0.5 * turns
    aside = np.column_stack([-turns * np.sin(middle), turns * np.cos(middle)]).cumsum(axis=0)
    away = np.hypot(*(points[:, None] - poses[:, :2]).transpose(2, 0, 1))
    pivots = np.linspace(-ROVER.pivot, ROVER.pivot, 2001)[:, None, None]
    worst = np.array([np.hypot(*(point - poses[:, :2] - pivots * aside).T).T.min(axis=0) for point in points])
    keep, floor, first = limits.keep, ROVER.radius + TOUCH, before[:, None]
    least = min(ROVER.radius + 0.5 * ROVER.safety, max(before.min() - SLACK, floor))
    refused = ((away < least) & (away < first - SLACK)) | ((worst < floor) & (worst < first - 1e-4))
    refused |= moving & (away - ROVER.stranger * times < keep) & (away < first)
    assert (room < 0.0) == refused.any()
    if room >= 0.0:
        assert room == pytest.approx(max(away.min() - keep, 0.0))
        assert left == pytest.approx(away[:, -1].min() - keep)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(-3.0, 3.0), st.floats(-3.0, 3.0), SPEED, TURN_RATE)
def test_every_command_can_be_braked_in_time(seed, x, y, speed, turn_rate):
    """Also one that halts, turns or reverses a robot that is driving."""
    points, now = around(seed), Command(speed, turn_rate)
    command = steer(np.array([x, y]), points, np.zeros(60, np.bool_), now, ROVER)
    halted, driven = (predicted(each, now, ROVER)[0][:, :2] for each in (STOP, command))
    least = [np.hypot(*(points[:, None] - places).transpose(2, 0, 1)).min() for places in (halted, driven)]
    nearest = np.hypot(*points.T).min()
    assert least[1] > min(least[0], nearest, ROVER.radius + 0.5 * ROVER.safety) - SLACK - 1e-6


def test_a_driving_robot_does_not_turn_in_place_into_a_wall():
    """It brakes on the way: the wall is nearer than the braking distance, but not on a halt."""
    across = np.array(sorted(np.linspace(-1.0, 1.0, 41), key=abs))
    wall = np.column_stack([np.full(41, 0.26), across])
    limits, still = limits_of(ROVER), np.zeros(41, np.bool_)
    assert clearance_of(0.0, 1.2, 0.0, 0.0, wall, still, limits)[0] >= 0.0
    assert clearance_of(0.0, 1.2, 0.3, 0.0, wall, still, limits)[0] < 0.0
    wall[:, 0] = 0.21
    assert clearance_of(-0.09, 0.0, 0.0, 0.0, wall, still, limits)[0] >= 0.0
    assert clearance_of(-0.09, 0.0, 0.3, 0.0, wall, still, limits)[0] < 0.0


@pytest.mark.parametrize("away", [0.174, 0.19, 0.205])
@pytest.mark.parametrize("lean", [0.0, 0.05, -0.05])
def test_beside_a_wall_that_is_too_near_it_drives_along_or_away(away, lean):
    x = np.linspace(-0.6, 0.6, 121)
    c, s = math.cos(lean), math.sin(lean)
    wall = np.column_stack([c * x - s * away, s * x + c * away])
    command = steer(np.array([0.45, -0.2]), wall, np.zeros(121, np.bool_), REST, ROVER)
    assert command != STOP
    places = predicted(command, REST, ROVER)[0][:, :2]
    left = np.hypot(*(wall[:, None] - places).transpose(2, 0, 1)).min()
    assert left > min(away, ROVER.radius + 0.5 * ROVER.safety) - SLACK - 1e-6


def test_a_corner_beside_it_does_not_hold_it():
    """Straight ahead it comes 4 mm nearer to the corner than the distance that it prefers to keep."""
    corner = 0.211 * np.array([(math.cos(math.radians(a)), math.sin(math.radians(a))) for a in (-75, -73, -78)])
    command = steer(np.array([0.44, 0.02]), corner, np.zeros(3, np.bool_), REST, ROVER)
    assert command.speed > 0.05


@pytest.mark.parametrize(
    ("target", "speed", "turn"),
    [((2.0, 0.0), 0.27, 0.0), ((0.0, 2.0), None, 1.0), ((0.0, -2.0), None, -1.0), ((-2.0, 0.1), 0.0, 1.0)],
)
def test_it_drives_or_turns_to_the_target(target, speed, turn):
    command = steer(np.array(target), NOTHING, NONE, REST, ROVER)
    assert np.sign(command.turn_rate) == np.sign(turn)
    assert speed is None or command.speed == pytest.approx(speed, abs=0.01)


def test_it_stops_before_a_wall_and_waits_for_a_person():
    wall = np.column_stack([np.full(41, 0.2), np.linspace(-1.0, 1.0, 41)])
    forward_only = ROVER.model_copy(update={"reverse": False})
    assert steer(np.array([1.0, 0.0]), wall, np.zeros(41, np.bool_), Command(0.05, 0.0), forward_only).speed == 0.0
    further = wall + np.array([0.52, 0.0])
    assert steer(np.array([1.0, 0.0]), further, np.zeros(41, np.bool_), Command(0.3, 0.0), forward_only).speed > 0.1
    assert steer(np.array([1.0, 0.0]), further, np.ones(41, np.bool_), Command(0.3, 0.0), forward_only).speed < 0.1


def test_what_is_too_near_already_may_be_left():
    behind = np.array([(-0.18, 0.0)])
    assert steer(np.array([1.0, 0.0]), behind, np.zeros(1, np.bool_), REST, ROVER).speed > 0.2
    assert steer(np.array([1.0, 0.0]), -behind, np.zeros(1, np.bool_), REST, ROVER).speed <= 0.0


def test_an_arc_ends_where_it_should():
    assert arc(2.0, 0.0) == (2.0, 0.0, 0.0)
    x, y, yaw = arc(math.pi, math.pi)
    assert (x, y, yaw) == pytest.approx((0.0, 2.0, math.pi))
    assert STOP == (0.0, 0.0)


@pytest.mark.parametrize("away", [0.171, 0.18, 0.19, 0.2])
@pytest.mark.parametrize("bearing", [-2.0, 0.4, 1.6])
def test_beside_a_wall_a_turn_cannot_push_the_body_into_it(away, bearing):
    """The body of a skid-steered robot moves sideways while it turns, until it has stopped."""
    wall = away * np.array([[math.cos(bearing), math.sin(bearing)]])
    command = steer(np.array([-1.0, 0.1]), wall, np.zeros(1, np.bool_), REST, ROVER)
    assert command != STOP, "it drives away"
    for pivot in (-ROVER.pivot, ROVER.pivot):
        pose, last = np.zeros(2), 0.0
        poses, _ = predicted(command, REST, ROVER)
        for step, yaw in zip(np.diff(poses[:, :2], axis=0, prepend=0.0), poses[:, 2], strict=True):
            aside, last = pivot * (yaw - last), yaw
            pose = pose + step + (-aside * math.sin(yaw), aside * math.cos(yaw))
            assert np.hypot(*(wall[0] - pose)) > min(ROVER.radius + TOUCH, away) - 1e-3


def test_a_retreat_leaves_a_gap_in_which_only_slow_speeds_can_be_braked():
    """A corner ahead on the left is 4 mm away, one behind on the right 20 mm: the robot moves between them, slowly."""
    bearings, ranges = np.radians([58.0, -160.0]), ROVER.radius + np.array([0.004, 0.02])
    corners = np.column_stack([ranges * np.cos(bearings), ranges * np.sin(bearings)])
    command = steer(np.array([-0.4, 0.0]), corners, np.zeros(2, np.bool_), REST, ROVER, retreat=True)
    assert -0.05 < command.speed < 0.0
    assert clearance_of(-0.09, 0.0, 0.0, 0.0, corners, np.zeros(2, np.bool_), limits_of(ROVER))[0] < 0.0


def test_a_retreat_first_leaves_what_is_too_near():
    """A corner is 3 mm away, on the side of the target: staying there is nearer to the target, but no turn is safe."""
    bearings = np.radians([54.0, 56.0, 45.0])
    corner = (ROVER.radius + np.array([[0.003], [0.005], [0.03]])) * np.column_stack(
        [np.cos(bearings), np.sin(bearings)]
    )
    still, target = np.zeros(3, np.bool_), np.array([0.29, -0.28])
    assert steer(target, corner, still, REST, ROVER) == STOP
    command = steer(target, corner, still, REST, ROVER, retreat=True)
    ends = predicted(command, REST, ROVER)[0][-1, :2]
    assert np.hypot(*(corner - ends).T).min() > ROVER.radius + 0.01


def test_a_turn_that_begins_at_rest_soon_has_its_full_rate():
    """Tracks begin to turn faster than they stop: the sideways motion of the whole turn must fit beside a wall."""
    wall, still = np.array([(0.0, ROVER.radius + 0.012)]), np.zeros(1, np.bool_)
    assert clearance_of(0.0, 1.2, 0.0, 0.0, wall, still, limits_of(ROVER))[0] < 0.0
    assert clearance_of(0.0, 0.15, 0.0, 0.0, wall, still, limits_of(ROVER))[0] >= 0.0
