"""The true elevation of the ground ahead of robots: the highest point of each cell, as a perfect laser would map it."""

import math

from sandlot.kernels import kernel
from sandlot.physics.climbing.ground import AX, AZ, CELL, LENGTH, TX, TZ, Ground
from sandlot.typing import Array, IntArray


@kernel(error_model="numpy", allocates=False, nogil=True)
def elevations(ground: Ground, which: IntArray, starts: Array, scales: Array, cell: float, found: Array) -> None:
    """Find the highest point of the ground in cells ahead.

    Args:
        ground: Of all robots.
        which: (some,) robots.
        starts: (some, 2) x of the middle of the first cell, and the height that counts as zero [m].
        scales: (some,) how far x moves per distance ahead: the cosine of the yaw.
        cell: Length of a cell [m].
        found: (some, cells) heights [m], written here; 0 for robots whose position is NaN or infinite.
    """
    for k in range(len(which)):
        robot = which[k]
        size, zero, number = max(cell * abs(scales[k]), 1e-9), starts[k, 1], found.shape[1]
        # Cells are counted along x; with the robot turned back, from the last one on.
        ahead = scales[k] >= 0.0
        low = starts[k, 0] - 0.5 * size if ahead else starts[k, 0] - (number - 0.5) * size
        valid = math.isfinite(low) and math.isfinite(zero)
        for i in range(number):
            found[k, i] = -math.inf if valid else 0.0
        if not valid:
            continue
        extent = ground.extent[robot]
        last = int(extent[1]) - 1
        first_cell = min(max(int((low - extent[0]) / CELL), 0), last)
        last_cell = min(max(int((low + number * size - extent[0]) / CELL), 0), last)
        for n in range(ground.cells[robot, first_cell, 0], ground.cells[robot, last_cell, 1]):
            segment = ground.segments[robot, n]
            x, z, tx, tz, length = segment[AX], segment[AZ], segment[TX], segment[TZ], segment[LENGTH]
            left, right = min(x, x + tx * length), max(x, x + tx * length)
            begin, end = max(left, low), min(right, low + number * size)
            if begin > end:
                continue
            slope = tz / tx if abs(tx) > 1e-9 else 0.0
            top = z if abs(tx) > 1e-9 else max(z, z + tz * length)
            for i in range(int((begin - low) / size), min(int((end - low) / size), number - 1) + 1):
                one, other = max(begin, low + i * size), min(end, low + (i + 1) * size)
                height = max(top + slope * (one - x), top + slope * (other - x)) - zero
                at = i if ahead else number - 1 - i
                found[k, at] = max(found[k, at], height)
