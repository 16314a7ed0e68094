"""Length of the shortest path over the free floor to a goal."""

import numpy as np
from scipy import ndimage, sparse
from scipy.sparse import csgraph

from sandlot.typing import Array
from sandlot.worlds.indoor.floor import Floor

STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""To half of the eight neighbours of a square; the others follow by symmetry."""


class Paths:
    """The free squares of a floor as a graph whose edges join all eight neighbours."""

    def __init__(self, floor: Floor) -> None:
        """Of this floor."""
        self._floor, free = floor, floor.free
        ny, nx = free.shape
        number = np.arange(free.size).reshape(free.shape)
        edges = []
        for down, right in STEPS:
            rows, later = slice(0, ny - down), slice(down, ny)
            columns, beside = slice(max(-right, 0), nx - max(right, 0)), slice(max(right, 0), nx + min(right, 0))
            both = free[rows, columns] & free[later, beside]
            one, other = number[rows, columns][both], number[later, beside][both]
            edges.append((one, other, np.full(len(one), floor.spacing * np.hypot(down, right))))
        one, other, length = (np.concatenate(each) for each in zip(*edges, strict=True))
        self._graph = sparse.csr_matrix((length, (one, other)), (free.size, free.size))
        # The nearest free square of each square, for robots that touch a wall.
        self._nearest = ndimage.distance_transform_edt(~free, return_distances=False, return_indices=True)

    def lengths_to(self, goal: Array) -> Array:
        """Length of the shortest path from each free square to a goal (2,) [m]: (ny, nx); infinite elsewhere."""
        row, column = self._square(goal)
        shape = self._floor.free.shape
        found: Array = csgraph.dijkstra(self._graph, directed=False, indices=row * shape[1] + column)
        return found.reshape(shape)

    def length(self, lengths: Array, place: Array, goal: Array) -> float:
        """Length of the shortest path from a place (2,) to the goal (2,) of ``lengths`` [m].

        The first and the last piece of it are straight, so that it changes as smoothly as the place does.
        """
        straight = float(np.hypot(*(goal - place)))
        if straight < 2.0 * self._floor.spacing:
            return straight
        row, column = self._square(place)
        rows = np.arange(max(row - 1, 0), min(row + 2, lengths.shape[0]))
        columns = np.arange(max(column - 1, 0), min(column + 2, lengths.shape[1]))
        x, y = (self._floor.corner[k] + self._floor.spacing * (each + 0.5) for k, each in enumerate((columns, rows)))
        first = np.hypot(x[None, :] - place[0], y[:, None] - place[1])
        return max(float((lengths[np.ix_(rows, columns)] + first).min()), straight)

    def _square(self, place: Array) -> tuple[int, int]:
        """Row and column of the free square that is nearest to the one of a place."""
        column, row = ((place - self._floor.corner) / self._floor.spacing).astype(int)
        rows, columns = self._floor.free.shape
        at = min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)
        return int(self._nearest[0][at]), int(self._nearest[1][at])
