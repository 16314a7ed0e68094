"""Ranges from an occupancy grid map: the kernels against their twins, and rays in a square room."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.surrogates.mapped import Mapped, _cast, _trace
from sandlot.surrogates.sensorgraph import Sensorgraph
from square_room import room

SLOW = bool(config.DISABLE_JIT)


def scans(seed, count, beams=24):
    return room(seed, count, beams, side=3.0)


def traced(poses, bearings, ranges, corner, cell, shape):
    """Number of beams that end in each cell, and that pass through it."""
    ended, passed = np.zeros(shape), np.zeros(shape)
    for (x, y, yaw), scan in zip(poses, ranges, strict=True):
        for bearing, far in zip(bearings, scan, strict=True):
            if not math.isfinite(far):
                continue
            way = np.array([math.sin(yaw + bearing), math.cos(yaw + bearing)])
            steps = np.arange(int(far / cell)) * cell
            for away in steps[steps <= far - 1.5 * cell]:
                place = tuple(np.trunc((np.array([y, x]) + away * way - corner[::-1]) / cell).astype(int))
                if all(0 <= k < n for k, n in zip(place, shape, strict=True)):
                    passed[place] += 1.0
            ended[tuple(np.trunc((np.array([y, x]) + far * way - corner[::-1]) / cell).astype(int))] += 1.0
    return ended, passed


def cast(hits, poses, bearings, corner, cell, max_range, max_unseen):
    """Range at which half of each ray is stopped; NaN if it never is, or comes too far through unseen cells."""
    result = np.full((len(poses), len(bearings)), np.nan)
    for i, (x, y, yaw) in enumerate(poses):
        for k, bearing in enumerate(bearings):
            left, before, away, unseen = 1.0, None, 0.0, 0.0
            while away < max_range and unseen <= max_unseen:
                place = (
                    int((y + away * math.sin(yaw + bearing) - corner[1]) / cell),
                    int((x + away * math.cos(yaw + bearing) - corner[0]) / cell),
                )
                if not all(0 <= n < size for n, size in zip(place, hits.shape, strict=True)):
                    break
                away += 0.5 * cell
                if np.isnan(hits[place]):
                    unseen += 0.5 * cell
                    continue
                left, before = left * (1.0 if place == before else 1.0 - hits[place]), place
                if left <= 0.5:
                    result[i, k] = min(away, max_range)
                    break
    return result


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.25, 0.6]))
@settings(max_examples=5 if SLOW else 25)
def test_trace_kernel_equals_twin(seed, cell):
    graph = scans(seed, 4, beams=7)
    graph.ranges[np.random.default_rng(seed).random(graph.ranges.shape) < 0.2] = np.nan
    corner, shape = np.array([-3.5, -3.3]), (math.ceil(7.0 / cell), math.ceil(7.0 / cell))
    ended, passed = np.zeros(shape), np.zeros(shape)
    _trace(graph.poses, graph.bearings, graph.ranges, corner, cell, ended, passed)
    expected = traced(graph.poses, graph.bearings, graph.ranges, corner, cell, shape)
    np.testing.assert_array_equal(ended, expected[0])
    np.testing.assert_array_equal(passed, expected[1])
    assert ended.sum() == np.isfinite(graph.ranges).sum()


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.1, 0.25, 0.6]),
    st.floats(0.5, 6.0),
    st.sampled_from([0.0, 0.3, 1.0, math.inf]),
)
@settings(max_examples=5 if SLOW else 25)
def test_cast_kernel_equals_twin(seed, cell, max_range, max_unseen):
    rng = np.random.default_rng(seed)
    hits = np.where(rng.random((20, 25)) < 0.2, rng.choice([0.2, 0.4, 0.5, 1.0], (20, 25)), 0.0)
    hits[rng.random(hits.shape) < 0.2] = np.nan
    corner = rng.uniform(-1.0, 1.0, 2)
    poses = rng.uniform((-0.5, -0.5, -4.0), (25.0 * cell + 0.5, 20.0 * cell + 0.5, 4.0), (5, 3))
    poses[:, :2] += corner
    bearings = np.linspace(-1.5, 1.5, 6)
    found = _cast(hits, poses, bearings, corner, cell, max_range, max_unseen)
    np.testing.assert_allclose(found, cast(hits, poses, bearings, corner, cell, max_range, max_unseen), rtol=1e-12)


def test_ranges_in_a_map_of_a_square_room_are_right_within_cells():
    cell = 0.1
    model = Mapped((cell,)).fit(scans(0, 20 if SLOW else 150, beams=60))
    asked = scans(1, 10, beams=60)
    wrong = np.abs(model.predict(asked.poses) - asked.segments())
    assert np.median(wrong) < cell
    assert np.mean(wrong < 2.0 * cell) > 0.9
    assert 0 < model.size < 0.5 * model.map_.hits.size


def test_where_all_rays_leave_the_map_it_predicts_the_median_of_the_segment():
    graph = scans(0, 20)
    graph.ranges[np.abs(np.cos(graph.poses[:, 2:] + graph.bearings)) > 0.9] = np.nan  # no walls to the left and right
    model = Mapped((0.2,)).fit(graph)
    found = model.predict(np.array([[0.0, 0.0, 0.0], [100.0, 0.0, 0.0]]))
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[1], model.fallback_)
    np.testing.assert_allclose(model.fallback_, np.nanmedian(graph.segments(), 0))


def test_cross_validation_chooses_cells_and_how_far_rays_go_through_unseen_ones():
    graph = scans(0, 20 if SLOW else 80, beams=60)
    model = Mapped((0.1, 1.0), (0.0, 1.0)).fit(graph)
    assert model.map_.cell == 0.1
    assert model.unseen_ in (0.0, 1.0)


def test_rays_that_come_too_far_through_unseen_cells_are_of_no_use():
    behind, ahead = [0.0, 0.0, math.pi], [3.0, 0.0, 0.0]
    ranges = np.repeat([[11.0], [9.0]], 6, 1)
    graph = Sensorgraph(np.array([behind, ahead]), ranges, np.linspace(-0.01, 0.01, 6))
    asked = np.array([[1.5, 0.0, 0.0]])  # 1.5 m of unseen cells before those that the second scan saw
    little, much = (Mapped((0.1,), (unseen,)).fit(graph).predict(asked)[0] for unseen in (1.0, 2.0))
    np.testing.assert_array_equal(little, np.full(6, 10.0))
    np.testing.assert_allclose(much[2:4], 10.5, atol=0.2)
