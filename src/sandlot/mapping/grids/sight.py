"""Compiled: which cells the beams of a scan cross, and in which they end.

A kernel marks cells and appends their indices to a list, so that nothing else of a large map is looked at. A cell is
marked once a scan, and marks that are already set stay: where one beam ends, others that pass do not make it free.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.mapping.grids.geometry import FREE, WALL, Kinds
from sandlot.typing import Array


@kernel(error_model="numpy", allocates=False)
def mark(row: int, column: int, kind: int, marks: Kinds, reached: NDArray[np.int32], count: int) -> int:
    """Mark a cell, if it is inside and not marked yet; returns the new length of the list."""
    if 0 <= row < marks.shape[0] and 0 <= column < marks.shape[1] and marks[row, column] == 0:
        marks[row, column] = kind
        reached[count] = row * marks.shape[1] + column
        count += 1
    return count


@kernel(error_model="numpy", nogil=True, allocates=False)
def mark_ends(ends: Array, marks: Kinds, reached: NDArray[np.int32], count: int) -> int:
    """Mark the cells in which beams end as walls.

    Args:
        ends: (n, 2) x, y [cell].
        marks: (rows, columns) changed in place.
        reached: Indices of marked cells, appended to in place.
        count: Length of that list.

    Returns:
        The new length.
    """
    for k in range(ends.shape[0]):
        count = mark(math.floor(ends[k, 1]), math.floor(ends[k, 0]), WALL, marks, reached, count)
    return count


@kernel(error_model="numpy", nogil=True, allocates=False)
def mark_rays(centre: Array, ends: Array, marks: Kinds, reached: NDArray[np.int32], count: int) -> int:
    """Mark all cells that beams cross before the cell in which they end as free (Amanatides and Woo 1987).

    Args:
        centre: (2,) x, y from which the beams come [cell].
        ends: (n, 2) x, y [cell].
        marks: (rows, columns) changed in place.
        reached: Indices of marked cells, appended to in place.
        count: Length of that list.

    Returns:
        The new length.
    """
    x, y, flat = centre[0], centre[1], marks.reshape(-1)
    rows, columns = marks.shape
    for k in range(ends.shape[0]):
        dx, dy = ends[k, 0] - x, ends[k, 1] - y
        row, column = math.floor(y), math.floor(x)
        last_row, last_column = math.floor(ends[k, 1]), math.floor(ends[k, 0])
        right, up = (1 if dx > 0.0 else -1), (1 if dy > 0.0 else -1)
        # Share of the beam at which it enters the next column and the next row, and from one to the one after.
        next_x = (column + (dx > 0.0) - x) / dx if dx != 0.0 else math.inf
        next_y = (row + (dy > 0.0) - y) / dy if dy != 0.0 else math.inf
        step_x = abs(1.0 / dx) if dx != 0.0 else math.inf
        step_y = abs(1.0 / dy) if dy != 0.0 else math.inf
        whole = (
            min(row, last_row) >= 0
            and max(row, last_row) < rows
            and min(column, last_column) >= 0
            and max(column, last_column) < columns
        )
        index, over = row * columns + column, up * columns
        for _ in range(abs(last_column - column) + abs(last_row - row)):
            if (whole or (0 <= row < rows and 0 <= column < columns)) and flat[index] == 0:
                flat[index] = FREE
                reached[count] = index
                count += 1
            if next_x < next_y:
                column += right
                index += right
                next_x += step_x
            else:
                row += up
                index += over
                next_y += step_y
    return count
