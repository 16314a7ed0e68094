"""Branch and bound finds what a search of all poses finds."""

import math

import numpy as np
import pytest

from sandlot.mapping.matching.field import CELL, add_points, make_field
from sandlot.mapping.matching.search import Window, branch_and_bound, rotated_cells, search


def brute_force(likelihood, cells, yaws, reach, window):
    """Score of every pose: (yaws, columns, rows)."""
    size, offsets = len(likelihood), np.arange(-reach, reach + 1)
    scores = np.empty((len(yaws), len(offsets), len(offsets)))
    for t, turn in enumerate(yaws):
        for a, column in enumerate(offsets):
            for b, row in enumerate(offsets):
                c, r = cells[t, :, 0] + column, cells[t, :, 1] + row
                inside = (c >= 0) & (c < size) & (r >= 0) & (r < size)
                total = likelihood[r[inside], c[inside]].sum(dtype=np.int64) / (255.0 * len(cells[t]))
                away = (
                    CELL**2 * (column**2 + row**2) / window.distance_deviation**2 + (turn / window.turn_deviation) ** 2
                )
                scores[t, a, b] = total - window.penalty * math.log(1.0 + 0.5 * away)
    return scores


@pytest.mark.parametrize("penalty", [0.0, 0.05])
@pytest.mark.parametrize("seed", range(3))
def test_branch_and_bound_finds_the_best_of_all_poses(seed, penalty):
    rng = np.random.default_rng(seed)
    field = make_field(1.0, 4)
    add_points(field, rng.uniform(-1.0, 1.0, (40, 2)))
    points, yaws = rng.uniform(-1.2, 1.2, (15, 2)), np.linspace(-0.4, 0.4, 5)
    window = Window(0.5, 0.4, 0.2, 0.2, penalty)
    cells = rotated_cells(points, np.array([0.1, -0.05, 0.3]), yaws, field.half)
    scores = brute_force(field.likelihood[0], cells, yaws, 10, window)
    column, row, turned, score = branch_and_bound(field.likelihood, cells, yaws, 10, window, 0.0)
    assert score == pytest.approx(scores.max(), abs=1e-12)
    assert scores[turned, column + 10, row + 10] == pytest.approx(score, abs=1e-12)


def test_rotated_cells_are_those_of_numpy():
    rng = np.random.default_rng(3)
    points, guess, yaws = rng.uniform(-3.0, 3.0, (20, 2)), np.array([0.4, -0.2, 2.0]), np.array([-0.3, 0.0, 0.2])
    found = rotated_cells(points, guess, yaws, 5.0)
    for turn, cells in zip(yaws, found, strict=True):
        c, s = np.cos(guess[2] + turn), np.sin(guess[2] + turn)
        expected = np.floor((points @ np.array([[c, s], [-s, c]]) + guess[:2] + 5.0) / CELL)
        np.testing.assert_array_equal(cells, expected)


def test_nothing_above_the_minimum_returns_the_minimum():
    field = make_field(1.0, 4)
    found = search(field, np.ones((5, 2)), np.zeros(3), Window(0.5, 0.2, 1.0, 1.0, 0.0), 0.25)
    assert found.score == 0.25
