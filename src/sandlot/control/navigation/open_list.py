"""The open list of a search: linked lists of cells, one for each bucket of costs."""

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel

Costs = NDArray[np.int32]


@kernel(error_model="numpy", allocates=False)
def push(cell: int, row: int, bucket: int, heads: Costs, pool: Costs, state: Costs) -> None:
    """Put a cell into a bucket.

    Args:
        cell: Index of the cell.
        row: Its row.
        bucket: Which; buckets are reused in turn.
        heads: (buckets,) first entry of each, or -1.
        pool: (entries, 3) cell, row, and next entry.
        state: (3,) number of entries ever used; first unused one among them, or -1; and number of entries in buckets.
    """
    entry = state[1]
    if entry >= 0:
        state[1] = pool[entry, 2]
    else:
        entry = state[0]
        state[0] += 1
    place = bucket % heads.size
    pool[entry, 0], pool[entry, 1], pool[entry, 2] = cell, row, heads[place]
    heads[place] = entry
    state[2] += 1


@kernel(error_model="numpy", allocates=False)
def pop(bucket: int, heads: Costs, pool: Costs, state: Costs) -> int:
    """Take the latest entry out of a bucket; its cell and row stay in the pool until the next push. -1 if empty."""
    place = bucket % heads.size
    entry = heads[place]
    if entry >= 0:
        heads[place] = pool[entry, 2]
        pool[entry, 2], state[1] = state[1], entry
        state[2] -= 1
    return int(entry)
