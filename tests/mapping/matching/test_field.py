"""Local maps: likelihoods, their maxima over squares, and moments agree with plain NumPy."""

import numpy as np

from sandlot.mapping.matching.field import BLOCK, CELL, DEVIATION, STAMP, add_points, make_field

LEVELS = 4


def twin(points, half, cells):
    """Level 0 and the moments, cell by cell."""
    likelihood, moments = np.zeros((cells, cells)), np.zeros((cells // BLOCK, cells // BLOCK, 6))
    centres = (np.arange(cells) + 0.5) * CELL - half
    for x, y in points:
        if max(abs(x), abs(y)) >= half:
            continue
        column, row = np.floor((np.array([x, y]) + half) / CELL).astype(int)
        away = (centres[None, :] - x) ** 2 + (centres[:, None] - y) ** 2
        near = np.abs(np.arange(cells) - row)[:, None] <= STAMP
        near = near & (np.abs(np.arange(cells) - column)[None, :] <= STAMP)
        likelihood = np.maximum(likelihood, np.where(near, np.floor(255.0 * np.exp(-0.5 * away / DEVIATION**2)), 0.0))
        i, j = column // BLOCK, row // BLOCK
        dx, dy = x + half - (i + 0.5) * CELL * BLOCK, y + half - (j + 0.5) * CELL * BLOCK
        moments[j, i] += (1.0, dx, dy, dx * dx, dx * dy, dy * dy)
    return likelihood, moments


def test_points_raise_likelihoods_and_moments_as_in_numpy():
    points = np.random.default_rng(0).uniform(-1.3, 1.3, (60, 2))  # some are outside
    field = make_field(1.2, LEVELS)
    add_points(field, points[:30])
    add_points(field, points[30:])
    likelihood, moments = twin(points, field.half, field.likelihood.shape[1])
    np.testing.assert_allclose(field.likelihood[0], likelihood, atol=1.0)  # rounding down
    np.testing.assert_allclose(field.moments, moments, atol=1e-6)


def test_levels_are_maxima_over_squares():
    points = np.random.default_rng(1).uniform(-1.2, 1.2, (25, 2))
    field = make_field(1.2, LEVELS)
    for point in points:  # one at a time, so that only a part is computed again
        add_points(field, point[None])
    base = field.likelihood[0]
    for level in range(LEVELS):
        width = 2**level
        expected = np.array(
            [[base[r : r + width, c : c + width].max() for c in range(len(base))] for r in range(len(base))]
        )
        np.testing.assert_array_equal(field.likelihood[level], expected)
