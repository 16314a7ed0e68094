"""What robots have seen of the floor: the squares that beams with a return have crossed."""

import math

from sandlot.kernels import kernel
from sandlot.typing import Array, BoolArray


@kernel(error_model="numpy", nogil=True, allocates=False)
def see(beams: Array, ranges: Array, corner: Array, spacing: float, reachable: BoolArray, seen: BoolArray) -> int:
    """Mark the reachable squares that beams cross; a beam without a return marks nothing.

    Args:
        beams: (n, 3) start [m] and direction [rad] of each beam.
        ranges: (n,) [m], NaN without a return.
        corner: (2,) x and y of the corner of the first square [m].
        spacing: Side of a square [m].
        reachable: (ny, nx) squares that count.
        seen: (ny, nx) changed in place.

    Returns:
        How many squares were not seen before.
    """
    ny, nx = reachable.shape
    new = 0
    for b in range(beams.shape[0]):
        if not ranges[b] >= 0.0:
            continue
        x, y = (beams[b, 0] - corner[0]) / spacing, (beams[b, 1] - corner[1]) / spacing
        steps = math.ceil(2.0 * ranges[b] / spacing)
        length = ranges[b] / spacing / max(steps, 1)
        dx, dy = length * math.cos(beams[b, 2]), length * math.sin(beams[b, 2])
        for k in range(steps):
            i, j = math.floor(y + k * dy), math.floor(x + k * dx)
            if 0 <= i < ny and 0 <= j < nx and reachable[i, j] and not seen[i, j]:
                seen[i, j] = True
                new += 1
    return new
