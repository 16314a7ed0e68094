"""The nodes under a box that lies flat, or a wheel or track that stands upright, searched row by row.

Cells are searched at their centres, and covered in part at the edges of the shape.
"""

import math

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.shapes import BOX, TRACK, box_row, prism_row
from sandlot.physics.soil.ground import Ground, node_at, shelter
from sandlot.physics.soil.search.nodes import Patches, surface, touch_node


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
        ground: Touched nodes are marked.
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
            if z < surface(node, step):
                end = touch_node(patches, node, index, x + k * spacing, y, z, covered, step, end)
            elif z < node["undeformed"]:
                shelter(node, step)
    return end


@kernel(error_model="numpy", allocates=False)
def find_by_rows(
    ground: Ground, shape: np.void, rx: float, ry: float, patches: Patches, start: int, step: float
) -> int:
    """As `find`, for a box that lies flat, or a wheel or track that stands upright."""
    kind, position, mat, spacing = shape["kind"], shape["position"], shape["rotation"], ground.spacing
    size = (shape["size"][0], shape["size"][1], shape["size"][2])
    i0, i1, j0, j1 = window(ground, position[0] - rx, position[0] + rx, position[1] - ry, position[1] + ry)
    columns = len(patches.row_z)
    count, end = min(j1 - j0 + 1, columns), start
    if count < 1:
        return 0
    d = (mat[6], mat[7], mat[8])
    e = (mat[0] * spacing, mat[1] * spacing, mat[2] * spacing)
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
        if kind == BOX:
            box_row(size, p, d, e, spacing, low, covered)
        else:
            prism_p = (p[0], p[2], p[1]) if track else p
            prism_row(half, radius, wide, prism_p, prism_d, prism_e, spacing, low, covered)
        end = touch_row(ground, i, j0, count, step, patches, end)
    return end - start
