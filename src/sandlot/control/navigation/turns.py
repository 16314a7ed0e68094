"""From a path of cells to a few straight moves: the source's turns (6.8.3), and shortening by line of sight."""

import math

import numpy as np

from sandlot.control.navigation.astar import Weights
from sandlot.kernels import kernel
from sandlot.mapping.features.clusters import cluster
from sandlot.typing import IntArray

NEAR = 6.0
"""Turns within this distance of each other are one clump [cell]; the source gives no number."""


def find_turns(cells: IntArray) -> IntArray:
    """The cells of a path (n, 2) at which its direction changes, with its first and last cell: (m, 2)."""
    if len(cells) < 3:
        return cells
    steps = np.diff(cells, axis=0)
    changes = (np.diff(steps, axis=0) != 0).any(axis=1)
    return cells[np.concatenate([[True], changes, [True]])]


def cluster_turns(turns: IntArray, distance: float = NEAR) -> IntArray:
    """Replace each clump of turns (n, 2) by its first and its last: (m, 2).

    Args:
        turns: In the order of the path.
        distance: Turns within this distance are of one clump [cell].
    """
    if len(turns) < 3:
        return turns
    labels = cluster(turns.astype(np.float64), distance)
    # A path may pass a clump twice: only turns that follow each other are of one.
    edges = np.flatnonzero(np.diff(labels)) + 1
    kept = np.unique(np.concatenate([[0], edges - 1, edges, [len(turns) - 1]]))
    return turns[kept]


def shorten(cells: IntArray, weights: Weights) -> IntArray:
    """Leave out cells of a path (n, 2) where the straight way costs no more: (m, 2).

    From each kept cell it goes straight to the furthest later cell that it can. The straight way must not cross blocked
    cells, and its length times weights must not exceed that of the path by more than rounding.
    """
    if len(cells) < 3:
        return cells
    return cells[pull(np.ascontiguousarray(cells), weights)]


@kernel(error_model="numpy", nogil=True)
def pull(cells: IntArray, weights: Weights) -> IntArray:
    """Indices of the cells that `shorten` keeps."""
    count = cells.shape[0]
    before = np.zeros(count)  # cost of the path up to each cell
    for k in range(1, count):
        row, column = cells[k]
        step = math.hypot(row - cells[k - 1, 0], column - cells[k - 1, 1])
        before[k] = before[k - 1] + step * weights[row, column]
    kept = [0]
    here = 0
    while here < count - 1:
        best = here + 1
        for k in range(here + 2, count):
            cost = straight(cells[here, 0], cells[here, 1], cells[k, 0], cells[k, 1], weights)
            if cost < math.inf and cost <= 1.01 * (before[k] - before[here]) + 1.0:
                best = k
        kept.append(best)
        here = best
    return np.array(kept)


@kernel(error_model="numpy", allocates=False)
def straight(row: int, column: int, to_row: int, to_column: int, weights: Weights) -> float:
    """Length of the straight line between two cells times its weights [cell]; infinite if a cell on it is blocked."""
    length = math.hypot(to_row - row, to_column - column)
    steps = 2 * max(abs(to_row - row), abs(to_column - column))
    total = 0.0
    for k in range(1, steps + 1):
        i = math.floor(row + 0.5 + (to_row - row) * k / steps)
        j = math.floor(column + 0.5 + (to_column - column) * k / steps)
        if weights[i, j] == 0:
            return math.inf
        total += weights[i, j]
    return length * total / max(steps, 1)
