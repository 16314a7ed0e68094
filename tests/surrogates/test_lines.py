"""Polynomials in line coordinates: the kernel against its twin, exact cases, and cells without samples."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.surrogates import lines
from sandlot.surrogates.line_tables import FIRST, look, pack, settle, tour, turned
from sandlot.surrogates.lines import Grid, Samples
from twins import lines as twin

SLOW = bool(config.DISABLE_JIT)
SEEDS = st.integers(0, 2**32 - 1)
WIDE = math.inf
SIDE = 4.0


def rays_around(seed, count, reach=1.5):
    rng = np.random.default_rng(seed)
    return rng.uniform((-reach, -reach, -7.0), (reach, reach, 7.0), (count, 3))


def walls(rays):
    """Distance to the walls of a square room of 8 m."""
    cos, sin = np.cos(rays[:, 2]), np.sin(rays[:, 2])
    return np.minimum((np.copysign(SIDE, cos) - rays[:, 0]) / cos, (np.copysign(SIDE, sin) - rays[:, 1]) / sin)


def samples(rays, medians):
    return Samples(rays, medians, np.arange(len(rays)), 1.0)


def random_grid(seed, along=2, terms=3, degree=2, empty=0.3):
    """Random polynomials in some of the cells."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(3, 9)), int(rng.integers(1, 4)), along)
    reach, origin = rng.uniform(1.0, 4.0), rng.normal(size=2)
    turned = np.arange(shape[0] + 1) % shape[0] * 2.0 * math.pi / shape[0]
    cells = math.prod(shape)
    model = np.where(rng.random(cells) < empty, -1, np.arange(cells))
    factors = np.array([[twin.monomials_of(rng, degree) for _ in range(terms)] for _ in range(cells)])
    coefficients = rng.uniform(0.1, 1.0, (cells, terms)) * rng.choice([-1.0, 1.0], (cells, terms))
    coefficients[np.arange(terms) >= rng.integers(1, terms + 1, (cells, 1))] = 0.0
    limits = np.tile((-1.0, 2.0), (cells, 1))
    width = np.array([2.0 * math.pi / shape[0], 2.0 * reach / shape[1], 2.0 * reach / shape[2]])
    axes = np.column_stack([np.cos(turned), np.sin(turned)])
    return Grid(np.array(shape), np.full(2, -reach), origin, width, axes, model, factors, coefficients, limits)


@given(SEEDS, st.integers(1, 3), st.integers(1, 5))
def test_kernel_equals_numpy_twin(seed, along, degree):
    grid, rays = random_grid(seed, along, degree=degree), rays_around(seed, 12, reach=5.0)
    np.testing.assert_allclose(lines.predict(grid, rays), twin.predict(grid, rays), rtol=1e-9, atol=1e-9)


@given(SEEDS, st.integers(1, 5))
def test_tables_hold_all_terms_in_the_order_in_which_they_are_added(seed, degree):
    """Two polynomials, checked power by power; only NaN results are replaced."""
    grid = random_grid(seed, degree=degree, empty=0.0)
    table = pack(grid)
    most = max(degree, 3)
    powers = [(i, j, k) for i in range(most + 1) for j in range(most + 1 - i) for k in range(most + 1 - i - j)]
    powers.sort(reverse=True)
    turn, across, along = np.random.default_rng(seed).normal(size=3)
    said = table.rows[:, FIRST:] @ [turn**i * across**j * along**k for i, j, k in powers]
    terms = zip(grid.factors, grid.coefficients, strict=True)
    expected = [twin.polynomial(*each, (turn, across, along)) for each in terms]
    np.testing.assert_allclose(said, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(table.rows[:, :2], grid.limits)
    result = np.array([[1.5, np.nan]])
    look(table, np.zeros((1, 3)), turned(np.zeros(1)), turned(np.zeros(2)), 0.0, np.zeros(1, np.int64), result)
    assert result[0].tolist() == [1.5, lines.predict(grid, np.zeros((1, 3)))[0]]


@given(SEEDS, st.floats(-3.0, 3.0))
def test_a_step_along_the_ray_shortens_the_range_by_the_step(seed, step):
    grid = random_grid(seed, along=1, empty=0.0)
    grid.factors[grid.factors == 2] = 1
    rays = rays_around(seed, 8)
    before = lines.predict(grid, rays)
    cells, axis = grid.width[1] * grid.shape[1], np.floor(rays[:, 2] / grid.width[0])
    moved = rays + step * np.column_stack([np.cos(rays[:, 2]), np.sin(rays[:, 2]), np.zeros(8)])
    if grid.shape[1] == 1:  # otherwise the weights of cells change, since cells are not exactly aligned with the ray
        np.testing.assert_allclose(lines.predict(grid, moved), before - step, atol=1e-9)
    along = rays.copy()
    along[:, 2] = axis * grid.width[0]
    moved = along + step * np.column_stack([np.cos(along[:, 2]), np.sin(along[:, 2]), np.zeros(8)])
    assert cells > 0.0
    np.testing.assert_allclose(lines.predict(grid, moved), lines.predict(grid, along) - step, atol=1e-8)


@given(st.sampled_from([0.0, -0.0, -1e-20, -1e-300, 5e-17, -5e-17, 2.0 * math.pi, -2.0 * math.pi, 1e3]), SEEDS)
def test_predictions_are_continuous_across_direction_zero(direction, seed):
    grid = random_grid(seed, empty=0.0)
    ray = np.array([[0.3, -0.2, direction]])
    near = np.array([[0.3, -0.2, direction % (2.0 * math.pi) + 1e-12]])
    assert lines.predict(grid, ray)[0] == pytest.approx(lines.predict(grid, near)[0], abs=1e-6)


@pytest.mark.parametrize("direction", [-1e-20, -5e-17, 2.0 * math.pi])
def test_rays_around_direction_zero_can_be_fitted(direction):
    rays = rays_around(0, 40)
    rays[:, 2] = direction
    grid = lines.fit(samples(rays, walls(rays)), (30.0, WIDE, WIDE), 2, 5)
    np.testing.assert_allclose(lines.predict(grid, rays), walls(rays), atol=1e-6)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e308])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_nan_and_infinity_do_not_index_cells(bad, place):
    grid, rays = random_grid(0, empty=0.0), rays_around(0, 3)
    rays[1, place] = bad
    found = lines.predict(grid, rays)
    assert np.isfinite(found[[0, 2]]).all()
    assert np.isnan(found[1]) or math.isfinite(bad)


@settings(max_examples=3 if SLOW else 15)
@given(SEEDS, st.sampled_from([(30.0, WIDE, WIDE), (60.0, 1.6, WIDE), (60.0, 2.0, 2.0)]))
def test_a_constant_is_predicted_exactly(seed, widths):
    """Weights of overlapping cells add up to 1."""
    rays = rays_around(seed, 300 if SLOW else 1500)
    grid = lines.fit(samples(rays, np.full(len(rays), 3.7)), widths, 2, 6)
    grid.limits[:] = -99.0, 99.0
    asked = rays_around(seed + 1, 100, reach=0.8)
    found = lines.predict(grid, asked)
    known = np.isfinite(found)
    assert known.mean() > 0.5
    np.testing.assert_allclose(found[known], 3.7, atol=1e-6)


def test_ranges_in_a_room_are_predicted_to_centimetres():
    rays = rays_around(0, 2000 if SLOW else 12_000)
    grid = lines.fit(samples(rays, walls(rays)), (7.5, 1.2, WIDE), 3, 12)
    asked = rays_around(1, 500, reach=1.2)
    wrong = np.abs(lines.predict(grid, asked) - walls(asked))
    assert np.nanmedian(wrong) < 0.05 if SLOW else np.nanmedian(wrong) < 0.01
    assert np.nanmean(wrong) < (0.2 if SLOW else 0.05), "corners are hard"


def test_a_fitted_model_also_shortens_ranges_by_the_step():
    rays = rays_around(0, 1500)
    rays[:, 2] = np.random.default_rng(1).uniform(-0.4, 0.4, len(rays))
    grid = lines.fit(samples(rays, walls(rays)), (30.0, WIDE, WIDE), 3, 12)
    asked = np.array([[-1.0, 0.2, 0.1], [-0.5, -0.4, -0.2]])
    step = 0.7 * np.column_stack([np.cos(asked[:, 2]), np.sin(asked[:, 2]), np.zeros(2)])
    np.testing.assert_allclose(lines.predict(grid, asked + step), lines.predict(grid, asked) - 0.7, atol=0.01)


def test_directions_without_samples_give_nan():
    rays = rays_around(0, 400)
    rays[:, 2] = np.random.default_rng(1).uniform(-0.2, 0.2, len(rays))
    grid = lines.fit(samples(rays, walls(rays)), (30.0, WIDE, WIDE), 2, 6)
    found = lines.predict(grid, np.array([[0.0, 0.0, direction] for direction in (0.0, 0.1, math.pi, 0.5 * math.pi)]))
    assert np.isfinite(found[:2]).all()
    assert np.isnan(found[2:]).all()


@pytest.mark.parametrize("count", [1, 2, 5, 11, 12, 13])
def test_few_samples_give_few_polynomials_or_none(count):
    rays = rays_around(0, count)
    rays[:, 2] = 0.1
    for widths in ((30.0, WIDE, WIDE), (15.0, 0.5, 0.5)):
        grid = lines.fit(samples(rays, walls(rays)), widths, 3, 12)
        found = lines.predict(grid, rays)
        if count < lines.MIN_SAMPLES:
            assert len(grid.coefficients) == 0
            assert np.isnan(found).all()
    grid = lines.fit(samples(rays, walls(rays)), (30.0, WIDE, WIDE), 3, 12)
    assert (count >= lines.MIN_SAMPLES) == np.isfinite(lines.predict(grid, rays)).all()


def test_a_single_position_and_a_distant_outlier_can_be_fitted():
    rays = np.zeros((40, 3))
    rays[:, 2] = np.linspace(-0.4, 0.4, 40)
    grid = lines.fit(samples(rays, walls(rays)), (30.0, 0.5, 1.0), 2, 6)
    np.testing.assert_allclose(lines.predict(grid, rays), walls(rays), atol=0.05)
    rays[3, 0] = 1e7
    grid = lines.fit(samples(rays, np.full(40, 2.0)), (7.5, 0.5, 1.0), 2, 6)
    assert grid.shape[1:].tolist() == [lines.MAX_CELLS, lines.MAX_CELLS]


def test_an_equation_is_readable():
    grid = random_grid(0)
    grid.factors[0], grid.coefficients[0] = [[-1, -1], [0, 0], [1, 2]], [3.25, -0.5, 0.0]
    assert lines.equation(grid, 0) == "range = 3.25 - 0.5 turn^2 - ahead"


def test_a_ray_needs_the_least_share_of_known_cells():
    grid = random_grid(0)
    rays = np.random.default_rng(1).uniform((-3.0, -3.0, -math.pi), (3.0, 3.0, math.pi), (200, 3))
    found = [lines.predict(grid, rays, least) for least in (0.0, 0.5, 0.95)]
    unknown = [int(np.isnan(each).sum()) for each in found]
    assert unknown[0] < unknown[1] < unknown[2]
    for each in found[1:]:
        known = np.isfinite(each)
        np.testing.assert_array_equal(each[known], found[0][known])


def test_turned_and_settle_equal_numpy():
    rng = np.random.default_rng(0)
    angles = rng.uniform(-9.0, 9.0, 50)
    np.testing.assert_allclose(turned(angles), np.column_stack([angles, np.cos(angles), np.sin(angles)]), rtol=1e-14)
    ranges = np.where(rng.random((40, 6)) < 0.3, np.nan, rng.uniform(0.0, 9.0, (40, 6)))
    expected = np.clip(np.where(np.isnan(ranges), np.arange(6.0), ranges), 1.5, 4.5)
    settle(ranges, np.arange(6.0), 1.5, 4.5)
    np.testing.assert_array_equal(ranges, expected)


def test_a_tour_visits_every_pose_once_and_neighbours_one_after_the_other():
    poses = np.random.default_rng(0).uniform((-3.0, 5.0, -9.0), (7.0, 6.0, 9.0), (2000, 3))
    poses[5, 0], poses[6, 2], poses[7, 1] = np.nan, np.inf, np.inf
    order = tour(poses, turned(poses[:, 2]))
    np.testing.assert_array_equal(np.sort(order), np.arange(2000))
    fine = np.random.default_rng(1).uniform((-3.0, 5.0, -9.0), (7.0, 6.0, 9.0), (2000, 3))
    steps = np.abs(np.diff(fine[tour(fine, turned(fine[:, 2])), 0]))
    assert np.median(steps) < 0.1 * np.median(np.abs(np.diff(fine[:, 0])))
    same = np.tile(fine[:1], (1500, 1))
    np.testing.assert_array_equal(tour(same, turned(same[:, 2])), np.arange(1500))
    np.testing.assert_array_equal(tour(fine[:10], turned(fine[:10, 2])), np.arange(10))
