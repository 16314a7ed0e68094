"""A* over a grid: eight neighbours, Euclidean step lengths, and a weight for each cell (6.8.1).

Three things make it fast without changing its result:

- The heuristic is the octile distance, the exact length of a path on a grid without walls. The Euclidean one of the
  source is shorter, so that many more cells are expanded.
- The open list is an array of buckets by cost. Costs are integers: 70 straight, 99 diagonally, whose ratio is the root
  of two within 0.005%. Within a bucket the order is arbitrary; a cell that is reached more cheaply later is expanded
  again, so costs are exact.
- Among cells of equal weights, most of the neighbours of a cell are reached as cheaply without it. They are left out,
  as in jump point search (Harabor and Grastien 2011; for weights, Carlson et al. 2023): after a straight step only the
  cell ahead is considered, after a diagonal one three cells.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.typing import IntArray

STRAIGHT, DIAGONAL = 70, 99
"""Costs of a step to a cell of weight 1."""
WIDTH = 32
"""Costs that a bucket holds."""
AHEAD = 64
"""A cell of so many buckets later may be expanded right after its neighbour."""
BUCKETS = 2048
"""Reused in turn; more than 2 DIAGONAL 255 / WIDTH, the largest difference of costs in the open list."""
FAR = 2**30
"""Cost of cells that are not reached."""
NOWHERE, OPEN = 8, 16
"""Direction of the start; and flag of cells in the open list."""
Costs = NDArray[np.int32]
Weights = NDArray[np.uint8]
"""(rows, columns) factor of the cost of a step into a cell; 0 is blocked."""


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
    costs, came = expand(padded, first, last)
    if costs[last] >= FAR:
        return None
    trail = np.array(trace_back(came, columns, last), np.int64)[::-1]
    return Path(np.column_stack([trail // columns, trail % columns]) - 1, float(costs[last]) / STRAIGHT)


def travel_costs(weights: Weights, start: tuple[int, int]) -> NDArray[np.float32]:
    """Cost of the cheapest path from the start to every cell: (rows, columns) [cell], infinite if there is none."""
    padded = np.pad(weights, 1)
    costs, _ = expand(padded, (start[0] + 1) * padded.shape[1] + start[1] + 1, -1)
    inner = costs.reshape(padded.shape)[1:-1, 1:-1]
    return np.where(inner >= FAR, np.float32(np.inf), inner.astype(np.float32) / np.float32(STRAIGHT))


def _inside(weights: Weights, cell: tuple[int, int]) -> bool:
    return 0 <= cell[0] < weights.shape[0] and 0 <= cell[1] < weights.shape[1]


@kernel(error_model="numpy", allocates=False)
def offset(direction: int, columns: int) -> int:
    """From a cell to its neighbour; directions count counter-clockwise from the right, 0 to 7."""
    row = 1 if 1 <= direction <= 3 else -1 if direction >= 5 else 0
    column = -1 if 3 <= direction <= 5 else 0 if direction == 2 or direction == 6 else 1
    return row * columns + column


@kernel(error_model="numpy", allocates=False)
def octile(rows: int, columns: int) -> int:
    """Cost of the shortest path over so many rows and columns, if nothing is in the way."""
    down, across = abs(rows), abs(columns)
    return STRAIGHT * max(down, across) + (DIAGONAL - STRAIGHT) * min(down, across)


@kernel(error_model="numpy", nogil=True)
def find_even(weights: Weights) -> NDArray[np.bool_]:
    """Whether a cell and its eight neighbours have the same weight: (rows, columns), False at the border."""
    even = np.zeros(weights.shape, np.bool_)
    for i in range(1, weights.shape[0] - 1):
        low, row, high, out = weights[i - 1], weights[i], weights[i + 1], even[i]
        for j in range(1, weights.shape[1] - 1):
            w = row[j]
            sides = (row[j - 1] == w) & (row[j + 1] == w) & (low[j] == w) & (high[j] == w)
            corners = (low[j - 1] == w) & (low[j + 1] == w) & (high[j - 1] == w) & (high[j + 1] == w)
            out[j] = sides & corners
    return even


@kernel(error_model="numpy", allocates=False)
def push(cell: int, row: int, bucket: int, heads: Costs, pool: Costs, state: Costs) -> None:
    """Put a cell into a bucket of the open list.

    Args:
        cell: Index of the cell.
        row: Its row.
        bucket: Which.
        heads: (buckets,) first entry of each, or -1.
        pool: (entries, 3) cell, row, and next entry.
        state: (2,) number of entries ever used, and first unused one among them, or -1.
    """
    entry = state[1]
    if entry >= 0:
        state[1] = pool[entry, 2]
    else:
        entry = state[0]
        state[0] += 1
    pool[entry, 0], pool[entry, 1], pool[entry, 2] = cell, row, heads[bucket]
    heads[bucket] = entry


@kernel(error_model="numpy", nogil=True)
def expand(weights: Weights, start: int, goal: int) -> tuple[Costs, Weights]:
    """Expand cells until the goal is reached as cheaply as possible.

    Args:
        weights: (rows, columns) with a border of 0.
        start: Index of the cell.
        goal: Index of the cell; -1 to expand all cells that can be reached.

    Returns:
        (cells,) cost of each cell, `FAR` if it was not reached; and (cells,) the direction of the step into it.
    """
    columns, flat, even = weights.shape[1], weights.reshape(-1), find_even(weights).reshape(-1)
    costs = np.full(flat.size, FAR, np.int32)
    came = np.full(flat.size, NOWHERE, np.uint8)
    steps, downs = np.empty(8, np.int32), np.empty(8, np.int32)
    for d in range(8):
        steps[d] = offset(d, columns)
        downs[d] = 1 if 1 <= d <= 3 else -1 if d >= 5 else 0
    goal_row, goal_column, best = goal // columns, goal % columns, FAR
    # The open list: entries (cell, its row, next entry) in linked lists, one for each bucket, one of unused entries.
    heads, pool, state = np.full(BUCKETS, -1, np.int32), np.empty((4096, 3), np.int32), np.array([0, -1], np.int32)
    bucket = octile(start // columns - goal_row, start % columns - goal_column) // WIDTH if goal >= 0 else 0
    costs[start], came[start], length = 0, NOWHERE | OPEN, 1
    push(start, start // columns, bucket % BUCKETS, heads, pool, state)
    cell, row, known = 0, 0, False  # known: which cell to expand next, without the open list
    while known or length > 0:
        if not known:
            entry = heads[bucket % BUCKETS]
            if entry < 0:
                bucket += 1
                continue
            cell, row, heads[bucket % BUCKETS] = pool[entry, 0], pool[entry, 1], pool[entry, 2]
            pool[entry, 2], state[1] = state[1], entry
            length -= 1
            if not came[cell] & OPEN:
                continue  # a cheaper entry of the same cell came first
            came[cell] &= 15
        known = False
        cost, direction, simple = costs[cell], int(came[cell]), even[cell]
        if best < FAR and cost + octile(row - goal_row, cell - row * columns - goal_column) >= best:
            continue
        if direction == NOWHERE:
            first, count, simple = 0, 8, False
        elif not simple:
            first, count = direction + 6, 5  # all others are as near to the cell before
        elif direction % 2 == 0:
            first, count = direction, 1
        else:
            first, count = direction + 7, 3
        if state[0] + 8 > pool.shape[0]:
            pool = np.concatenate((pool, np.empty_like(pool)))
        found, last, last_row, last_place = 0, 0, 0, 0
        for k in range(first, first + count):
            d = k & 7
            other = cell + steps[d]
            weight = int(flat[other])
            if not simple and (
                weight == 0 or (d & 1 and (flat[cell + steps[d - 1]] == 0 or flat[cell + steps[(d + 1) & 7]] == 0))
            ):
                continue
            reached = cost + (DIAGONAL if d & 1 else STRAIGHT) * weight
            if reached >= costs[other]:
                continue
            if found > 0:
                push(last, last_row, last_place % BUCKETS, heads, pool, state)
            costs[other], came[other] = reached, d | OPEN
            last, last_row, last_place = other, row + downs[d], reached
            if goal >= 0:
                last_place += octile(last_row - goal_row, other - last_row * columns - goal_column)
                if other == goal:
                    best = reached
            last_place = max(last_place // WIDTH, bucket)
            found += 1
        length += found
        if found == 1 and last_place <= bucket + AHEAD:
            cell, row, known = last, last_row, True
            came[cell] &= 15
            length -= 1
        elif found > 0:
            push(last, last_row, last_place % BUCKETS, heads, pool, state)
    return costs, came


@kernel(error_model="numpy", nogil=True)
def trace_back(came: Weights, columns: int, goal: int) -> list[int]:
    """The cells of a path from the goal back to the start, by index."""
    trail = [goal]
    cell = goal
    while came[cell] & 15 != NOWHERE:
        cell -= offset(int(came[cell] & 15), columns)
        trail.append(cell)
    return trail


def length(cells: IntArray) -> float:
    """Of a path of cells (n, 2), straight from each to the next [cell]."""
    steps = np.diff(cells, axis=0)
    return float(math.fsum(np.hypot(steps[:, 0], steps[:, 1])))
