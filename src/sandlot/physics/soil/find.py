"""Which nodes of the ground a body touches, and how low it reaches above each of them.

The rectangle of nodes around a shape is looked at row by row. Only a mesh needs arrays of its own for that, so that all
other shapes are found without asking for memory, or counting who uses it.
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import (
    BOX,
    CYLINDER,
    MESH,
    STEEP,
    TRACK,
    Three,
    box_row,
    lowest,
    lowest_mesh,
    prism_row,
    reach,
)
from sandlot.physics.soil.contact import COVERED, X, Y, Z
from sandlot.physics.soil.ground import FREE, LOOSE, SUNK, TOUCHED, Ground, beside
from sandlot.typing import Array, IntArray

Faces: TypeAlias = NDArray[np.int32]

HAIR = 1e-3
"""What was touched remains so until the body is so far off [m]; else walls would fall in beneath one that is lifted by
less than anybody could see."""


@kernel(error_model="numpy", allocates=False)
def window(ground: Ground, x0: float, x1: float, y0: float, y1: float) -> tuple[int, int, int, int]:
    """The first and the last row, and the first and the last column, of the nodes around a rectangle [m]."""
    corner, spacing = ground.corner, ground.spacing
    i0, i1 = math.floor((y0 - corner[1]) / spacing), math.ceil((y1 - corner[1]) / spacing)
    j0, j1 = math.floor((x0 - corner[0]) / spacing), math.ceil((x1 - corner[0]) / spacing)
    if not ground.wrap:
        i0, i1, j0, j1 = max(i0, 0), min(i1, ground.ny - 1), max(j0, 0), min(j1, ground.nx - 1)
    return i0, i1, j0, j1


@kernel(error_model="numpy", allocates=False, inline="always")
def touch(
    ground: Ground, i: int, j0: int, count: int, step: float, line: Array, under: IntArray, patch: Array, end: int
) -> int:
    """Add those nodes of a row that a shape touches to the ones before.

    Args:
        ground: Not changed.
        i: Which row.
        j0: Its first column that counts.
        count: How many columns do.
        step: Which.
        line: (2, n) lowest point above each node [m], and the part of its cell that is covered.
        under: As for `find`.
        patch: As for `find`.
        end: How many there were.

    Returns:
        How many there are.
    """
    nodes, ny, nx, wrap, spacing = ground.nodes, ground.ny, ground.nx, ground.wrap, ground.spacing
    x, y = ground.corner[0] + j0 * spacing, ground.corner[1] + i * spacing
    inside = 0 <= i < ny and j0 >= 0 and j0 + count <= nx
    for k in range(count):
        z, part = line[0, k], line[1, k]
        if part > 0.0:
            index = i * nx + j0 + k if inside else beside(i, j0 + k, ny, nx, wrap)
            top = nodes[index, FREE] - nodes[index, SUNK] + nodes[index, LOOSE]
            hair = HAIR if nodes[index, TOUCHED] == step - 1.0 else 0.0
            if z < top + hair and end < len(under):
                under[end] = index
                patch[end, X], patch[end, Y], patch[end, Z], patch[end, COVERED] = x + k * spacing, y, z, part
                end += 1
    return end


@kernel(error_model="numpy")
def find_mesh(
    ground: Ground, pos: Array, mat: Array, points: Array, faces: Faces, step: float, under: IntArray, patch: Array,
    line: Array,
) -> int:  # fmt: skip
    """As `find`, for a mesh."""
    turned = np.empty((len(points), 3))
    x0, x1, y0, y1 = np.inf, -np.inf, np.inf, -np.inf
    for k in range(len(points)):
        for row in range(3):
            turned[k, row] = pos[row]
            for m in range(3):
                turned[k, row] += mat[3 * row + m] * points[k, m]
        x0, x1 = min(x0, turned[k, 0]), max(x1, turned[k, 0])
        y0, y1 = min(y0, turned[k, 1]), max(y1, turned[k, 1])
    i0, i1, j0, j1 = window(ground, x0, x1, y0, y1)
    count, end, spacing = j1 - j0 + 1, 0, ground.spacing
    if i1 < i0 or count < 1:
        return 0
    below = np.empty((i1 - i0 + 1, count))
    lowest_mesh(turned, faces, ground.corner[0] + j0 * spacing, ground.corner[1] + i0 * spacing, spacing, below)
    for i in range(i0, i1 + 1):
        for k in range(count):
            line[0, k], line[1, k] = below[i - i0, k], 1.0
        end = touch(ground, i, j0, count, step, line, under, patch, end)
    return end


@kernel(error_model="numpy", allocates=False)
def find(
    ground: Ground, kind: int, size: Three, pos: Array, mat: Array, points: Array, faces: Faces, step: float,
    under: IntArray, patch: Array, line: Array,
) -> int:  # fmt: skip
    """Find the nodes that a shape touches.

    Args:
        ground: Not changed.
        kind: Of the shape, as in `sandlot.physics.shapes`.
        size: Of the shape [m].
        pos: (3,) where it is [m].
        mat: (9,) its rotation.
        points: (points, 3) of a mesh [m].
        faces: (faces, 3) of a mesh.
        step: Which.
        under: Room for the nodes that are found.
        patch: (n, 8) room for the first rows of each node; slopes are left out.
        line: (2, n) room for lowest points above one row of nodes.

    Returns:
        How many there are.
    """
    if kind == MESH:
        return find_mesh(ground, pos, mat, points, faces, step, under, patch, line)
    corner, spacing = ground.corner, ground.spacing
    rx, ry = reach(kind, size, mat[0], mat[1], mat[2]), reach(kind, size, mat[3], mat[4], mat[5])
    i0, i1, j0, j1 = window(ground, pos[0] - rx, pos[0] + rx, pos[1] - ry, pos[1] + ry)
    count, end = min(j1 - j0 + 1, line.shape[1]), 0
    if count < 1:
        return 0
    d = (mat[6], mat[7], mat[8])
    e = (mat[0] * spacing, mat[1] * spacing, mat[2] * spacing)
    flat = kind == BOX and abs(d[0]) < STEEP and abs(d[1]) < STEEP
    upright = (kind == CYLINDER and abs(d[2]) < STEEP) or (kind == TRACK and abs(d[1]) < STEEP and abs(d[2]) > STEEP)
    # Of a prism, the third axis is the one that it is drawn out along. A wheel has no way between pulleys.
    track = kind == TRACK
    half, radius, wide = size if track else (0.0, size[0], size[1])
    prism_d, prism_e = ((d[0], d[2], d[1]), (e[0], e[2], e[1])) if track else (d, e)
    # Four at a time, if there is room for more than are needed.
    lanes = min((count + 3) // 4 * 4, line.shape[1])
    low, covered = line[0, :lanes], line[1, :lanes]
    for i in range(i0, i1 + 1):
        ox, oy, oz = corner[0] + j0 * spacing - pos[0], corner[1] + i * spacing - pos[1], -pos[2]
        p = (
            mat[0] * ox + mat[3] * oy + mat[6] * oz,
            mat[1] * ox + mat[4] * oy + mat[7] * oz,
            mat[2] * ox + mat[5] * oy + mat[8] * oz,
        )
        if flat:
            box_row(size, p, d, e, spacing, low, covered)
        elif upright:
            prism_p = (p[0], p[2], p[1]) if track else p
            prism_row(half, radius, wide, prism_p, prism_d, prism_e, spacing, low, covered)
        else:
            for k in range(count):
                q = (p[0] + k * e[0], p[1] + k * e[1], p[2] + k * e[2])
                low[k], covered[k] = lowest(kind, size, q, d, spacing)
        end = touch(ground, i, j0, count, step, line, under, patch, end)
    return end
