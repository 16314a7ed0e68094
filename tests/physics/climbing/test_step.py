"""The planar model of a climbing robot: against its twin, and against the laws that it must keep."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

from sandlot.physics.climbing.contacts import find, outline_gap
from sandlot.physics.climbing.robot import BELTS, COLUMNS, CONTACTS, MOTORS, PENETRATION, SPEED
from sandlot.physics.climbing.step import GRAVITY, label
from sandlot.places.course_kinds import Box, Flat, Ramp, Rubble, Stairs, Trench
from sandlot.robots.climber import load_climber
from sandlot.robots.fast_climbers import FastClimbers
from twins.climbing import Twin, hull_gap

CLIMBER = load_climber()
COURSES = [
    Box(distance=0.7, height=0.2),
    Stairs(distance=0.7, steps=3),
    Stairs(distance=0.7, steps=3, risers=False),
    Ramp(distance=0.7),
    Trench(distance=0.7),
    Rubble(distance=0.7, seed=3),
]
SLOW = config.DISABLE_JIT
"""Without Numba, fewer steps."""


def make(*kinds, **given):
    return FastClimbers(CLIMBER, [kind.draw(np.random.default_rng(0)) for kind in kinds], **given)


def twin_of(climbers, k):
    twin = Twin(climbers.robots[k], climbers.courses[k].outlines())
    state = climbers.state[k]
    twin.q[:5], twin.v[:5], twin.v[5:] = state[:5], state[SPEED : SPEED + 5], state[BELTS : BELTS + 2]
    return twin


def scripts(rng, count, commands, hold=8):
    """Random axle angles that change every few commands, while driving forward: (commands, count, 4)."""
    angles = np.repeat(rng.uniform(-1.2, 1.2, (commands // hold + 1, count, 2)), hold, axis=0)[:commands]
    return np.concatenate([angles, np.full((commands, count, 2), 0.5)], axis=2)


@pytest.mark.parametrize("kind", COURSES, ids=lambda kind: kind.kind)
def test_it_moves_as_its_twin(kind):
    climbers = make(kind)
    climbers.robots.load_x, climbers.robots.load_z, climbers.robots.hip = 0.02, 0.03, 0.01
    climbers.robots.front_mass = 4.0
    climbers.restart(np.array([0]))
    twin = twin_of(climbers, 0)
    # The twin is slow where many segments are near.
    commands = 12 if kind.kind in ("stairs", "rubble") else 25
    for targets in scripts(np.random.default_rng(1), 1, 6 if SLOW else commands):
        climbers.command(targets)
        for _ in range(10):
            twin.step(targets[0, :3], 0.005)
        np.testing.assert_allclose(climbers.state[0, :5], twin.q[:5], atol=1e-7)
        np.testing.assert_allclose(climbers.state[0, SPEED : SPEED + 5], twin.v[:5], atol=1e-5)
        np.testing.assert_allclose(climbers.state[0, BELTS : BELTS + 2], twin.v[5:], atol=1e-5)
        np.testing.assert_allclose(climbers.state[0, MOTORS : MOTORS + 4], twin.motors, atol=1e-2)


sizes = st.floats(0.02, 0.3)


@given(sizes, sizes, st.floats(0.31, 1.0), st.floats(-1.0, 2.0), st.floats(-1.0, 1.0))
def test_the_gap_of_an_outline_is_that_of_all_circles_between_its_ends(big, small, length, x, z):
    gap, along, across = outline_gap(x, z, big, small, length)
    point, one, other = np.array([x, z]), np.zeros(2), np.array([length, 0.0])
    expected, outward = hull_gap(point, (one, big), (other, small))
    assert gap == pytest.approx(expected, abs=1e-6)
    if gap > 1e-3:
        np.testing.assert_allclose([along, across], outward, atol=1e-3)


@pytest.mark.parametrize("step", [0.005, 0.001])
def test_in_the_air_the_mass_centre_falls_freely_and_angular_momentum_is_kept(step):
    climbers = make(Flat(), step=step)
    climbers.state[0, 1] += 50.0
    climbers.state[0, SPEED : SPEED + 5] = 0.3, 0.0, 1.0, -0.5, 0.8
    before = climbers.state[0].copy()
    momentum, t = angular_momentum(climbers), 0.05 * (4 if SLOW else 20)
    for targets in scripts(np.random.default_rng(2), 1, round(t / 0.05)):
        climbers.command(targets)
    after = climbers.state[0]
    assert after[0] - before[0] == pytest.approx(0.3 * t)
    assert after[1] - before[1] == pytest.approx(-0.5 * GRAVITY * t * (t + step))
    # Steps are of first order.
    assert angular_momentum(climbers) == pytest.approx(momentum, rel=2.0 * step)


def angular_momentum(climbers):
    twin = twin_of(climbers, 0)
    return twin.mass_matrix()[2:5, 2:5].sum(axis=0) @ twin.v[2:5]


@pytest.mark.parametrize("kind", COURSES, ids=lambda kind: kind.kind)
def test_without_motors_energy_is_never_created(kind):
    """A robot whose motors give nothing, thrown at an obstacle, only loses energy."""
    climbers = make(*[kind] * 8)
    rng = np.random.default_rng(3)
    climbers.robots.axle_torque, climbers.robots.thrust = 0.0, 0.0
    climbers.state[:, SPEED] = rng.uniform(0.0, 2.0, 8)
    climbers.state[:, 1] += rng.uniform(0.0, 0.4, 8)
    climbers.state[:, BELTS : BELTS + 2] = rng.uniform(-1.0, 1.0, (8, 2))
    energy = np.array([twin_of(climbers, k).energy() for k in range(8)])
    lost = 0.0
    for _ in range(5 if SLOW else 60):
        climbers.command(np.zeros((8, 4)))
        now = np.array([twin_of(climbers, k).energy() for k in range(8)])
        # Contacts are pushed out of the ground: at most by what they went in.
        depth = climbers.state[:, PENETRATION]
        assert (now - energy <= 0.02 + 22.0 * GRAVITY * depth).all()
        lost, energy = lost + (energy - now).sum(), now
    assert lost > 0.1


def test_penetration_friction_and_motors_stay_within_their_limits():
    count, commands = (4, 10) if SLOW else (240, 200)
    rng = np.random.default_rng(4)
    kinds = [COURSES[k % len(COURSES)] for k in range(count)]
    climbers = make(*kinds)
    deepest = []
    for targets in scripts(rng, count, commands):
        climbers.command(targets)
        deepest.append(climbers.state[:, PENETRATION].copy())
        labels, impulses = climbers._labels, climbers._impulses
        touching = np.cumprod(labels >= 0, axis=1).astype(bool)
        assert (impulses[touching][:, 0] >= 0.0).all()
        assert (np.abs(impulses[touching][:, 1]) <= 0.9 * impulses[touching][:, 0] + 1e-12).all()
        assert (np.abs(climbers.axle_torques) <= CLIMBER.axles.torque + 1e-9).all()
        assert (np.abs(climbers.thrusts) <= 2.0 * CLIMBER.thrust + 1e-9).all()
    deepest = np.array(deepest)
    assert np.quantile(deepest, 0.99) < 0.002
    assert deepest.max() < 0.005
    assert not climbers.exploded.any()


def test_contacts_without_room_are_counted_but_not_kept():
    """All parts against a course of many corners, with room for one more contact."""
    climbers = make(Rubble(distance=0.0, block=(0.01, 0.01), height=0.001, slanted=0.0))
    found, labels = np.zeros((CONTACTS, 5)), np.zeros((CONTACTS, 2), np.int64)
    ground = [each[0] for each in climbers.ground]
    hull = (0.5, 0.1, 0.1, 1.0, 0.0, 0.3, 0.1)
    count = find(*ground, hull, 0.005, 0, found, labels, 0)
    again = find(*ground, hull, 0.005, 1, found, labels, CONTACTS - 1)
    assert 10 < count < CONTACTS
    assert again == CONTACTS - 1 + count
    assert labels[CONTACTS - 1, 0] == 1


def test_labels_of_parts_and_features_never_coincide():
    """Also on courses of thousands of segments."""
    labels = {label(part, feature) for part in range(3) for feature in range(3 * 5000)}
    assert len(labels) == 9 * 5000


def test_results_depend_neither_on_threads_nor_on_neighbours():
    alone, together, threaded = make(COURSES[1]), make(*COURSES), make(*COURSES, threads=3)
    for targets in scripts(np.random.default_rng(5), len(COURSES), 5 if SLOW else 60):
        together.command(targets)
        threaded.command(targets)
        alone.command(targets[1:2])
    np.testing.assert_array_equal(together.state, threaded.state)
    np.testing.assert_array_equal(together.state[1:2], alone.state)
    assert together.state.shape[1] == COLUMNS
