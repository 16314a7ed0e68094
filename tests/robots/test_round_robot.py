"""A round robot follows its commands within its limits, and never overlaps a wall."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.geometry.walls import Walls
from sandlot.robots.round_robot import RoundRobot
from twins import walls

NOTHING = Walls(np.array([(1e3, 1e3, 1e3, 2e3)]), np.zeros((0, 3)))
NO_NOISE = RoundRobot(slip=0.0, slip_noise=0.0)
NO_SLIPS = np.zeros((1, 2))


def drive(robot, command, seconds, start=(0.0, 0.0, 0.0), room=NOTHING, slips=NO_SLIPS):
    """Drive one robot; returns its state, and whether it touched a wall at any time."""
    state, bumped = robot.start(np.array([start])), False
    for _ in range(round(seconds / 0.25)):
        bumped |= bool(robot.drive(state, np.array([command]), slips, room, 0.25)[0])
    return state[0], bumped


def test_it_accelerates_at_its_limit_up_to_the_commanded_speed():
    state, bumped = drive(NO_NOISE, (0.5, 0.0), 2.0)
    assert not bumped
    assert state.speed == pytest.approx(0.5)
    assert state.x == pytest.approx(0.5 * 0.5**2 + 1.5 * 0.5, rel=0.02)
    assert drive(NO_NOISE, (0.5, 0.0), 0.25)[0].speed == pytest.approx(0.25)
    assert drive(NO_NOISE, (9.0, -9.0), 5.0)[0].tolist()[-2:] == pytest.approx([NO_NOISE.top_speed, -NO_NOISE.top_turn])


def test_it_drives_a_circle():
    quick = RoundRobot(slip=0.0, slip_noise=0.0, acceleration=1e6, turn_acceleration=1e6)
    state, _ = drive(quick, (0.5, 0.5), 3.0)
    assert state.yaw == pytest.approx(1.5)
    assert (state.x, state.y) == pytest.approx([math.sin(1.5), 1.0 - math.cos(1.5)], abs=1e-4)


def test_odometry_follows_the_wheels_and_not_the_slip():
    state, _ = drive(NO_NOISE, (0.5, 0.3), 4.0, (1.0, 2.0, 3.0))
    assert (state.x, state.y, state.yaw) == pytest.approx((state.odometry_x, state.odometry_y, state.odometry_yaw))
    state, _ = drive(NO_NOISE, (0.5, 0.0), 4.0, slips=np.array([[0.1, 0.0]]))
    assert state.x == pytest.approx(0.9 * state.odometry_x)
    state, _ = drive(NO_NOISE, (0.0, 0.5), 4.0, slips=np.array([[0.0, 0.2]]))
    assert state.yaw == pytest.approx(0.8 * state.odometry_yaw)


def test_a_wall_stops_it_but_not_its_wheels():
    room = Walls(np.array([(2.0, -5.0, 2.0, 5.0)]), np.zeros((0, 3)))
    state, bumped = drive(NO_NOISE, (0.5, 0.0), 8.0, room=room)
    assert bumped
    assert state.x == pytest.approx(1.7, abs=1e-6)
    assert state.odometry_x == pytest.approx(0.5 * 8.0, rel=0.05)
    state, bumped = drive(NO_NOISE, (0.5, 0.0), 8.0, (0.0, 0.0, 0.8), room)
    assert bumped
    assert state.x == pytest.approx(1.7, abs=1e-6)
    assert state.y > 2.0


def test_slips_have_their_mean_and_standard_deviation():
    slips = RoundRobot(slip=0.1, slip_noise=0.05).draw_slips(5000, np.random.default_rng(0))
    assert slips.mean() == pytest.approx(0.1, abs=0.005)
    assert slips.std() == pytest.approx(0.05, rel=0.05)
    assert np.abs(RoundRobot(slip_noise=99.0).draw_slips(100, np.random.default_rng(0))).max() <= 1.0


def test_slips_drawn_one_by_one_equal_a_batch():
    robot, one, other = RoundRobot(), np.random.default_rng(0), np.random.default_rng(0)
    draws = np.array([one.normal(size=2) for _ in range(5)])
    np.testing.assert_array_equal(robot.slips(draws), robot.draw_slips(5, other))


@settings(max_examples=3 if config.DISABLE_JIT else 30)
@given(st.integers(0, 2**32), st.floats(0.05, 1.0), st.floats(0.1, 20.0), st.floats(0.0, 2.0))
def test_it_never_overlaps_a_wall(seed, radius, speed, noise):
    rng = np.random.default_rng(seed)
    square = np.array([(-5, -5, 5, -5), (5, -5, 5, 5), (5, 5, -5, 5), (-5, 5, -5, -5)], np.float64)
    middles, angles = rng.uniform(-5.0, 5.0, (8, 2)), rng.uniform(0.0, math.pi, 8)
    half = rng.uniform(0.1, 2.0, 8)[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    segments = np.concatenate([square, np.hstack([middles - half, middles + half])])
    circles = np.column_stack([rng.uniform(-5.0, 5.0, (3, 2)), rng.uniform(0.1, 1.0, 3)])
    places = rng.uniform(-5.0, 5.0, (40, 2))
    places = places[walls.clearance(places, segments, circles) > radius]
    robot = RoundRobot(radius=radius, top_speed=speed, slip_noise=noise, acceleration=100.0)
    state = robot.start(np.column_stack([places, rng.uniform(-3.0, 3.0, len(places))]))
    for _ in range(6):
        command = rng.uniform(-1.0, 1.0, (len(state), 2)) * (speed, robot.top_turn)
        robot.drive(state, command, robot.draw_slips(len(state), rng), Walls(segments, circles), 0.25)
        if len(state):
            places = np.column_stack([state.x, state.y])
            assert walls.clearance(places, segments, circles).min() > radius - 1e-9
            assert np.abs(places).max() < 5.0


def test_a_batch_gives_the_same_as_single_robots():
    rng = np.random.default_rng(0)
    segments, circles = np.array([(1.0, -5.0, 1.0, 5.0)]), np.array([(-1.5, 0.0, 0.5)])
    poses = np.column_stack([rng.uniform(-0.5, 0.5, (5, 2)), rng.uniform(-3.0, 3.0, 5)])
    command, slips = rng.uniform(-1.0, 1.0, (5, 2)), NO_NOISE.draw_slips(5, rng)
    together = NO_NOISE.start(poses)
    touched = NO_NOISE.drive(together, command, slips, Walls(segments, circles), 3.0)
    for k in range(5):
        alone = NO_NOISE.start(poses[k : k + 1])
        assert (
            NO_NOISE.drive(alone, command[k : k + 1], slips[k : k + 1], Walls(segments, circles), 3.0)[0] == touched[k]
        )
        assert alone[0] == together[k]
