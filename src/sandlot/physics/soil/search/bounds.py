"""The rectangle around the part of a shape that is low enough to touch the ground."""

import math
from typing import TypeAlias

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.shapes import BOX, CAPSULE, CYLINDER, SPHERE, Three, half_extent
from sandlot.typing import Array

Rectangle: TypeAlias = tuple[float, float, float, float]
"""First x, last x, first y, last y [m]."""


@kernel(error_model="numpy", allocates=False)
def add_side(around: Rectangle, a: Three, b: Three, highest: float) -> Rectangle:
    """Make a rectangle large enough for the part of a straight line from a to b that is below a height [m]."""
    x0, x1, y0, y1 = around
    if a[2] < highest:
        x0, x1, y0, y1 = min(x0, a[0]), max(x1, a[0]), min(y0, a[1]), max(y1, a[1])
    if b[2] < highest:
        x0, x1, y0, y1 = min(x0, b[0]), max(x1, b[0]), min(y0, b[1]), max(y1, b[1])
    if (a[2] < highest) != (b[2] < highest):
        share = (highest - a[2]) / (b[2] - a[2])
        x, y = a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])
        x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
    return x0, x1, y0, y1


@kernel(error_model="numpy", allocates=False)
def around_box(position: Three, mat: Array, size: Array, highest: float) -> Rectangle:
    """The rectangle around the part of a box that is below a height [m].

    Args:
        position: Its centre [m].
        mat: (9,) its rotation.
        size: (3,) half its sides [m].
        highest: [m]
    """
    around = (np.inf, -np.inf, np.inf, -np.inf)
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for corner in range(4):
            along_u, along_v = size[u] * (1 - 2 * (corner & 1)), size[v] * (1 - (corner & 2))
            x = position[0] + along_u * mat[u] + along_v * mat[v]
            y = position[1] + along_u * mat[3 + u] + along_v * mat[3 + v]
            z = position[2] + along_u * mat[6 + u] + along_v * mat[6 + v]
            dx, dy, dz = size[axis] * mat[axis], size[axis] * mat[3 + axis], size[axis] * mat[6 + axis]
            around = add_side(around, (x - dx, y - dy, z - dz), (x + dx, y + dy, z + dz), highest)
    return around


@kernel(error_model="numpy", allocates=False)
def around_low_part(shape: np.void, highest: float) -> Rectangle:
    """The rectangle around the part of a shape that is below a height [m]; the first x is the greater one if none is.

    Args:
        shape: Record of `sandlot.physics.soil.contacts.SOIL_SHAPE`; not a mesh.
        highest: [m]
    """
    kind, position, mat = shape["kind"], shape["position"], shape["rotation"]
    if kind == BOX:
        return around_box((position[0], position[1], position[2]), mat, shape["size"], highest)
    size = (shape["size"][0], shape["size"][1], shape["size"][2])
    rx, ry = half_extent(kind, size, mat[0], mat[1], mat[2]), half_extent(kind, size, mat[3], mat[4], mat[5])
    low, high, along_x, along_y = -1.0, 1.0, 0.0, 0.0
    if kind == SPHERE and position[2] > highest:
        # Its lower cap.
        rx = ry = math.sqrt(max(size[0] * size[0] - (position[2] - highest) ** 2, 0.0))
    if kind in (CAPSULE, CYLINDER):
        along_x, along_y = mat[2] * size[1], mat[5] * size[1]
        if abs(mat[8]) * size[1] > 1e-9:
            # The part of its axis that is no higher than this height and the radius.
            until = (highest + size[0] - position[2]) / (mat[8] * size[1])
            low, high = (low, min(high, until)) if mat[8] > 0.0 else (max(low, until), high)
            rx, ry = min(rx, size[0]), min(ry, size[0])
        else:
            rx, ry = rx - abs(along_x), ry - abs(along_y)
    if low > high:
        return np.inf, -np.inf, np.inf, -np.inf
    return (
        position[0] + min(low * along_x, high * along_x) - rx,
        position[0] + max(low * along_x, high * along_x) + rx,
        position[1] + min(low * along_y, high * along_y) - ry,
        position[1] + max(low * along_y, high * along_y) + ry,
    )
