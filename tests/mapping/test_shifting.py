"""The source's measure of a maneuver's error: by shifting and rotating grids."""

import math

import numpy as np
import pytest

from sandlot.mapping.matching.points import scan_points
from sandlot.mapping.shifting import Discretisation, discretise, rotated, rotation_error, shifted, translation_error
from scan_drives import cluttered_room, scans_along

COARSE = Discretisation(size=7.0, resolution=0.08, blur=0.05)
FINE = Discretisation(size=12.0, resolution=0.04, blur=0.08)


def scanned(*pose, seed=0):
    return scan_points(scans_along(cluttered_room(8), np.array([pose]), seed)[0])


def test_a_grid_marks_cells_with_points():
    grid = discretise(np.array([(0.0, 0.0), (0.01, 0.01), (3.0, -1.0), (9.0, 0.0)]), COARSE)
    assert grid.shape == (87, 87)
    assert sorted(np.unique(grid)) == [0.0, 255.0]
    assert (grid > 0.0).sum() == 2
    assert grid[int(6.5 / 0.08), int(2.5 / 0.08)] == 255.0


def test_a_drive_forward_removes_rows_behind_and_adds_empty_ones_ahead():
    grid = discretise(np.random.default_rng(0).uniform(-3.5, 3.5, (300, 2)), COARSE)
    after = shifted(grid, 2.0, COARSE)  # 25 cells, as in figure 30
    np.testing.assert_array_equal(after[:-25], grid[25:])
    assert (after[-25:] == 0.0).all()
    np.testing.assert_array_equal(shifted(grid, -2.0, COARSE)[25:], grid[:-25])


def test_a_rotated_grid_stays_binary():
    grid = discretise(np.array([(2.0, 0.0), (1.0, 1.0)]), COARSE)
    after = rotated(grid, math.pi / 2, COARSE)  # a robot that turns left sees what was ahead on its right
    assert sorted(np.unique(after)) == [0.0, 255.0]
    assert after[int(3.5 / 0.08), int(1.5 / 0.08)] == 255.0


def test_a_drive_that_ends_early_is_measured():
    error = translation_error(scanned(-0.5, 0.0, 0.0), scanned(0.5, 0.0, 0.0, seed=1), 1.4, FINE)
    assert error.value == pytest.approx(-0.4, abs=0.04)


def test_a_turn_that_goes_too_far_is_measured():
    error = rotation_error(scanned(0.0, 0.0, 0.0), scanned(0.0, 0.0, math.radians(97.0), seed=1), math.pi / 2, FINE)
    assert error.value == pytest.approx(math.radians(7.0), abs=math.radians(0.75))
