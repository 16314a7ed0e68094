"""Rays like Bullet's: compared with a plain twin, and with the exact level of a wheel."""

import itertools
import math

import numpy as np
import pytest

from sandlot.studies.terrain.bullet_rays import (
    BELOW,
    EDGE,
    EPSILON,
    FLAT,
    ITERATIONS,
    LENGTH,
    farthest,
    nearest,
    ray_end,
)

RADIUS, HALF = 0.25, 0.1


def plain_nearest(points):
    """Weights of the nearest point of a simplex to the origin: the best of all its faces, by least squares."""
    count = len(points)
    if count == 4:
        volumes = [np.linalg.det(points[list(face[1:])] - points[face[0]]) for face in itertools.permutations(range(4))]
        if min(abs(volume) for volume in volumes) < FLAT:
            return None
    best, least = None, np.inf
    for size in range(1, count + 1):
        for face in itertools.combinations(range(count), size):
            system = np.vstack([points[list(face)].T, 1e6 * np.ones(size)])
            weights = np.linalg.lstsq(system, np.array([0.0, 0.0, 0.0, 1e6]), rcond=None)[0]
            square = float(np.sum((weights @ points[list(face)]) ** 2))
            if np.all(weights > 1e-9) and square < least - 1e-15:
                best, least = np.zeros(count), square
                best[list(face)] = weights
    return None if count == 4 and np.all(best > 0.0) else best


def plain_ray(x, y, start):
    """As `ray_end`, with lists and without reuse of arrays."""
    tip, simplex, way, hit, last = np.array([x, y, start]), [], 0.0, False, None
    v = tip - np.array([0.0, HALF - EDGE, RADIUS])
    for _ in range(ITERATIONS):
        if v @ v <= EPSILON:
            break
        if way > LENGTH:
            return math.nan
        w = tip - farthest(RADIUS, HALF, v)
        if v @ w > 0.0:
            if v[2] >= 0.0:
                return math.nan
            way, hit = way - (v @ w) / v[2], True
            tip = np.array([x, y, start + way])
        if any((w - old) @ (w - old) <= EPSILON for old in simplex) or (last is not None and np.array_equal(w, last)):
            continue
        simplex, last = [*simplex, w], w
        weights = plain_nearest(np.array(simplex))
        if weights is None:
            break
        v = weights @ np.array(simplex)
        simplex = [old for old, weight in zip(simplex, weights, strict=True) if weight > 0.0]
    return start + way if hit and way < LENGTH else math.nan


def test_rays_end_where_those_of_a_plain_twin_do():
    rng = np.random.default_rng(0)
    for _ in range(150):
        x, y, surface = rng.uniform(-0.2, 0.2), rng.uniform(-HALF, HALF), rng.uniform(-0.25, -0.1)
        ours, plain = ray_end(RADIUS, HALF, x, y, surface - BELOW), plain_ray(x, y, surface - BELOW)
        assert ours == pytest.approx(plain, abs=1e-7, nan_ok=True)


def test_a_ray_ends_below_the_wheel_but_within_its_tolerance():
    rng = np.random.default_rng(1)
    errors = []
    for _ in range(500):
        x, y, surface = rng.uniform(-0.2, 0.2), rng.uniform(-0.08, 0.08), rng.uniform(-0.25, -0.1)
        errors.append(math.hypot(x, ray_end(RADIUS, HALF, x, y, surface - BELOW)) - RADIUS)
    assert min(errors) > -1e-9
    assert 0.003 < max(errors) < 0.0105


@pytest.mark.parametrize(("x", "y"), [(0.3, 0.0), (0.0, 0.13)])
def test_a_ray_beside_the_wheel_misses_it(x, y):
    assert math.isnan(ray_end(RADIUS, HALF, x, y, -0.6))


def test_the_farthest_point_of_a_cylinder_is_on_its_rounded_edge():
    down, corner = farthest(RADIUS, HALF, np.array([0.0, 0.0, -2.0])), np.array([0.0, 1.0, -1.0])
    assert down == pytest.approx([0.0, HALF - EDGE, -RADIUS])
    share = EDGE / math.sqrt(2.0)
    assert farthest(RADIUS, HALF, corner) == pytest.approx([0.0, HALF - EDGE + share, -RADIUS + EDGE - share])


def test_the_nearest_point_of_a_simplex_is_inside_an_edge_or_at_a_corner():
    points = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [2.0, 0.0, 0.0], [2.0, 0.0, 1.0]])
    assert nearest(points, 1) == pytest.approx([1.0, 0.0, 0.0, 0.0])
    assert nearest(points, 3) == pytest.approx([0.5, 0.5, 0.0, 0.0])
    assert nearest(points, 4) == pytest.approx([0.5, 0.5, 0.0, 0.0])
    assert nearest(points + np.array([1.0, 2.0, 0.0]), 3) == pytest.approx([1.0, 0.0, 0.0, 0.0])
    assert nearest(points - np.array([1.5, 0.1, 0.2]), 4) == pytest.approx(np.zeros(4)), "the origin is inside"
