"""A* over a grid: eight neighbours, Euclidean step lengths, and a weight for each cell (6.8.1).

Four things make it fast without changing the cost of its paths:

- The heuristic is a lower bound found on squares of cells (`bounds`), where much is in the way, or the octile distance.
  The Euclidean one of the source is smaller, so that many more cells are expanded.
- The open list is an array of buckets by cost. Costs are integers. Within a bucket the order is arbitrary; a cell that
  is reached more cheaply later is expanded again, so costs are exact.
- Most of the neighbours of a cell are reached as cheaply without it, and are left out (`successors`).
- While one neighbour remains, it is expanded next, without the open list.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.control.navigation.bounds import FAR, FEW, bound, lighten, search_corners
from sandlot.control.navigation.open_list import Costs, pop, push
from sandlot.control.navigation.successors import (
    ACROSS,
    DIAGONAL,
    DOWN,
    EVEN,
    NOWHERE,
    OPEN,
    STRAIGHT,
    TABLE,
    dominated,
    look_around,
)
from sandlot.control.navigation.successors import Weights as Weights  # part of the interface of this module
from sandlot.kernels import kernel
from sandlot.typing import IntArray

WIDTH = 64
"""Costs that a bucket holds."""
AHEAD = 32
"""A cell of so many buckets later may be expanded right after its neighbour."""
BUCKETS = 4096
"""More than the largest difference of estimated costs in the open list, less than 255 (2 SIDE + 1) DIAGONAL."""
RUN = 64
"""Cells that are expanded one after the other before the estimated cost of the last is looked at."""


class Path(NamedTuple):
    """A path over cells.

    Attributes:
        cells: (n, 2) row and column, from the start to the goal.
        cost: Sum of step lengths times weights [cell].
    """

    cells: IntArray
    cost: float


def find_path(weights: Weights, start: tuple[int, int], goal: tuple[int, int]) -> Path | None:
    """The cheapest path; diagonal steps need room on both sides.

    Args:
        weights: (rows, columns) of cells.
        start: Row and column; its weight does not matter.
        goal: Row and column.

    Returns:
        None if there is none.
    """
    if not (_inside(weights, start) and _inside(weights, goal)) or weights[goal] == 0:
        return None
    padded = np.pad(weights, 1)
    columns = padded.shape[1]
    first, last = ((row + 1) * columns + column + 1 for row, column in (start, goal))
    costs, came = expand(padded, first, last, TABLE)
    if costs[last] >= FAR:
        return None
    return Path(trace_back(came, columns, first, last) - 1, float(costs[last]) / STRAIGHT)


def travel_costs(weights: Weights, start: tuple[int, int]) -> NDArray[np.float32]:
    """Cost of the cheapest path from the start to every cell: (rows, columns) [cell], infinite if there is none."""
    padded = np.pad(weights, 1)
    costs, _ = expand(padded, (start[0] + 1) * padded.shape[1] + start[1] + 1, -1, TABLE)
    inner = costs.reshape(padded.shape)[1:-1, 1:-1]
    return np.where(inner >= FAR, np.float32(np.inf), inner.astype(np.float32) / np.float32(STRAIGHT))


def _inside(weights: Weights, cell: tuple[int, int]) -> bool:
    return 0 <= cell[0] < weights.shape[0] and 0 <= cell[1] < weights.shape[1]


@kernel(error_model="numpy", nogil=True)
def expand(weights: Weights, start: int, goal: int, table: Weights) -> tuple[Costs, Weights]:
    """Expand cells until the goal is reached as cheaply as possible.

    Args:
        weights: (rows, columns) with a border of 0.
        start: Index of the cell.
        goal: Index of the cell; -1 to expand all cells that can be reached.
        table: Directions to consider, see `successors.tabulate`.

    Returns:
        (cells,) cost of each cell, `FAR` if it was not reached; and (cells,) the direction of the step into it, with
        flags.
    """
    columns, flat = weights.shape[1], weights.reshape(-1)
    costs = np.full(flat.size, FAR, np.int32)
    free, came = np.zeros(flat.size, np.uint8), np.full(flat.size, NOWHERE, np.uint8)
    look_around(weights, free.reshape(weights.shape), came.reshape(weights.shape))
    steps, lowest = (DOWN * columns + ACROSS).astype(np.int32), np.zeros(256, np.int32)
    for bits in range(1, 256):  # straight ones first: of equal estimates, diagonal ones are expanded before them
        for d in (7, 5, 3, 1, 6, 4, 2, 0):
            if bits >> d & 1:
                lowest[bits] = d
    goal_row, goal_column, best, guided = goal // columns, goal % columns, FAR, False
    light, far = np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.int32)
    if goal >= 0:
        light, heavy = lighten(weights)
        guided = heavy * FEW > light.size
        if guided:
            far = search_corners(light, goal_row, goal_column, start // columns, start % columns)
    target = goal_row, goal_column, guided, far, light
    heads, pool, state = np.full(BUCKETS, -1, np.int32), np.empty((4096, 3), np.int32), np.array([0, -1, 0], np.int32)
    least = bound(start // columns, start % columns, *target) if goal >= 0 else 0
    bucket = least // WIDTH if least < FAR else 0  # a blocked start may have no bound
    costs[start], came[start] = 0, NOWHERE | OPEN
    push(start, start // columns, bucket, heads, pool, state)
    cell, row, known = 0, 0, False  # known: which cell to expand next, without the open list
    while known or state[2] > 0:
        if not known:
            entry = pop(bucket, heads, pool, state)
            if entry < 0:
                bucket += 1
                continue
            cell, row = pool[entry, 0], pool[entry, 1]
            if not came[cell] & OPEN:
                continue  # a cheaper entry of the same cell came first
            came[cell] -= OPEN
        known = False
        cost, flags = int(costs[cell]), int(came[cell])
        if best < FAR and cost + bound(row, cell - row * columns, *target) >= best:
            continue
        if state[0] + 8 > pool.shape[0]:
            pool = np.concatenate((pool, np.empty_like(pool)))
        todo = int(table[flags, free[cell]])
        if flags < NOWHERE:
            todo &= ~dominated(flat, cell, flags, int(free[cell]), steps)
        if todo & (todo - 1):  # several
            while todo:
                d = lowest[todo]
                todo ^= 1 << d
                other = cell + steps[d]
                reached = cost + (DIAGONAL if d & 1 else STRAIGHT) * int(flat[other])
                if reached >= costs[other]:
                    continue
                costs[other], came[other] = reached, (came[other] & EVEN) | d | OPEN
                if other == goal:
                    best = reached
                estimate, down = reached, row + DOWN[d]
                if goal >= 0:
                    estimate += bound(down, other - down * columns, *target)
                if estimate < FAR:
                    push(other, down, max(estimate // WIDTH, bucket), heads, pool, state)
            continue
        count = 0
        while todo and count < RUN and not todo & (todo - 1):  # one at a time
            d, alone = lowest[todo], todo
            step, down, length = steps[d], DOWN[d], DIAGONAL if d & 1 else STRAIGHT
            while todo == alone and count < RUN:  # in the same direction
                cell += step
                cost += length * int(flat[cell])
                if cost >= costs[cell]:
                    todo = 0
                    break
                row += down
                flags = int(came[cell] & EVEN) | d
                costs[cell], came[cell] = cost, flags
                if cell == goal:
                    best = cost
                todo = int(table[flags, free[cell]])
                if flags < NOWHERE:
                    todo &= ~dominated(flat, cell, d, int(free[cell]), steps)
                count += 1
        if todo:
            estimate = cost
            if goal >= 0:
                estimate += bound(row, cell - row * columns, *target)
            known = estimate // WIDTH <= bucket + AHEAD
            if not known and estimate < FAR:
                came[cell] |= OPEN
                push(cell, row, max(estimate // WIDTH, bucket), heads, pool, state)
    return costs, came


@kernel(error_model="numpy", nogil=True)
def trace_back(came: Weights, columns: int, start: int, goal: int) -> IntArray:
    """The cells of a path from the start to the goal: (n, 2) row and column."""
    steps, trail, cell, count = DOWN * columns + ACROSS, np.empty(4096, np.int32), goal, 1
    while cell != start:
        if count == trail.size:
            trail = np.concatenate((trail, np.empty_like(trail)))
        trail[count - 1] = cell
        cell -= steps[came[cell] & 7]
        count += 1
    trail[count - 1] = start
    cells = np.empty((count, 2), np.int64)
    for k in range(count):
        cell = trail[count - 1 - k]
        cells[k, 0], cells[k, 1] = cell // columns, cell % columns
    return cells


def length(cells: IntArray) -> float:
    """Of a path of cells (n, 2), straight from each to the next [cell]."""
    steps = np.diff(cells, axis=0)
    return float(math.fsum(np.hypot(steps[:, 0], steps[:, 1])))
