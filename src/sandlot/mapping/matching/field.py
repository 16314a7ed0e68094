"""A local map to match scans with: likelihoods to search in, and moments of the points in each block to refine with."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.typing import Array

CELL = 0.05
"""Length of a likelihood cell [m]."""
BLOCK = 2
"""A cell of moments is so many likelihood cells wide."""
DEVIATION = 0.05
"""Standard deviation of a point's likelihood [m]."""
STAMP = 3
"""A point raises likelihoods of cells up to this many cells away."""
MOMENTS = 6


class Field(NamedTuple):
    """A square local map, centred on the origin of its frame.

    Attributes:
        likelihood: (levels, cells, cells) by row (y) and column (x), 0 to 255. Level 0 is largest at measured points.
            Level h holds the maximum of level 0 over 2**h x 2**h cells from that cell on to larger x and y.
        moments: (blocks, blocks, 6) of the points in each block: their number, sums of x and y, and of x*x, x*y and
            y*y, relative to the block's centre [m, m2].
        half: Half the width of the map [m].
    """

    likelihood: NDArray[np.uint8]
    moments: NDArray[np.float32]
    half: float


def make_field(half: float, levels: int) -> Field:
    """An empty local map.

    Args:
        half: Half its width [m].
        levels: Of its likelihoods.
    """
    blocks = 2 * math.ceil(half / (CELL * BLOCK))
    cells = BLOCK * blocks
    return Field(
        np.zeros((levels, cells, cells), np.uint8), np.zeros((blocks, blocks, MOMENTS), np.float32), 0.5 * cells * CELL
    )


@kernel(error_model="numpy", allocates=False)
def add_points(field: Field, points: Array) -> None:
    """Put points (n, 2) in the frame of the map [m] into it; those outside are left out."""
    cells, width, half = field.likelihood.shape[1], CELL * BLOCK, field.half
    left = low = cells
    right = high = -1
    for k in range(points.shape[0]):
        x, y = points[k, 0] + half, points[k, 1] + half
        if not (0.0 <= x < 2.0 * half and 0.0 <= y < 2.0 * half):
            continue
        i, j = int(x / width), int(y / width)
        dx, dy = x - (i + 0.5) * width, y - (j + 0.5) * width
        sums = field.moments[j, i]
        sums[0] += 1.0
        sums[1] += dx
        sums[2] += dy
        sums[3] += dx * dx
        sums[4] += dx * dy
        sums[5] += dy * dy
        column, row = int(x / CELL), int(y / CELL)
        for r in range(max(row - STAMP, 0), min(row + STAMP + 1, cells)):
            for c in range(max(column - STAMP, 0), min(column + STAMP + 1, cells)):
                away = ((c + 0.5) * CELL - x) ** 2 + ((r + 0.5) * CELL - y) ** 2
                value = np.uint8(255.0 * math.exp(-0.5 * away / DEVIATION**2))
                if value > field.likelihood[0, r, c]:
                    field.likelihood[0, r, c] = value
        left, right = min(left, column - STAMP), max(right, column + STAMP)
        low, high = min(low, row - STAMP), max(high, row + STAMP)
    if right >= 0:
        raise_levels(field.likelihood, max(left, 0), min(right, cells - 1), max(low, 0), min(high, cells - 1))


@kernel(error_model="numpy", allocates=False)
def raise_levels(likelihood: NDArray[np.uint8], left: int, right: int, low: int, high: int) -> None:
    """Compute the levels above 0 again where level 0 changed, between these columns and rows (inclusive)."""
    cells = likelihood.shape[1]
    for level in range(1, likelihood.shape[0]):
        step = 1 << (level - 1)
        before, found = likelihood[level - 1], likelihood[level]
        first_row, first_column = max(low - 2 * step + 1, 0), max(left - 2 * step + 1, 0)
        for r in range(first_row, high + 1):
            further = min(r + step, cells - 1)
            for c in range(first_column, right + 1):
                aside = min(c + step, cells - 1)
                found[r, c] = max(max(before[r, c], before[r, aside]), max(before[further, c], before[further, aside]))
