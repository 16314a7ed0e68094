"""Length of the shortest path over the free floor to a goal."""

import math

import numpy as np
from scipy import ndimage

from sandlot.kernels import kernel
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.indoor.floor import Floor

DIAGONAL = math.sqrt(2.0)
"""Length of a diagonal step between squares; a straight one is 1."""


class Paths:
    """The free squares of a floor as a graph whose edges join all eight neighbours."""

    def __init__(self, floor: Floor) -> None:
        """Of this floor."""
        self._floor = floor
        # The nearest free square of each square, for robots that touch a wall: (2, ny, nx).
        nearest = ndimage.distance_transform_edt(~floor.free, return_distances=False, return_indices=True)
        self._nearest: IntArray = nearest.astype(np.int64)

    def lengths_to(self, goal: Array) -> Array:
        """Length of the shortest path from each free square to a goal (2,) [m]: (ny, nx); infinite elsewhere."""
        floor = self._floor
        lengths = np.full(floor.free.shape, np.inf)
        spread(floor.free, *nearest_square(goal[0], goal[1], floor.corner, floor.spacing, self._nearest), lengths)
        return floor.spacing * lengths

    def lengths(self, fields: Array, places: Array, goals: Array) -> Array:
        """Lengths of the shortest paths from places (n, 2) to goals (n, 2) [m], by `lengths_to` (n, ny, nx): (n,).

        The first and the last piece of a path are straight, so that it changes as smoothly as the place does.
        """
        found = np.empty(len(places))
        floor = self._floor
        measure_paths(
            fields,
            np.ascontiguousarray(places, np.float64),
            np.ascontiguousarray(goals, np.float64),
            floor.corner,
            floor.spacing,
            self._nearest,
            found,
        )
        return found


@kernel(error_model="numpy", allocates=False)
def nearest_square(x: float, y: float, corner: Array, spacing: float, nearest: IntArray) -> tuple[int, int]:
    """Row and column of the free square that is nearest to the one of a place [m]."""
    _, ny, nx = nearest.shape
    row = min(max(math.floor((y - corner[1]) / spacing), 0), ny - 1)
    column = min(max(math.floor((x - corner[0]) / spacing), 0), nx - 1)
    return nearest[0, row, column], nearest[1, row, column]


@kernel(error_model="numpy")
def spread(free: BoolArray, row: int, column: int, lengths: Array) -> None:
    """Find the shortest paths from a square over free squares, in squares.

    Squares wait in lists for lengths from 0 to 1, from 1 to 2, and so on. No step is shorter than 1, so that no square
    of a list can shorten the path to another one of it. No step is as long as 2: three lists are in use at a time.

    Args:
        free: (ny, nx)
        row: Of the square.
        column: Of the square.
        lengths: (ny, nx) infinite; filled.
    """
    ny, nx = free.shape
    waiting, counts = np.empty((3, 8 * free.size), np.int64), np.zeros(3, np.int64)
    lengths[row, column] = 0.0
    waiting[0, 0], counts[0] = row * nx + column, 1
    level = 0
    while counts.sum() > 0:
        here = level % 3
        for k in range(counts[here]):
            i, j = divmod(waiting[here, k], nx)
            length = lengths[i, j]
            if length < level:  # it had been put here before a shorter path was found
                continue
            for m in range(max(i - 1, 0), min(i + 2, ny)):
                for n in range(max(j - 1, 0), min(j + 2, nx)):
                    longer = length + (DIAGONAL if m != i and n != j else 1.0)
                    if free[m, n] and longer < lengths[m, n]:
                        lengths[m, n] = longer
                        to = int(longer) % 3
                        waiting[to, counts[to]] = m * nx + n
                        counts[to] += 1
        counts[here] = 0
        level += 1


@kernel(error_model="numpy", allocates=False)
def measure_paths(
    fields: Array, places: Array, goals: Array, corner: Array, spacing: float, nearest: IntArray, found: Array
) -> None:
    """The kernel of `Paths.lengths`.

    Args:
        fields: (n, ny, nx) lengths from squares to the goals [m].
        places: (n, 2) [m]
        goals: (n, 2) [m]
        corner: (2,) of the first square [m].
        spacing: Side of a square [m].
        nearest: (2, ny, nx) row and column of the free square that is nearest to each.
        found: (n,) filled [m].
    """
    ny, nx = fields.shape[1:]
    for k in range(len(places)):
        x, y = places[k, 0], places[k, 1]
        straight = math.hypot(goals[k, 0] - x, goals[k, 1] - y)
        best = math.inf
        if straight < 2.0 * spacing:
            best = straight
        else:
            row, column = nearest_square(x, y, corner, spacing, nearest)
            for i in range(max(row - 1, 0), min(row + 2, ny)):
                for j in range(max(column - 1, 0), min(column + 2, nx)):
                    first = math.hypot(corner[0] + spacing * (j + 0.5) - x, corner[1] + spacing * (i + 0.5) - y)
                    best = min(best, fields[k, i, j] + first)
        found[k] = max(best, straight)
