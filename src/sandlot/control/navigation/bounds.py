"""Lower bounds of the cost from a cell to the goal, for A*.

The octile distance is the exact cost where nothing is in the way. Where much is, a better bound is found on squares of
`SIDE` cells. Each square is as heavy as its lightest cell, or the lightest one next to it. On such a map, some cheapest
path between two corners of squares runs along their sides and diagonals: parts of any other path, made of straight and
diagonal pieces, can be shifted without a rise of the cost until they pass through corners. So a search over corners
gives the cost of this lighter map, and that is at most the cost of the cells.
"""

import numpy as np

from sandlot.control.navigation.open_list import Costs, pop, push
from sandlot.control.navigation.successors import ACROSS, DIAGONAL, DOWN, STRAIGHT, Weights
from sandlot.kernels import kernel

SIDE = 4
"""Cells along a square. Walls with a boundary of 4 cells on both sides block whole squares."""
BUCKETS = 512
"""More than the ratio of the longest to the shortest step over a square: 255 DIAGONAL / STRAIGHT."""
FAR = 2**30
"""Cost of what is not reached."""
FEW = 16
"""Squares are searched if more than one in so many is blocked, or heavier than 1."""


@kernel(error_model="numpy", allocates=False)
def octile(rows: int, columns: int) -> int:
    """Cost of the shortest path over so many rows and columns, if nothing is in the way."""
    down, across = abs(rows), abs(columns)
    return STRAIGHT * max(down, across) + (DIAGONAL - STRAIGHT) * min(down, across)


@kernel(error_model="numpy", nogil=True)
def lighten(weights: Weights) -> tuple[Weights, int]:
    """Weights of squares, with a border of 0; 0 is blocked.

    Returns:
        (rows, columns) of squares, each the least weight of its cells and of those next to it; and how many squares are
        blocked, or heavier than 1.
    """
    rows, columns = (weights.shape[0] + SIDE - 1) // SIDE, (weights.shape[1] + SIDE - 1) // SIDE
    light, heavy = np.zeros((rows + 2, columns + 2), np.uint8), 0
    line = np.empty(weights.shape[1], np.uint8)
    for i in range(rows):
        line[:] = 255  # weights minus 1, so that blocked cells are the heaviest
        for k in range(max(i * SIDE - 1, 0), min(i * SIDE + SIDE + 1, weights.shape[0])):
            row = weights[k]
            for j in range(line.size):
                line[j] = min(int(line[j]), (int(row[j]) + 255) & 255)
        for j in range(columns):
            least = 255
            for k in range(max(j * SIDE - 1, 0), min(j * SIDE + SIDE + 1, line.size)):
                least = min(least, int(line[k]))
            heavy += least > 0
            light[i + 1, j + 1] = (least + 1) & 255
    return light, heavy


@kernel(error_model="numpy", nogil=True)
def search_corners(light: Weights, goal_row: int, goal_column: int, row: int, column: int) -> Costs:
    """Lower bounds of the costs from the corners of squares to the goal, by Dijkstra's algorithm.

    Args:
        light: (rows, columns) of squares, with a border; corner (i, j) lies between squares (i, j) and (i + 1, j + 1).
        goal_row: Of the goal's cell.
        goal_column: Of the goal's cell.
        row: Of the start's cell. The search ends at its corner; bounds beyond are that of the start.
        column: Of the start's cell.
    """
    columns, width = light.shape[1] - 1, SIDE * STRAIGHT
    far = np.full((light.shape[0] - 1, columns), FAR, np.int32)
    flat = far.reshape(-1)
    heads, pool, state = np.full(BUCKETS, -1, np.int32), np.empty((4096, 3), np.int32), np.array([0, -1, 0], np.int32)
    first = (goal_row + SIDE // 2) // SIDE * columns + (goal_column + SIDE // 2) // SIDE
    last = (row + SIDE // 2) // SIDE * columns + (column + SIDE // 2) // SIDE
    flat[first], bucket, most = 0, 0, FAR
    push(first, first // columns, 0, heads, pool, state)
    while state[2] > 0:
        entry = pop(bucket, heads, pool, state)
        if entry < 0:
            bucket += 1
            continue
        corner, i = pool[entry, 0], pool[entry, 1]
        cost = flat[corner]
        if cost // width != bucket:
            continue  # a cheaper entry of the same corner came first
        if corner == last:
            most = bucket * width
            break
        if state[0] + 8 > pool.shape[0]:
            pool = np.concatenate((pool, np.empty_like(pool)))
        j = corner - i * columns
        # Squares to the upper right, upper left, lower left and lower right: those at directions 1, 3, 5 and 7.
        squares = (int(light[i + 1, j + 1]), int(light[i + 1, j]), int(light[i, j]), int(light[i, j + 1]))
        for d in range(8):
            one, two = squares[d // 2], squares[(d - 1) // 2 & 3]  # on both sides of the step; diagonally, the same
            weight = max(one, two) if one == 0 or two == 0 else min(one, two)
            other = corner + DOWN[d] * columns + ACROSS[d]
            reached = cost + SIDE * (DIAGONAL if d & 1 else STRAIGHT) * weight
            if weight > 0 and reached < flat[other]:
                flat[other] = reached
                push(other, i + DOWN[d], reached // width, heads, pool, state)
    # What lies between the goal and its corner.
    slack = from_corner(goal_row, goal_column) * int(light[goal_row // SIDE + 1, goal_column // SIDE + 1])
    for k in range(flat.size):
        flat[k] = min(flat[k], most)
        if flat[k] < FAR:
            flat[k] -= slack
    return far


@kernel(error_model="numpy", allocates=False)
def from_corner(row: int, column: int) -> int:
    """Cost from the nearest corner of a square to the centre of a cell of weight 1, rounded up."""
    half = 2 * SIDE
    down, across = (2 * row + 1) % half, (2 * column + 1) % half
    return (octile(min(down, half - down), min(across, half - across)) + 1) // 2


@kernel(error_model="numpy", allocates=False)
def bound(row: int, column: int, goal_row: int, goal_column: int, guided: bool, far: Costs, light: Weights) -> int:
    """A lower bound of the cost from a free cell to the goal; at least `FAR` if there is no path.

    Args:
        row: Of the cell.
        column: Of the cell.
        goal_row: Of the goal.
        goal_column: Of the goal.
        guided: Whether to use the bounds of corners.
        far: (rows, columns) bounds of corners.
        light: (rows, columns) weights of squares, with a border.
    """
    least = octile(row - goal_row, column - goal_column)
    if guided:
        corner = far[(row + SIDE // 2) // SIDE, (column + SIDE // 2) // SIDE]
        if corner >= FAR:
            return FAR
        least = max(least, corner - from_corner(row, column) * int(light[row // SIDE + 1, column // SIDE + 1]))
    return least
