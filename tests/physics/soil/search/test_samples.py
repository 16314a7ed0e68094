"""Blocks of cells, searched with vector instructions, give what single lines give."""

import numpy as np
import pytest

from sandlot.physics import shapes
from sandlot.physics.soil.search.nodes import BLOCK_SIZE, CELLS
from sandlot.physics.soil.search.samples import (
    all_faces,
    lowest_of_any,
    lowest_of_box,
    lowest_of_sphere,
    lowest_of_wheel,
)
from twins import soil as twin

FINE = 0.01


def some_cells(rng, count, wide):
    """Cells at random places, that a shape may touch."""
    cells = np.zeros(1, CELLS)[0]
    cells["x0"][:count], cells["y0"][:count] = rng.uniform(-wide, wide, (2, count))
    return cells


@pytest.mark.parametrize("count", [1, 8, 13, BLOCK_SIZE])
def test_a_sphere_above_cells_is_as_low_as_above_single_lines(count):
    rng, radius, position = np.random.default_rng(count), 0.03, (0.004, -0.006, 0.02)
    cells = some_cells(rng, count, 0.05)
    lowest_of_sphere(cells, count, radius, position, FINE)
    partly = 0
    for k in range(count):
        p = (cells["x0"][k] - position[0], cells["y0"][k] - position[1], -position[2])
        low, covered = shapes.lowest(shapes.SPHERE, (radius, 0.0, 0.0), p, (0.0, 0.0, 1.0), FINE)
        assert cells["covered"][k] == pytest.approx(covered, abs=1e-12)
        if covered > 0.0:
            assert cells["low"][k] == pytest.approx(low, abs=1e-12)
        partly += 0.0 < covered < 1.0
    assert partly > 0 or count < BLOCK_SIZE


@pytest.mark.parametrize("tilt", [0.0, 0.1, 0.3, 0.8, 1.4, 3.0])
def test_a_box_above_cells_is_as_low_as_above_single_lines(tilt):
    rng, size, position = np.random.default_rng(1), (0.05, 0.03, 0.04), (0.01, -0.02, 0.05)
    touched = 0
    for turn in np.linspace(0.0, 3.0, 7):
        mat = np.ravel(twin.about(2, turn) @ twin.about(0, tilt) @ twin.about(1, 0.5 * tilt))
        cells, single = some_cells(rng, BLOCK_SIZE, 0.08), np.zeros(1, CELLS)[0]
        single["x0"], single["y0"] = cells["x0"], cells["y0"]
        lowest_of_box(cells, BLOCK_SIZE, all_faces(size, mat), position, mat, FINE)
        lowest_of_any(single, BLOCK_SIZE, shapes.BOX, size, position, mat, FINE)
        hit = single["covered"] > 0.0
        assert cells["covered"] == pytest.approx(single["covered"], abs=1e-9)
        assert cells["low"][hit] == pytest.approx(single["low"][hit], abs=1e-9)
        touched += hit.sum()
    assert touched > 50


@pytest.mark.parametrize("tilt", [0.0, 0.1, 0.19, 0.21, 0.8, 1.3])
def test_a_wheel_above_cells_has_the_bits_of_single_lines(tilt):
    rng, size, position = np.random.default_rng(1), (0.05, 0.03, 0.0), (0.01, -0.02, 0.05)
    touched = 0
    for turn in np.linspace(0.0, 3.0, 7):
        mat = np.ravel(twin.about(2, turn) @ twin.about(0, 0.5 * np.pi - tilt) @ twin.about(2, 0.3))
        cells, single = some_cells(rng, BLOCK_SIZE, 0.08), np.zeros(1, CELLS)[0]
        single["x0"], single["y0"] = cells["x0"], cells["y0"]
        lowest_of_wheel(cells, BLOCK_SIZE, size, position, mat, FINE)
        lowest_of_any(single, BLOCK_SIZE, shapes.CYLINDER, size, position, mat, FINE)
        hit = single["covered"] > 0.0
        assert np.array_equal(cells["covered"], single["covered"])
        assert np.array_equal(cells["low"][hit], single["low"][hit])
        touched += hit.sum()
    assert touched > 50
