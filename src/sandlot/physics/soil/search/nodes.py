"""Nodes that shapes touch: room for them, when a shape touches a node, and which of several shapes does.

A node that several shapes are above is touched by the lowest one.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.soil.ground import Ground, node_at, shelter
from sandlot.typing import Array, IntArray

RELEASE_GAP, STEEP_GAP = 1e-3, 5.0
"""A node stays touched until the body is this far above it [m], so that the walls of a rut do not slide in under a body
that is lifted by a few micrometres. Where a shape is searched at several points, it is so many times the spacing: the
mean height of a steep wall above a cell depends much on how far the wall is above the cell."""
FULL_DEPTH, MIN_PART = 1e-4, 1e-6
"""A point of a cell counts fully from this depth on [m]; in proportion to its depth, but no less than this, above that.
If it counted fully from the surface on, the force would jump whenever a point begins to touch, since the hollow of a
cell has one depth for all its points, and small feet would tremble."""


class Patches(NamedTuple):
    """Room for the patches of all shapes, one after the other.

    Attributes:
        indices: (room,) numbers of touched nodes; -1 where a lower shape was found.
        contact: (room,) of `sandlot.physics.soil.patch.PATCH_NODE`.
        owner: (nodes of the ground,) where a node that is touched in this step is in ``indices``.
        row_z: (columns,) room for the lowest points above one row of nodes [m].
        row_covered: (columns,) room for the covered fractions of their cells.
    """

    indices: IntArray
    contact: NDArray[np.void]
    owner: IntArray
    row_z: Array
    row_covered: Array


@kernel(error_model="numpy", allocates=False, inline="always")
def surface(node: np.void, step: float) -> float:
    """Height below which a body touches a node [m]."""
    touched = (node["contact"] == step - 1.0) | (node["contact"] == step)
    return node["undeformed"] - node["sinkage"] + node["loose"] + (RELEASE_GAP if touched else 0.0)


@kernel(error_model="numpy", allocates=False, inline="always")
def levels(node: np.void, step: float) -> tuple[float, float]:
    """Heights below which points of a shape count as being in the ground [m]; the second, if none is below the first.

    A hollow has the form of the body that made it, of which a node knows only the mean depth. So all of the body that
    is below the undeformed surface counts. The second height is that of `surface`, if it is higher.
    """
    level = node["undeformed"] + max(node["loose"] - node["sinkage"], 0.0)
    return level, max(level, surface(node, step))


@kernel(error_model="numpy", allocates=False, inline="always")
def part_of_point(depth: float) -> float:
    """How much a point of a cell counts at a depth below the undeformed ground [m]."""
    return min(max(depth * (1.0 / FULL_DEPTH), MIN_PART), 1.0)


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
def is_hidden(patches: Patches, node: np.void, index: int, bottom: float, step: float) -> bool:
    """Whether a shape whose lowest point is at a height [m] cannot touch a node, because a lower shape does."""
    return node["contact"] == step and patches.contact[patches.owner[index]]["z"] <= bottom


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
