"""The nodes of deformable ground, and the queue of nodes whose slopes have to be checked.

Soil taken from one node is added to others, so that the volume is conserved.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.typing import Array, BoolArray, IntArray

NODE = np.dtype(
    [
        ("height", np.float64),
        ("undeformed", np.float64),
        ("sinkage", np.float64),
        ("loose", np.float64),
        ("shear_x", np.float64),
        ("shear_y", np.float64),
        ("contact", np.float64),
        ("covered", np.float64),
    ]
)
"""A node of the ground, in one line of the processor's cache.

``height`` is the mean height of its cell [m]. ``undeformed`` is the surface of firm soil before anything pressed it
[m], ``sinkage`` its plastic deformation [m], and ``loose`` the thickness of loose soil on top [m]. Bodies touch loose
soil at ``undeformed - sinkage + loose`` and firm soil at ``undeformed - sinkage``. ``shear_x`` and ``shear_y`` are the
mobilised fraction of the shear strength. ``contact`` is the last step in which a body touched the node; a negative
value is minus the number of the last rim that it was part of. ``covered`` is the fraction of the cell that a body
covers. Where that is 0 or 1, ``height`` is the height at which bodies touch loose soil.
"""

QUEUE = np.dtype([("first", np.int64), ("count", np.int64)])
"""Position of the first queued node in the ring, and number of queued nodes."""

NO_STEP, NEVER_TOUCHED = -0.5, -0.25
"""Numbers that no step and no rim has: of a step in which nothing is touched, and of nodes that nothing has touched."""
LOOSE_DEPTH = 0.03
"""Thickness of soil that stays loose after it was moved, and carries nothing [m]. Deeper soil is firm again under the
weight above it."""


class Ground(NamedTuple):
    """A grid of nodes, for kernels.

    Attributes:
        nodes: (ny * nx,) of NODE, row by row.
        ny: Rows, along y.
        nx: Columns, along x.
        wrap: Whether the ground continues at its opposite edge.
        spacing: Distance of nodes [m].
        x0: x of the first node [m].
        y0: y of the first node [m].
        queued: (ny * nx,) whether a node is in the queue.
        ring: (ny * nx,) ring buffer of the queue: numbers of nodes.
        queue: Record of QUEUE.
    """

    nodes: NDArray[np.void]
    ny: int
    nx: int
    wrap: bool
    spacing: float
    x0: float
    y0: float
    queued: BoolArray
    ring: IntArray
    queue: Any


def new_ground(heights: Array, spacing: float, corner: Array, wrap: bool) -> Ground:
    """Ground of undisturbed soil, with an empty queue; arguments as of `sandlot.physics.soil.Soil`."""
    ny, nx = heights.shape
    nodes = aligned(NODE, ny * nx)
    nodes["height"] = nodes["undeformed"] = heights.ravel()
    nodes["contact"] = NEVER_TOUCHED
    x0, y0 = corner.tolist()
    queued, ring = np.zeros(ny * nx, np.bool_), np.zeros(ny * nx, np.int64)
    return Ground(nodes, ny, nx, wrap, spacing, x0, y0, queued, ring, np.zeros(1, QUEUE)[0])


def aligned(dtype: np.dtype[Any], count: int) -> NDArray[np.void]:
    """Zeros that begin at a line of the processor's cache, so that no record of 64 bytes lies in two of them."""
    line, size = 64, dtype.itemsize * count
    room = np.zeros(size + line, np.uint8)
    first = -room.ctypes.data % line
    return room[first : first + size].view(dtype)


@kernel(error_model="numpy", allocates=False)
def node_at(i: int, j: int, ny: int, nx: int, wrap: bool) -> int:
    """The number of the node in a row and a column, or -1 beyond the edge."""
    if 0 <= i < ny and 0 <= j < nx:
        return i * nx + j
    return (i % ny) * nx + j % nx if wrap else -1


@kernel(error_model="numpy", allocates=False)
def enqueue(ground: Ground, index: int) -> None:
    """Put a node into the queue, unless it is there."""
    if not ground.queued[index]:
        ground.queued[index] = True
        end = ground.queue["first"] + ground.queue["count"]
        ground.ring[end if end < len(ground.ring) else end - len(ground.ring)] = index
        ground.queue["count"] += 1


@kernel(error_model="numpy", allocates=False)
def add_soil(node: np.void, amount: float) -> None:
    """Add loose soil to a node that nothing touches, or remove some [m]."""
    node["height"] += amount
    loose = node["loose"] + amount
    firm = max(loose - LOOSE_DEPTH, 0.0)
    # Soil that becomes firm fills a rut before it raises the undeformed surface.
    refilled = min(firm, node["sinkage"])
    node["sinkage"] -= refilled
    node["undeformed"] += min(loose, 0.0) + (firm - refilled)
    node["loose"] = min(max(loose, 0.0), LOOSE_DEPTH)


@kernel(error_model="numpy", allocates=False)
def release(ground: Ground, before: IntArray, step: float) -> None:
    """Release the nodes ``before`` that are no longer touched: they lose their shear, and their cells become level."""
    for k in range(len(before)):
        node = ground.nodes[before[k]]
        if node["contact"] != step:
            node["shear_x"] = node["shear_y"] = node["covered"] = 0.0
            sinkage = node["undeformed"] + node["loose"] - node["height"]
            node["sinkage"] = max(sinkage, 0.0)
            node["loose"] += max(-sinkage, 0.0)
            enqueue(ground, before[k])
