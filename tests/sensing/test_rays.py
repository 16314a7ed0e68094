"""Rays hit the nearest wall at the exact distance, up to rounding."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.geometry.walls import Walls
from sandlot.sensing.rays import BEARING_ERROR, MAX_POSES_ONE_THREAD, bearing, bearings, cast
from twins import rays as twin

NO_SEGMENTS, NO_CIRCLES = np.zeros((0, 4)), np.zeros((0, 3))
SQUARE = Walls(np.array([(0, 0, 10, 0), (10, 0, 10, 10), (10, 10, 0, 10), (0, 10, 0, 0)], np.float64), NO_CIRCLES)


def random_plan(seed, segments, circles, grid):
    """Segments and circles anywhere, or with ends on a grid, where beams often hit corners."""
    rng = np.random.default_rng(seed)
    ends = rng.uniform(-10.0, 10.0, (segments, 4))
    discs = np.column_stack([rng.uniform(-10.0, 10.0, (circles, 2)), rng.uniform(0.05, 3.0, circles)])
    poses = np.column_stack([rng.uniform(-10.0, 10.0, (4, 2)), rng.uniform(-9.0, 9.0, 4)])
    if grid:
        ends, poses[:, :2], poses[:, 2] = np.round(ends), np.round(poses[:, :2]), 0.0
    return ends, discs, poses


@given(
    st.integers(0, 2**32),
    st.integers(0, 40),
    st.integers(0, 8),
    st.booleans(),
    st.integers(1, 400),
    st.sampled_from([0.3, math.pi / 2, math.pi, 4.0, 2 * math.pi]),
    st.sampled_from([math.inf, 5.0]),
)
def test_agrees_with_testing_every_beam_against_every_surface(seed, segments, circles, grid, beams, view, max_range):
    ends, discs, poses = random_plan(seed, segments, circles, grid)
    found = cast(Walls(ends, discs), poses, beams, view, max_range)
    ranges, hits = twin.cast(ends, discs, poses, bearings(beams, view), max_range)
    finite = np.isfinite(ranges)
    assert np.array_equal(np.isfinite(found.ranges), finite)
    np.testing.assert_allclose(found.ranges[finite], ranges[finite], rtol=1e-9, atol=1e-9)
    # Where a beam hits two surfaces at once, either may be reported.
    assert np.array_equal(found.hits < 0, hits < 0)
    assert np.mean(found.hits != hits) < 0.01 or grid


def test_a_square_room():
    (ranges,), (hits,) = cast(SQUARE, [(5.0, 5.0, 0.0)], 4, 2 * math.pi)
    np.testing.assert_allclose(ranges, 5.0 * math.sqrt(2.0))
    ahead = cast(SQUARE, [(2.0, 5.0, 0.0), (2.0, 5.0, math.pi), (2.0, 4.0, math.pi / 2)], 1, 0.1)
    np.testing.assert_allclose(ahead.ranges[:, 0], [8.0, 2.0, 6.0], rtol=1e-15)
    assert ahead.hits[:, 0].tolist() == [1, 3, 2]
    assert (hits >= 0).all()


def test_beams_go_counter_clockwise_from_the_right():
    angles = bearings(360, math.pi)
    assert angles[0] == pytest.approx(-math.pi / 2 + math.radians(0.25))
    assert np.allclose(np.diff(angles), math.radians(0.5))
    assert angles.sum() == pytest.approx(0.0, abs=1e-9)
    wall_on_the_left = np.array([(-5.0, 1.0, 5.0, 1.0)])
    ranges = cast(Walls(wall_on_the_left, NO_CIRCLES), [(0.0, 0.0, 0.0)], 360, math.pi).ranges[0]
    assert np.isinf(ranges[:180]).all()
    assert ranges[-1] == pytest.approx(1.0, rel=1e-4)


@given(st.floats(0.01, 9.99), st.floats(0.01, 9.99), st.floats(-10.0, 10.0), st.integers(1, 720))
def test_no_beam_leaves_a_closed_room(x, y, yaw, beams):
    found = cast(SQUARE, [(x, y, yaw)], beams, 2 * math.pi)
    assert np.isfinite(found.ranges).all()
    directions = yaw + bearings(beams, 2 * math.pi)
    ends = np.array([x, y])[:, None] + found.ranges[0] * np.array([np.cos(directions), np.sin(directions)])
    assert np.allclose(np.abs(ends - 5.0).max(axis=0), 5.0)


def test_a_circle_is_hit_from_outside_and_from_inside():
    circle = np.array([(3.0, 0.0, 1.0)])
    found = cast(Walls(NO_SEGMENTS, circle), [(0.0, 0.0, 0.0), (3.5, 0.0, 0.0), (6.0, 0.0, 0.0)], 1, 0.1)
    np.testing.assert_allclose(found.ranges[:, 0], [2.0, 0.5, np.inf])
    assert found.hits[:, 0].tolist() == [0, 0, -1]


def test_nothing_is_hit_end_on_or_beyond_max_range():
    away = np.array([(1.0, 0.0, 2.0, 0.0)])
    assert cast(Walls(away, NO_CIRCLES), [(0.0, 0.0, 0.0)], 1, 0.1).hits[0, 0] == -1
    assert np.isinf(cast(SQUARE, [(5.0, 5.0, 0.0)], 9, math.pi, 4.9).ranges).all()
    assert cast(Walls(NO_SEGMENTS, NO_CIRCLES), [(0.0, 0.0, 0.0)], 3, 1.0).hits.tolist() == [[-1, -1, -1]]


@given(st.floats(-math.pi, math.pi), st.floats(1e-6, 1e6))
def test_error_of_the_approximate_bearing_is_bounded(angle, distance):
    x, y = distance * math.cos(angle), distance * math.sin(angle)
    assert abs(bearing(x, y) - math.atan2(y, x)) < 0.7 * BEARING_ERROR


def test_results_do_not_depend_on_threads():
    ends, discs, _ = random_plan(1, 30, 3, False)
    rng = np.random.default_rng(0)
    poses = rng.uniform(-9.0, 9.0, (3 * MAX_POSES_ONE_THREAD, 3))
    one, many = (cast(Walls(ends, discs), poses, 90, math.pi, threads=threads) for threads in (1, 3))
    assert np.array_equal(one.ranges, many.ranges)
    assert np.array_equal(one.hits, many.hits)
