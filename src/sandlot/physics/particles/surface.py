"""From a height map to stacks of particles, and from particles to a height map."""

import math

import numpy as np
from scipy.ndimage import map_coordinates

from sandlot.kernels import kernel
from sandlot.physics.particles.state import X
from sandlot.typing import Array


def stacks(heights: Array, spacing: float, radius: float) -> Array:
    """Fill the volume under a height map with spheres, one stack in each square of the width of a sphere.

    Args:
        heights: (ny, nx) [m]
        spacing: Width of a pixel [m]; the corner of the first is at the origin.
        radius: Of the spheres [m].

    Returns:
        (n, 3) their centres [m], stack by stack, row by row.
    """
    width = 2.0 * radius
    # Where a stack is cut by the edge, there is none; all are shifted to the middle.
    rows, columns = (int(size * spacing / width + 1e-9) for size in heights.shape)
    shift_y, shift_x = (
        0.5 * (size * spacing - n * width) for size, n in zip(heights.shape, (rows, columns), strict=True)
    )
    y, x = (np.arange(rows) + 0.5) * width + shift_y, (np.arange(columns) + 0.5) * width + shift_x
    places = np.meshgrid(y / spacing - 0.5, x / spacing - 0.5, indexing="ij")
    counts = np.rint(map_coordinates(heights, places, order=1, mode="nearest") / width).astype(np.int64)
    row, column, layer = np.nonzero(np.arange(counts.max(initial=0)) < counts[..., None])
    return np.stack([x[column], y[row], (layer + 0.5) * width], axis=-1)


@kernel(error_model="numpy", nogil=True)
def surface(motion: Array, radius: float, box: Array, heights: Array) -> None:
    """Raise each pixel of a map to the highest sphere above its middle.

    Args:
        motion: (n, 16) as `State`'s.
        radius: [m]
        box: (4,) low x, high x, low y and high y of the map [m].
        heights: (ny, nx) [m]
    """
    ny, nx = heights.shape
    dx, dy = (box[1] - box[0]) / nx, (box[3] - box[2]) / ny
    for i in range(len(motion)):
        x, y, z = motion[i, X] - box[0], motion[i, X + 1] - box[2], motion[i, X + 2]
        for b in range(max(math.ceil((y - radius) / dy - 0.5), 0), min(math.floor((y + radius) / dy - 0.5) + 1, ny)):
            v = radius * radius - ((b + 0.5) * dy - y) ** 2
            for a in range(
                max(math.ceil((x - radius) / dx - 0.5), 0), min(math.floor((x + radius) / dx - 0.5) + 1, nx)
            ):
                square = v - ((a + 0.5) * dx - x) ** 2
                if square >= 0.0 and z + radius > heights[b, a]:
                    heights[b, a] = max(heights[b, a], z + math.sqrt(square))
