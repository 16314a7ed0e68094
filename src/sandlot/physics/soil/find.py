"""The nodes that a shape touches, and the lowest point of the shape above each of them.

The rectangle of nodes around a shape is searched row by row. Only meshes need arrays of their own for that; all other
shapes are found without allocating memory.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import (
    BOX,
    CYLINDER,
    MESH,
    STEEP,
    TRACK,
    box_row,
    half_extent,
    lowest,
    lowest_mesh,
    prism_row,
)
from sandlot.physics.soil.ground import Ground, node_at
from sandlot.typing import Array, IntArray

RELEASE_GAP = 1e-3
"""A node stays touched until the body is this far above it [m]. Otherwise the walls of a rut would slide in under a
body that is lifted by a few micrometres."""


class Mesh(NamedTuple):
    """Points and faces of all attached meshes.

    Attributes:
        points: (points, 3) [m]
        faces: (faces, 3) numbers of points, from 0 for each mesh.
    """

    points: Array
    faces: NDArray[np.int32]


class Patches(NamedTuple):
    """Room for the patches of all shapes, one after the other.

    Attributes:
        indices: (room,) numbers of touched nodes.
        contact: (room,) of `sandlot.physics.soil.patch.PATCH_NODE`.
        row_z: (columns,) room for the lowest points above one row of nodes [m].
        row_covered: (columns,) room for the covered fractions of their cells.
    """

    indices: IntArray
    contact: NDArray[np.void]
    row_z: Array
    row_covered: Array


@kernel(error_model="numpy", allocates=False)
def window(ground: Ground, x0: float, x1: float, y0: float, y1: float) -> tuple[int, int, int, int]:
    """First and last row, and first and last column, of the nodes around a rectangle [m]."""
    i0, i1 = math.floor((y0 - ground.y0) / ground.spacing), math.ceil((y1 - ground.y0) / ground.spacing)
    j0, j1 = math.floor((x0 - ground.x0) / ground.spacing), math.ceil((x1 - ground.x0) / ground.spacing)
    if not ground.wrap:
        i0, i1, j0, j1 = max(i0, 0), min(i1, ground.ny - 1), max(j0, 0), min(j1, ground.nx - 1)
    return i0, i1, j0, j1


@kernel(error_model="numpy", allocates=False, inline="always")
def touch_row(ground: Ground, i: int, j0: int, count: int, step: float, patches: Patches, end: int) -> int:
    """Add the touched nodes of a row to a patch.

    Args:
        ground: Not changed.
        i: Number of the row.
        j0: First column to look at.
        count: Number of columns to look at.
        step: Number of the step.
        patches: Lowest points and covered fractions of this row are in ``row_z`` and ``row_covered``.
        end: End of the patch so far.

    Returns:
        End of the patch.
    """
    nodes, ny, nx, wrap, spacing = ground.nodes, ground.ny, ground.nx, ground.wrap, ground.spacing
    x, y = ground.x0 + j0 * spacing, ground.y0 + i * spacing
    inside = 0 <= i < ny and j0 >= 0 and j0 + count <= nx
    for k in range(count):
        z, covered = patches.row_z[k], patches.row_covered[k]
        if covered > 0.0:
            index = i * nx + j0 + k if inside else node_at(i, j0 + k, ny, nx, wrap)
            node = nodes[index]
            top = node["undeformed"] - node["sinkage"] + node["loose"]
            gap = RELEASE_GAP if node["contact"] == step - 1.0 else 0.0
            if z < top + gap and end < len(patches.indices):
                patches.indices[end] = index
                contact = patches.contact[end]
                contact["x"], contact["y"], contact["z"], contact["covered"] = x + k * spacing, y, z, covered
                end += 1
    return end


@kernel(error_model="numpy")
def find_mesh(ground: Ground, shape: np.void, mesh: Mesh, patches: Patches, start: int, step: float) -> int:
    """As `find`, for a mesh."""
    points = mesh.points[shape["points_start"] : shape["points_end"]]
    faces = mesh.faces[shape["faces_start"] : shape["faces_end"]]
    position, rotation = shape["position"], shape["rotation"]
    world = np.empty((len(points), 3))
    x0, x1, y0, y1 = np.inf, -np.inf, np.inf, -np.inf
    for k in range(len(points)):
        for row in range(3):
            world[k, row] = position[row]
            for m in range(3):
                world[k, row] += rotation[3 * row + m] * points[k, m]
        x0, x1 = min(x0, world[k, 0]), max(x1, world[k, 0])
        y0, y1 = min(y0, world[k, 1]), max(y1, world[k, 1])
    i0, i1, j0, j1 = window(ground, x0, x1, y0, y1)
    count, end, spacing = j1 - j0 + 1, start, ground.spacing
    if i1 < i0 or count < 1:
        return 0
    bottom = np.empty((i1 - i0 + 1, count))
    lowest_mesh(world, faces, ground.x0 + j0 * spacing, ground.y0 + i0 * spacing, spacing, bottom)
    for i in range(i0, i1 + 1):
        for k in range(count):
            patches.row_z[k], patches.row_covered[k] = bottom[i - i0, k], 1.0
        end = touch_row(ground, i, j0, count, step, patches, end)
    return end - start


@kernel(error_model="numpy", allocates=False)
def find(ground: Ground, shape: np.void, mesh: Mesh, patches: Patches, start: int, step: float) -> int:
    """Find the nodes that a shape touches.

    Args:
        ground: Not changed.
        shape: Record of `sandlot.physics.soil.contacts.SOIL_SHAPE`.
        mesh: Points and faces, if the shape is a mesh.
        patches: Receives the nodes, and the first four fields of their records.
        start: First free place in ``patches``.
        step: Number of the step.

    Returns:
        The number of touched nodes.
    """
    kind, position, mat = shape["kind"], shape["position"], shape["rotation"]
    if kind == MESH:
        return find_mesh(ground, shape, mesh, patches, start, step)
    size, spacing = (shape["size"][0], shape["size"][1], shape["size"][2]), ground.spacing
    rx, ry = half_extent(kind, size, mat[0], mat[1], mat[2]), half_extent(kind, size, mat[3], mat[4], mat[5])
    i0, i1, j0, j1 = window(ground, position[0] - rx, position[0] + rx, position[1] - ry, position[1] + ry)
    columns = len(patches.row_z)
    count, end = min(j1 - j0 + 1, columns), start
    if count < 1:
        return 0
    d = (mat[6], mat[7], mat[8])
    e = (mat[0] * spacing, mat[1] * spacing, mat[2] * spacing)
    flat = kind == BOX and abs(d[0]) < STEEP and abs(d[1]) < STEEP
    upright = (kind == CYLINDER and abs(d[2]) < STEEP) or (kind == TRACK and abs(d[1]) < STEEP and abs(d[2]) > STEEP)
    # The third axis of a prism is the one along which it is extruded. A wheel is a track of length 0.
    track = kind == TRACK
    half, radius, wide = size if track else (0.0, size[0], size[1])
    prism_d, prism_e = ((d[0], d[2], d[1]), (e[0], e[2], e[1])) if track else (d, e)
    # A multiple of four columns, which vector instructions compute together, if there is room.
    padded = min((count + 3) // 4 * 4, columns)
    low, covered = patches.row_z[:padded], patches.row_covered[:padded]
    for i in range(i0, i1 + 1):
        ox, oy, oz = ground.x0 + j0 * spacing - position[0], ground.y0 + i * spacing - position[1], -position[2]
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
        end = touch_row(ground, i, j0, count, step, patches, end)
    return end - start
