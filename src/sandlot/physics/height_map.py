"""Heights between the nodes of a grid, by bilinear interpolation."""

import math

from sandlot.kernels import kernel
from sandlot.typing import Array


@kernel(error_model="numpy")
def height_between(heights: Array, row: float, column: float, wrap: bool) -> float:
    """Height between nodes [m].

    Args:
        heights: (ny, nx) [m]
        row: Position along y [node].
        column: Position along x [node].
        wrap: Whether the map continues at its opposite edge; if not, points outside get the height of the nearest edge.
    """
    ny, nx = heights.shape
    if not wrap:
        row, column = min(max(row, 0.0), ny - 1.0), min(max(column, 0.0), nx - 1.0)
    i, j = math.floor(row), math.floor(column)
    v, u = row - i, column - j
    below, above, left, right = i % ny, (i + 1) % ny, j % nx, (j + 1) % nx
    south = heights[below, left] * (1.0 - u) + heights[below, right] * u
    north = heights[above, left] * (1.0 - u) + heights[above, right] * u
    return south * (1.0 - v) + north * v


@kernel(error_model="numpy")
def heights_between(heights: Array, rows: Array, columns: Array, wrap: bool, found: Array) -> None:
    """`height_between` for many points: ``rows`` and ``columns`` (n,) [node], into ``found`` (n,) [m]."""
    for k in range(len(found)):
        found[k] = height_between(heights, rows[k], columns[k], wrap)
