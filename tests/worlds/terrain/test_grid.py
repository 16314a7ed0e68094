"""The grid of a height map, and heights between its nodes."""

import numpy as np
import pytest

from sandlot.physics.height_map import height_between
from sandlot.worlds.terrain.grid import Grid, sample_patch


def test_sampling_between_nodes_and_beyond_the_edge():
    field = np.arange(12.0).reshape(3, 4)
    assert height_between(field, 1.5, 2.25, False) == pytest.approx(0.75 * (6 + 10) / 2 + 0.25 * (7 + 11) / 2)
    assert height_between(field, -5.0, 1.0, False) == 1.0
    assert height_between(field, -1.0, 1.0, True) == 9.0
    assert height_between(field, 2.5, 4.0, True) == pytest.approx((8 + 0) / 2)
    patch = np.zeros((3, 3))
    sample_patch(field, 1.0, 1.0, 0.0, False, 1.0, 0.0, patch)
    assert np.array_equal(patch, field[:3, :3])


def test_nodes_and_places_are_inverse_and_wrap():
    points = np.array([[0.01, -0.02, 5.0], [0.29, 0.31, 5.0], [-0.4, 0.2, 5.0]])
    grid = Grid((60, 80), 0.01, wrap=False)
    assert grid.size.tolist() == pytest.approx([0.8, 0.6])
    assert grid.places(grid.nodes(points)) == pytest.approx(points[:, :2])
    assert grid.nodes(np.array([[*grid.corner]])) == pytest.approx(np.zeros((1, 2)))
    wrapped = Grid((60, 80), 0.01, wrap=True)
    assert wrapped.places(wrapped.nodes(points))[1] == pytest.approx([0.29, -0.29])
    assert grid.contains(points[:1, :2])
    assert not grid.contains(points[:2, :2])
    assert wrapped.contains(points[:, :2])
