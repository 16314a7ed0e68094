"""What a rover sees of the ground below it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.physics.height_map import height_between
from sandlot.surrogates.terrain.feet import make_ground
from sandlot.surrogates.terrain.looking import Support, look, width_of
from sandlot.surrogates.terrain.shape import shape_of

SHAPE = shape_of("wheeled")
SUPPORT = Support(SHAPE.samples, SHAPE.groups, SHAPE.plane)


def looked(heights, initial, x, y, yaw, wrap, yields=True):
    ny, nx = heights.shape
    corner = -0.005 * (nx - 1), -0.005 * (ny - 1)
    ground = make_ground(heights, corner, 0.01, wrap)
    seen = np.zeros(width_of(len(SHAPE.samples), len(SHAPE.groups)))
    middle = look(SUPPORT, ground, 1, initial, yields, x, y, yaw, seen)
    return np.array([*seen[-2:], middle]), seen


@given(st.integers(0, 2**32), st.floats(-2.0, 2.0), st.floats(-2.0, 2.0), st.floats(-3.1, 3.1), st.booleans())
def test_it_equals_its_numpy_twin(seed, x, y, yaw, wrap):
    rng = np.random.default_rng(seed)
    initial = rng.normal(size=(50, 70))
    heights = initial - rng.uniform(0.0, 0.1, initial.shape)
    plane, seen = looked(heights, initial, x, y, yaw, wrap)
    turn = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
    columns, rows = ((SHAPE.samples @ turn + (x, y) + (0.345, 0.245)) / 0.01).T
    below, first = (
        np.array([height_between(each, r, c, wrap) for r, c in zip(rows, columns, strict=True)])
        for each in (heights, initial)
    )
    np.testing.assert_allclose(plane, SHAPE.plane @ below, atol=1e-9)
    flat = np.column_stack([SHAPE.samples, np.ones(len(SHAPE.samples))]) @ plane
    count = len(SHAPE.samples)
    np.testing.assert_allclose(seen[:count], below - flat, atol=1e-9)
    np.testing.assert_allclose(seen[count:-2], SHAPE.groups @ (first - below), atol=1e-9)
    rigid_plane, rigid = looked(heights, initial, x, y, yaw, wrap, yields=False)
    np.testing.assert_allclose(rigid_plane, plane, atol=1e-12)
    np.testing.assert_allclose(rigid[:count], seen[:count], atol=1e-12)
    np.testing.assert_array_equal(rigid[count:-2], 0.0)


def test_a_slope_is_seen_as_a_plane():
    y, x = np.mgrid[-30:31, -30:31] * 0.01
    heights = 0.2 * x - 0.1 * y + 1.0
    (ahead, left, middle), seen = looked(heights, heights, 0.05, -0.02, 0.5, False)
    assert ahead == pytest.approx(0.2 * np.cos(0.5) - 0.1 * np.sin(0.5))
    assert left == pytest.approx(-0.2 * np.sin(0.5) - 0.1 * np.cos(0.5))
    assert middle == pytest.approx(1.0 + 0.2 * 0.05 + 0.1 * 0.02)
    np.testing.assert_allclose(seen[:-2], 0.0, atol=1e-12)
