"""From a height map to stacks of particles, and from particles to a height map."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from sandlot.kernels import kernel
from sandlot.physics.particles.state import Container
from sandlot.typing import Array


def stacks(heights: Array, spacing: float, radius: float) -> Array:
    """Fill the volume under a height map with spheres, one stack in each square of the width of a sphere.

    Args:
        heights: (ny, nx) [m]
        spacing: Width of a pixel [m]; the corner of the first is at the origin.
        radius: Radius of the spheres [m].

    Returns:
        (n, 3) centres of the spheres [m], stack by stack, row by row.
    """
    width = 2.0 * radius
    # Stacks that the edge would cut are left out; the others are shifted to the middle.
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
def raise_surface(motion: NDArray[np.void], radius: float, box: Container, heights: Array) -> None:
    """Raise each pixel of a map to the highest sphere above its centre.

    Args:
        motion: (n,) of PARTICLE.
        radius: Radius of the spheres [m].
        box: The walls, which are the edges of the map.
        heights: (ny, nx) [m]
    """
    ny, nx = heights.shape
    dx, dy = (box.x_max - box.x_min) / nx, (box.y_max - box.y_min) / ny
    for i in range(len(motion)):
        position = motion[i]["position"]
        x, y, z = position[0] - box.x_min, position[1] - box.y_min, position[2]
        first_row, last_row = math.ceil((y - radius) / dy - 0.5), math.floor((y + radius) / dy - 0.5)
        first_column, last_column = math.ceil((x - radius) / dx - 0.5), math.floor((x + radius) / dx - 0.5)
        for b in range(max(first_row, 0), min(last_row + 1, ny)):
            v = radius * radius - ((b + 0.5) * dy - y) ** 2
            for a in range(max(first_column, 0), min(last_column + 1, nx)):
                square = v - ((a + 0.5) * dx - x) ** 2
                if square >= 0.0 and z + radius > heights[b, a]:
                    heights[b, a] = max(heights[b, a], z + math.sqrt(square))
