"""Nodes that shapes touch: room for them, when a shape touches a node, and which of several shapes does.

A node that several shapes are above is touched by the lowest one.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.soil.ground import Ground, node_at, shelter
from sandlot.physics.soil.search.bounds import Rectangle
from sandlot.typing import Array, IntArray

RELEASE_GAP, STEEP_GAP = 1e-3, 5.0
"""A node stays touched until the body is this far above it [m], so that the walls of a rut do not slide in under a body
that is lifted by a few micrometres. Where a shape is searched at several points, it is so many times the spacing: the
mean height of a steep wall above a cell depends much on how far the wall is above the cell."""
FULL_DEPTH, MIN_PART = 3e-5, 1e-6
"""A point of a cell that has yielded counts fully from this depth on [m]; in proportion to its depth, but no less than
this, above that. If it counted fully from the surface on, the force would jump whenever a point begins to touch, since
the hollow of a cell has one depth for all its points, and small feet would tremble."""


BLOCK_SIZE = 64
"""Cells that are searched together."""
CELLS = np.dtype(
    [
        (name, np.float64, BLOCK_SIZE)
        for name in (
            *("x0", "y0", "undeformed", "loose", "sinkage", "contact", "slope_x", "slope_y", "first", "second", "top"),
            *("low", "covered", "lowest", "share", "x", "y", "z", "weight"),
        )
    ]
    + [(name, np.int64, BLOCK_SIZE) for name in ("index", "number", "place")]
)
"""Cells that are searched at several points each.

First comes what is known of a cell: its centre [m], fields of its node, the slope of the undeformed ground, the two
heights of `levels` [m], and the height below which points count [m].
``low`` and ``covered`` say where the shape is at one point of each cell: its height [m], and how much of the point it
covers. The sums over all points are the lowest of them [m], how many count, and their places from the centre on and
heights [m], multiplied by their weights; and the weights. ``index`` is the number of the node, ``number`` that of the
cell in its block, and ``place`` where the first point of a mesh above it is in `Mesh.bottom`."""


class Patches(NamedTuple):
    """Room for the patches of all shapes, one after the other.

    Attributes:
        indices: (room,) numbers of touched nodes; -1 where a lower shape was found.
        contact: (room,) of `sandlot.physics.soil.patch.PATCH_NODE`.
        owner: (nodes of the ground,) where a node that is touched in this step is in ``indices``.
        cells: Record of CELLS, room for cells that are searched at several points.
        row_z: (columns,) room for the lowest points above one row of nodes [m].
        row_covered: (columns,) room for the covered fractions of their cells.
    """

    indices: IntArray
    contact: NDArray[np.void]
    owner: IntArray
    cells: Any
    row_z: Array
    row_covered: Array


@kernel(error_model="numpy", allocates=False, inline="always")
def surface(node: np.void, step: float) -> float:
    """Height below which a body touches a node [m]."""
    touched = (node["contact"] == step - 1.0) | (node["contact"] == step)
    return node["undeformed"] - node["sinkage"] + node["loose"] + (RELEASE_GAP if touched else 0.0)


@kernel(error_model="numpy", allocates=False, inline="always")
def levels(undeformed: float, loose: float, sinkage: float, contact: float, step: float) -> tuple[float, float]:
    """Heights below which points of a shape count as being in the ground [m]; the second, if none is below the first.

    A hollow has the form of the body that made it, of which a node knows only the mean depth. So all of the body that
    is below the undeformed surface counts. The second height is that of `surface`, if it is higher.
    """
    level, touched = undeformed + max(loose - sinkage, 0.0), (contact == step - 1.0) | (contact == step)
    return level, max(level, undeformed - sinkage + loose + (RELEASE_GAP if touched else 0.0))


@kernel(error_model="numpy", allocates=False, inline="always")
def part_of_point(depth: float, sinkage: float) -> float:
    """How much a point of a cell counts at a depth below the undeformed ground [m], if the cell has sunk that much."""
    return min(max(depth * (1.0 / FULL_DEPTH), MIN_PART), 1.0) if sinkage > 0.0 else 1.0


@kernel(error_model="numpy", allocates=False)
def take_over(patches: Patches, node: np.void, index: int, z: float, step: float) -> bool:
    """Whether a shape at a height [m] is the lowest one above a node so far; a higher one does not touch it."""
    if node["contact"] == step:
        other = patches.owner[index]
        if z >= patches.contact[other]["z"]:
            return False
        patches.indices[other] = -1
    return True


@kernel(error_model="numpy", allocates=False, inline="always")
def touch_node(
    patches: Patches, node: np.void, index: int, x: float, y: float, z: float, covered: float, step: float, end: int
) -> int:
    """Add a node to a patch that ends at ``end``, unless a lower shape touches it; returns the end of the patch."""
    if end < len(patches.indices) and (node["contact"] != step or take_over(patches, node, index, z, step)):
        node["contact"], patches.owner[index], patches.indices[end] = step, end, index
        contact = patches.contact[end]
        contact["x"], contact["y"], contact["z"], contact["covered"] = x, y, z, covered
        return end + 1
    return end


@kernel(error_model="numpy", allocates=False, inline="always")
def touch_cell(
    patches: Patches,
    node: np.void,
    index: int,
    x: float,
    y: float,
    z: float,
    covered: float,
    spacing: float,
    step: float,
    end: int,
) -> int:
    """As `touch_node`, for a cell that was searched at several points, if the shape is low enough to touch it."""
    if z < surface(node, step) + (STEEP_GAP * spacing if node["contact"] == step - 1.0 else 0.0):
        return touch_node(patches, node, index, x, y, z, covered, step, end)
    if z < node["undeformed"]:
        shelter(node, step)
    return end


@kernel(error_model="numpy", allocates=False, inline="always")
def is_hidden(patches: Patches, contact: float, index: int, bottom: float, step: float) -> bool:
    """Whether a shape whose lowest point is at a height [m] cannot touch a node, because a lower shape does."""
    return contact == step and patches.contact[patches.owner[index]]["z"] <= bottom


@kernel(error_model="numpy", allocates=False)
def tilt(ground: Ground, i: int, j: int) -> tuple[float, float]:
    """Slope of the undeformed ground at a node, along x and y."""
    ny, nx, wrap, nodes = ground.ny, ground.nx, ground.wrap, ground.nodes
    here = node_at(i, j, ny, nx, wrap)
    if 0 < i < ny - 1 and 0 < j < nx - 1:
        per = 0.5 / ground.spacing
        rise_x = nodes[here + 1]["undeformed"] - nodes[here - 1]["undeformed"]
        rise_y = nodes[here + nx]["undeformed"] - nodes[here - nx]["undeformed"]
        return rise_x * per, rise_y * per
    west, east = node_at(i, j - 1, ny, nx, wrap), node_at(i, j + 1, ny, nx, wrap)
    south, north = node_at(i - 1, j, ny, nx, wrap), node_at(i + 1, j, ny, nx, wrap)
    per_x = (0.5 if west >= 0 and east >= 0 else 1.0) / ground.spacing
    per_y = (0.5 if south >= 0 and north >= 0 else 1.0) / ground.spacing
    rise_x = nodes[east if east >= 0 else here]["undeformed"] - nodes[west if west >= 0 else here]["undeformed"]
    rise_y = nodes[north if north >= 0 else here]["undeformed"] - nodes[south if south >= 0 else here]["undeformed"]
    return rise_x * per_x, rise_y * per_y


@kernel(error_model="numpy", allocates=False)
def cells(ground: Ground, x0: float, x1: float, y0: float, y1: float) -> tuple[int, int, int, int]:
    """First and last row, and first and last column, of the cells that a rectangle [m] touches."""
    per = 1.0 / ground.spacing
    i0, i1 = math.floor((y0 - ground.y0) * per + 0.5), math.floor((y1 - ground.y0) * per + 0.5)
    j0, j1 = math.floor((x0 - ground.x0) * per + 0.5), math.floor((x1 - ground.x0) * per + 0.5)
    if not ground.wrap:
        i0, i1, j0, j1 = max(i0, 0), min(i1, ground.ny - 1), max(j0, 0), min(j1, ground.nx - 1)
    return i0, i1, j0, j1


@kernel(error_model="numpy", allocates=False)
def highest_near(ground: Ground, around: Rectangle) -> float:
    """Height below which a shape can touch nodes in a rectangle or beside it [m]; minus infinity if there are none."""
    i0, i1, j0, j1 = cells(ground, *around)
    i0, i1, j0, j1 = i0 - 1, i1 + 2, j0 - 1, j1 + 2
    if not ground.wrap:
        i0, i1, j0, j1 = max(i0, 0), min(i1, ground.ny), max(j0, 0), min(j1, ground.nx)
    inside = i0 >= 0 and i1 <= ground.ny and j0 >= 0 and j1 <= ground.nx
    highest = -np.inf
    for i in range(i0, i1):
        for j in range(j0, j1):
            index = i * ground.nx + j if inside else node_at(i, j, ground.ny, ground.nx, ground.wrap)
            # Numba looks whether an index is negative, unless it is unsigned.
            node = ground.nodes[np.uint64(index)]
            highest = max(highest, node["undeformed"] + max(node["loose"] - node["sinkage"] + RELEASE_GAP, 0.0))
    return highest
