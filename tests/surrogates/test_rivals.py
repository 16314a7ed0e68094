"""Rivals of the sensor models: nearest scans, a neural net and a map."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.errors import SandlotError
from sandlot.surrogates.mapped import Mapped, _cast, _trace
from sandlot.surrogates.rivals import Lookup, Net
from sandlot.surrogates.sensorgraph import Sensorgraph

SLOW = bool(config.DISABLE_JIT)
SIDE = 3.0
KINDS = [Lookup, lambda: Net((2,)), lambda: Net((2,), shared=True), lambda: Mapped(0.2)]


def room(seed, count, beams=24):
    rng = np.random.default_rng(seed)
    poses = rng.uniform((-1.5, -1.5, -math.pi), (1.5, 1.5, math.pi), (count, 3))
    bearings = ((np.arange(beams) + 0.5) / beams - 0.5) * math.pi
    angles = poses[:, 2:] + bearings
    cos, sin = np.cos(angles), np.sin(angles)
    ranges = np.minimum((np.copysign(SIDE, cos) - poses[:, :1]) / cos, (np.copysign(SIDE, sin) - poses[:, 1:2]) / sin)
    return Sensorgraph(poses, ranges, bearings)


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


def cast(hits, poses, bearings, corner, cell, max_range):
    """Range at which half of each ray is stopped."""
    result = np.full((len(poses), len(bearings)), max_range)
    for i, (x, y, yaw) in enumerate(poses):
        for k, bearing in enumerate(bearings):
            left, before, away = 1.0, None, 0.0
            while away < max_range:
                place = (
                    int((y + away * math.sin(yaw + bearing) - corner[1]) / cell),
                    int((x + away * math.cos(yaw + bearing) - corner[0]) / cell),
                )
                if not all(0 <= n < size for n, size in zip(place, hits.shape, strict=True)):
                    break
                left, before = left * (1.0 if place == before else 1.0 - hits[place]), place
                away += 0.5 * cell
                if left <= 0.5:
                    result[i, k] = min(away, max_range)
                    break
    return result


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.25, 0.6]))
@settings(max_examples=5 if SLOW else 25)
def test_trace_kernel_equals_twin(seed, cell):
    graph = room(seed, 4, beams=7)
    graph.ranges[np.random.default_rng(seed).random(graph.ranges.shape) < 0.2] = np.nan
    corner, shape = np.array([-3.5, -3.3]), (math.ceil(7.0 / cell), math.ceil(7.0 / cell))
    ended, passed = np.zeros(shape), np.zeros(shape)
    _trace(graph.poses, graph.bearings, graph.ranges, corner, cell, ended, passed)
    expected = traced(graph.poses, graph.bearings, graph.ranges, corner, cell, shape)
    np.testing.assert_array_equal(ended, expected[0])
    np.testing.assert_array_equal(passed, expected[1])
    assert ended.sum() == np.isfinite(graph.ranges).sum()


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.25, 0.6]), st.floats(0.5, 6.0))
@settings(max_examples=5 if SLOW else 25)
def test_cast_kernel_equals_twin(seed, cell, max_range):
    rng = np.random.default_rng(seed)
    hits = np.where(rng.random((20, 25)) < 0.2, rng.choice([0.2, 0.4, 0.5, 1.0], (20, 25)), 0.0)
    corner = rng.uniform(-1.0, 1.0, 2)
    poses = rng.uniform((-0.5, -0.5, -4.0), (25.0 * cell + 0.5, 20.0 * cell + 0.5, 4.0), (5, 3))
    poses[:, :2] += corner
    bearings = np.linspace(-1.5, 1.5, 6)
    found = _cast(hits, poses, bearings, corner, cell, max_range)
    np.testing.assert_allclose(found, cast(hits, poses, bearings, corner, cell, max_range), rtol=1e-12)


def test_lookup_at_a_pose_of_the_log_returns_its_scan():
    graph = room(0, 60)
    model = Lookup().fit(graph)
    np.testing.assert_allclose(model.predict(graph.poses), graph.segments(), rtol=1e-6)
    np.testing.assert_allclose(
        model.predict(graph.poses + np.array([0.0, 0.0, 2.0 * math.pi])), graph.segments(), rtol=1e-6
    )
    assert model.size == 60 * 9


def test_lookup_weights_scans_by_inverse_distance():
    poses = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [50.0, 0.0, 0.0], [51.0, 0.0, 0.0]])
    model = Lookup().fit(Sensorgraph(poses, np.repeat([[1.0], [2.0], [8.0], [9.0]], 6, 1), np.linspace(-1.0, 1.0, 6)))
    model.neighbours_ = 2
    np.testing.assert_allclose(model.predict(np.array([[0.25, 0.0, 0.0]])), np.full((1, 6), 1.25))


def test_the_same_seed_gives_the_same_net():
    graph = room(0, 15)
    one, same, other = (Net((6,), seed=seed).fit(graph).predict(graph.poses) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    assert Net((6,)).fit(graph).size == 4 * 6 + 6 + 6 * 6 + 6


@pytest.mark.parametrize("shared", [False, True])
def test_a_net_learns_a_room(shared):
    model = Net((24,), shared=shared).fit(room(0, 120))
    asked = room(1, 60)
    spread_of_medians = np.abs(asked.segments() - np.median(asked.segments()))
    wrong = np.abs(model.predict(asked.poses) - asked.segments())
    assert wrong.shape == (60, 6)
    assert wrong.mean() < 0.7 * spread_of_medians.mean()


def test_ranges_in_a_map_of_a_square_room_are_right_within_cells():
    cell = 0.1
    model = Mapped(cell).fit(room(0, 20 if SLOW else 150, beams=60))
    asked = room(1, 10, beams=60)
    wrong = np.abs(model.predict(asked.poses) - asked.segments())
    assert np.median(wrong) < cell
    assert np.mean(wrong < 2.0 * cell) > 0.9
    assert 0 < model.size < 0.5 * model.hits_.size


def test_rays_without_a_hit_end_at_the_edge_of_the_map():
    graph = room(0, 20)
    graph.ranges[np.abs(np.cos(graph.poses[:, 2:] + graph.bearings)) > 0.9] = np.nan  # no walls to the left and right
    model = Mapped(0.2).fit(graph)
    found = model.predict(np.array([[0.0, 0.0, 0.0], [100.0, 0.0, 0.0]]))
    assert np.isfinite(found).all()
    assert (found <= model.max_range_).all()
    assert (found[1] == model.max_range_).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scans", [1, 2, 5])
def test_tiny_logs_give_a_model(kind, scans):
    graph = room(0, scans)
    assert np.isfinite(kind().fit(graph).predict(graph.poses)).all()
    both = room(0, scans + 1)
    both.ranges[0] = np.nan
    assert np.isfinite(kind().fit(both).predict(both.poses)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_scans_without_returns_are_explained(kind):
    graph = room(0, 10)
    graph.ranges[:] = np.nan
    with pytest.raises(SandlotError, match="no beam of any scan has a return"):
        kind().fit(graph)
    with pytest.raises(SandlotError, match="a scan has 2 beams"):
        kind().fit(room(0, 10, beams=2))


@pytest.mark.parametrize("kind", [Lookup, Net])
def test_logs_without_a_complete_scan_are_explained(kind):
    graph = room(0, 10)
    graph.ranges[:, :4] = np.nan
    with pytest.raises(SandlotError, match="no scan has a return in every segment"):
        kind().fit(graph)
