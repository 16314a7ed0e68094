"""Which neighbours of a cell A* has to consider: those that are not reached as cheaply without it.

Directions count counter-clockwise from the right, 0 to 7; odd ones are diagonal. A path comes to a cell from a parent.
A neighbour of the cell is left out if a path from the parent to it within the eight cells around is cheaper. Of paths
of equal cost, that with the diagonal step first is kept (as in jump point search: Harabor and Grastien 2011; for
weights, Carlson et al. 2023). Straight steps are left out only for cheaper paths. So whatever parent is recorded, one
cheapest path to each cell is kept.
"""

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel

STRAIGHT, DIAGONAL = 70, 99
"""Costs of a step to a cell of weight 1; their ratio is the root of two within 0.005%."""
NOWHERE, OPEN, EVEN = 8, 16, 32
"""Direction of the start; flag of cells in the open list; and of cells whose free neighbours have their weight."""
DOWN, ACROSS = np.array([0, 1, 1, 1, 0, -1, -1, -1]), np.array([1, 1, 0, -1, -1, -1, 0, 1])
"""(8,) rows and columns of a step in each direction."""
Weights = NDArray[np.uint8]
"""(rows, columns) factor of the cost of a step into a cell; 0 is blocked."""


def tabulate() -> Weights:
    """Directions to consider as bits: (flags and direction of the step into a cell, bits of its free neighbours)."""
    table = np.zeros((EVEN + 9, 256), np.uint8)
    for bits in range(256):
        free = [bits >> d & 1 for d in range(8)]
        possible = [d for d in range(8) if free[d] and (d % 2 == 0 or (free[d - 1] and free[(d + 1) % 8]))]
        table[[NOWHERE, EVEN | NOWHERE], bits] = sum(1 << d for d in possible)
        for came in range(8):
            turns = {d: (d - came + 4) % 8 - 4 for d in possible}
            table[came, bits] = sum(1 << d for d, turn in turns.items() if abs(turn) <= 2)
            kept = [d for d, turn in turns.items() if turn == 0 or (came % 2 and abs(turn) == 1)]
            if came % 2 == 0:  # beside a wall that ends, the parent does not see what is behind its end
                kept += [d for d, turn in turns.items() if turn in (1, 2) and not free[(came + 3) % 8]]
                kept += [d for d, turn in turns.items() if turn in (-1, -2) and not free[came - 3]]
            table[EVEN | came, bits] = sum(1 << d for d in kept)
    return table


TABLE = tabulate()


@kernel(error_model="numpy", nogil=True, allocates=False)
def look_around(weights: Weights, free: Weights, came: Weights) -> None:
    """Look at the neighbours of all cells, apart from the border.

    Args:
        weights: (rows, columns) with a border of 0.
        free: (rows, columns) bits of the directions in which the neighbour is free, written here.
        came: (rows, columns) `NOWHERE`, and `EVEN` or not, written here.
    """
    for i in range(1, weights.shape[0] - 1):
        low, row, high, bits, flags = weights[i - 1], weights[i], weights[i + 1], free[i], came[i]
        for j in range(1, weights.shape[1] - 1):
            w = row[j]
            around = (row[j + 1], high[j + 1], high[j], high[j - 1], row[j - 1], low[j - 1], low[j], low[j + 1])
            all_free, even = np.uint8(0), True
            for d in range(8):
                all_free |= np.uint8(around[d] != 0) << np.uint8(d)
                even &= (around[d] == 0) | (around[d] == w)
            bits[j] = all_free
            flags[j] = np.uint8(NOWHERE) | np.uint8(even) << np.uint8(5)


@kernel(error_model="numpy", allocates=False)
def dominated(flat: Weights, cell: int, came: int, free: int, steps: NDArray[np.int32]) -> int:
    """Bits of the directions that are cheaper without a cell, by the weights around it.

    Args:
        flat: (cells,) weights.
        cell: Index of the cell.
        came: Direction of the step into it, from the parent.
        free: Bits of its free neighbours.
        steps: (8,) from the index of a cell to that of its neighbour in each direction.
    """
    here, bits, more = int(flat[cell]), 0, DIAGONAL - STRAIGHT
    for side in (1, -1):
        one, two, three = (came + side) & 7, (came + 2 * side) & 7, (came + 3 * side) & 7
        ahead, aside = int(flat[cell + steps[one]]), int(flat[cell + steps[two]])
        if came & 1:
            beside = STRAIGHT * int(flat[cell + steps[three]])  # the step from the parent to the cell beside both
            if free >> two & 1 and beside + more * ahead < DIAGONAL * here:
                bits |= 1 << one
            if beside <= DIAGONAL * here + more * aside:
                bits |= 1 << two
        elif free >> three & 1 and aside:  # the parent may step to the cell aside
            if more * aside < STRAIGHT * here:
                bits |= 1 << two
            if DIAGONAL * aside <= STRAIGHT * here + more * ahead:
                bits |= 1 << one
    return bits
