"""Refinement: the local surface agrees with NumPy, and poses come out to a fraction of a cell."""

import math

import numpy as np
import pytest

from sandlot.mapping.matching.field import BLOCK, CELL, add_points, make_field
from sandlot.mapping.matching.refine import PRIOR_POINTS, refine, surface

NOISE = 0.02
WIDTH = CELL * BLOCK


def twin(points, half, x, y):
    """Mean offset and information around a point, from the map's points one by one."""
    centres = (np.floor((points + half) / WIDTH) + 0.5) * WIDTH - half
    gap = np.abs(centres - (x, y))
    near = np.abs(np.floor((points + half) / WIDTH) - np.floor((np.array([x, y]) + half) / WIDTH)).max(axis=1) <= 1
    weights = np.where(near, np.prod(1.0 - gap / (1.5 * WIDTH), axis=1), 0.0)
    if weights.sum() < 1e-3:
        return None
    mean = weights @ points / weights.sum()
    off = points - mean
    cov = (weights[:, None] * off).T @ off + PRIOR_POINTS * (WIDTH / 2) ** 2 * np.eye(2)
    values, vectors = np.linalg.eigh(cov / (weights.sum() + PRIOR_POINTS))
    small, large = values + NOISE**2
    info = (
        np.outer(vectors[:, 0], vectors[:, 0]) / small
        + np.outer(vectors[:, 1], vectors[:, 1]) * (small / large) ** 2 / large
    )
    return mean - (x, y), info


def wall_points(rng, count=2000):
    """Points on two walls and a diagonal one, with 5 mm of noise."""
    along, which = rng.uniform(-2.0, 2.0, count), rng.integers(0, 3, count)
    lines = np.array([[1.0, 0.0], [0.0, 1.0], [math.sqrt(0.5), math.sqrt(0.5)]])[which]
    normals = np.column_stack([-lines[:, 1], lines[:, 0]])
    return along[:, None] * lines + 1.5 * normals + rng.normal(0.0, 0.005, (count, 1)) * normals


def test_surface_agrees_with_numpy():
    rng = np.random.default_rng(0)
    points, field = wall_points(rng, 600), make_field(3.0, 1)
    add_points(field, points)
    asked = points[::20] + rng.normal(0.0, 0.05, (30, 2))
    known = 0
    for x, y in asked:
        total, mx, my, xx, xy, yy, _ = surface(field, x, y, NOISE)
        expected = twin(points, field.half, x, y)
        assert (total > 0.0) == (expected is not None)
        if expected is not None:
            known += 1
            np.testing.assert_allclose((mx, my), expected[0], atol=1e-5)
            np.testing.assert_allclose([[xx, xy], [xy, yy]], expected[1], rtol=1e-2, atol=1.0)
    assert known > 25


@pytest.mark.parametrize("seed", range(4))
def test_a_pose_is_refined_to_millimetres(seed):
    rng = np.random.default_rng(seed)
    field = make_field(4.0, 1)
    add_points(field, wall_points(rng))
    scan = wall_points(rng, 300)
    truth = np.array([0.0, 0.0, 0.0])
    start = rng.uniform((-0.05, -0.05, -0.03), (0.05, 0.05, 0.03))
    found = refine(field, scan, start, np.zeros(5), NOISE, 2.0)
    assert np.abs(found.pose - truth)[:2].max() < 0.005
    assert abs(found.pose[2]) < 0.003
    assert found.overlap > 0.95
    assert found.fit > 0.95


def test_a_prior_holds_what_points_do_not_determine():
    along = np.linspace(-3.0, 3.0, 400)
    walls = np.concatenate([np.column_stack([along, np.full(400, side)]) for side in (-1.0, 1.0)])
    field = make_field(4.0, 1)
    add_points(field, walls)
    prior = np.array([0.2, 0.05, 0.0, 100.0, 100.0])
    found = refine(field, walls[np.abs(walls[:, 0]) < 2.0], prior[:3].copy(), prior, NOISE, 2.0)
    assert found.pose[0] == pytest.approx(0.2, abs=0.01)
    assert found.pose[1] == pytest.approx(0.0, abs=0.005)
