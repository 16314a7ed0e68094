"""The nodes of deformable ground, and the queue of nodes whose slopes have to be checked.

Soil taken from one node is added to others, so that the volume is conserved.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.typing import Array, IntArray

NODE = np.dtype(
    [
        ("height", np.float64),
        ("undeformed", np.float64),
        ("sinkage", np.float64),
        ("loose", np.float64),
        ("shear_x", np.float32),
        ("shear_y", np.float32),
        ("fill", np.float32),
        ("origin", np.float32),
        ("contact", np.float64),
        ("covered", np.float64),
    ]
)
"""A node of the ground, in one line of the processor's cache.

``height`` is the mean height of its cell [m]. ``undeformed`` is the surface of firm soil before anything pressed it
[m], ``sinkage`` its plastic deformation [m], and ``loose`` the thickness of loose soil on top [m]. Bodies touch loose
soil at ``undeformed - sinkage + loose`` and firm soil at ``undeformed - sinkage``. ``shear_x`` and ``shear_y`` are the
mobilised fraction of the shear strength.

``fill`` is the thickness of soil that slid onto pressed soil and is firm again [m]: the pressed surface is that far
below the firm one. Fill and pressed soil each have an undeformed surface from which their depths are counted.
``undeformed`` is the higher one, and ``origin`` is that of the pressed soil minus that of the fill [m].

``contact`` is the last step in which a body touched the node, or that less SHELTERED if the body is above it, but still
in its rut; a negative value is minus the number of the last rim that it was part of. ``covered`` is the fraction of the
cell that a body covers. Where that is 0 or 1, ``height`` is the height at which bodies touch loose soil.
"""

MARK = np.dtype([("queued", np.bool_), ("kind", np.uint8)])
"""Whether a node is in the queue, and the number of its kind of soil; together, because arrays make `Ground` slow to
pass: Numba passes each as seven words."""
KindArray = NDArray[np.uint8]
"""Numbers of kinds of soil."""

QUEUE = np.dtype([("first", np.int64), ("count", np.int64), ("highest", np.float64)])
"""Position of the first queued node in the ring, number of queued nodes, and a height that no node exceeds [m]."""

WINDOW = np.dtype(
    [("row", np.int64), ("column", np.int64)]
    + [(name, np.float64) for name in ("x", "y", "reach_x", "reach_y", "room_x", "room_y")]
)
"""A window of endless ground, which follows the bodies on it: its first row and column of nodes, NO_WINDOW for other
ground; its middle [m]; how far the middle of the bodies may be from there [m], and how far any of them may be [m]."""
NO_WINDOW = -9
"""A row and a column that is not next to any."""

NO_STEP, NEVER_TOUCHED = -0.5, -0.25
"""Numbers that no step and no rim has: of a step in which nothing is touched, and of nodes that nothing has touched."""
SHELTERED = 0.5
"""What is subtracted from the number of a step in which a body is above a node, but below its undeformed surface."""
LOOSE_DEPTH = 0.03
"""Thickness of soil that stays loose after it was moved, and carries nothing [m]. Deeper soil is firm again under the
weight above it."""

MIN_FILL = 1e-6
"""Thinner fills are none [m]: their thickness is stored in single precision."""


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
        marks: (ny * nx,) of MARK.
        ring: (ny * nx,) ring buffer of the queue: numbers of nodes.
        queue: Record of QUEUE.
        window: Record of WINDOW.
    """

    nodes: NDArray[np.void]
    ny: int
    nx: int
    wrap: bool
    spacing: float
    x0: float
    y0: float
    marks: NDArray[np.void]
    ring: IntArray
    queue: Any
    window: Any


def new_ground(heights: Array, spacing: float, corner: Array, wrap: bool, kinds: KindArray | None = None) -> Ground:
    """Ground of undisturbed soil, with an empty queue.

    Args:
        heights: As for `sandlot.physics.soil.Soil`, and so are ``spacing``, ``corner`` and ``wrap``.
        spacing: [m]
        corner: [m]
        wrap: Whether it continues at its opposite edge.
        kinds: (ny, nx) numbers of the kinds of soil of the nodes; all 0 if not given.
    """
    ny, nx = heights.shape
    nodes = aligned(NODE, ny * nx)
    nodes["height"] = nodes["undeformed"] = heights.ravel()
    nodes["contact"] = NEVER_TOUCHED
    x0, y0 = corner.tolist()
    marks, ring = np.zeros(ny * nx, MARK), np.zeros(ny * nx, np.int64)
    marks["kind"] = 0 if kinds is None else kinds.ravel()
    queue = np.zeros(1, QUEUE)[0]
    queue["highest"] = heights.max()
    window = np.zeros(1, WINDOW)[0]
    window["row"] = window["column"] = NO_WINDOW
    return Ground(nodes, ny, nx, wrap, spacing, x0, y0, marks, ring, queue, window)


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
    if not ground.marks[index]["queued"]:
        ground.marks[index]["queued"] = True
        end = ground.queue["first"] + ground.queue["count"]
        ground.ring[end if end < len(ground.ring) else end - len(ground.ring)] = index
        ground.queue["count"] += 1


@kernel(error_model="numpy", allocates=False, inline="always")
def uncover(node: np.void) -> None:
    """Restore the undeformed surface of pressed soil whose fill is gone."""
    if node["fill"] < MIN_FILL:
        lower = min(node["origin"], 0.0)
        node["undeformed"] += lower
        node["sinkage"] += lower
        node["fill"] = node["origin"] = 0.0


@kernel(error_model="numpy", allocates=False)
def loosen(node: np.void) -> None:
    """Make the fill of a node loose."""
    fill = float(node["fill"])
    node["sinkage"] += fill
    node["loose"] += fill
    node["fill"] = 0.0
    uncover(node)


@kernel(error_model="numpy", allocates=False)
def lay(node: np.void, loose: float) -> None:
    """Set the loose soil of a node [m]: what exceeds LOOSE_DEPTH becomes firm; a negative value is dug from firm soil.

    Soil that becomes firm fills a rut before it raises the undeformed surface. It is dug before the soil below it.
    """
    firm, dug = max(loose - LOOSE_DEPTH, 0.0), max(-loose, 0.0)
    node["loose"] = min(max(loose, 0.0), LOOSE_DEPTH)
    if firm > 0.0:
        refilled, filled = min(firm, node["sinkage"]), node["fill"] > 0.0
        raised = firm - refilled
        node["sinkage"] -= refilled
        node["undeformed"] += raised
        if filled or refilled > 0.0:
            # The fill's undeformed surface is no lower than its firm one; the pressed soil stays where it is.
            node["origin"] = min(node["origin"], node["sinkage"]) - raised if filled else node["sinkage"] - raised
            node["fill"] += firm
    elif dug > 0.0:
        part = min(dug, node["fill"])
        node["sinkage"] += part
        node["fill"] -= part
        node["undeformed"] -= dug - part
        uncover(node)


@kernel(error_model="numpy", allocates=False, inline="always")
def add_soil(node: np.void, amount: float) -> None:
    """Add loose soil to a node that nothing touches, or remove some [m]."""
    node["height"] += amount
    lay(node, node["loose"] + amount)


@kernel(error_model="numpy", allocates=False, inline="always")
def raise_node(ground: Ground, index: int, amount: float) -> None:
    """Add loose soil to a node that nothing touches [m], and put it into the queue."""
    node = ground.nodes[index]
    add_soil(node, amount)
    ground.queue["highest"] = max(ground.queue["highest"], node["height"])
    enqueue(ground, index)


@kernel(error_model="numpy", allocates=False, inline="always")
def shelter(node: np.void, step: float) -> None:
    """Mark a node that no body touches, but that has one above it that is still in its rut."""
    if node["contact"] != step:
        node["contact"] = step - SHELTERED


@kernel(error_model="numpy", allocates=False, inline="always")
def is_held(node: np.void, step: float) -> bool:
    """Whether a body touches a node in this step, or is above it and still in its rut, so that no soil gets there."""
    return (node["contact"] == step) | (node["contact"] == step - SHELTERED)


@kernel(error_model="numpy", allocates=False)
def release(ground: Ground, before: IntArray, step: float) -> int:
    """Release nodes that are no longer touched: they lose their shear, and their cells become level.

    Soil beside a body in a cell falls onto the soil that the body has pressed there, and is loose. The cell does not
    become level as long as the body is still in its rut.

    Args:
        ground: Changed in place.
        before: Nodes that were touched or sheltered in the step before; those that are sheltered now are moved to its
            beginning.
        step: Number of the step.

    Returns:
        The number of nodes that are sheltered.
    """
    sheltered = 0
    for k in range(len(before)):
        node = ground.nodes[before[k]]
        if node["contact"] == step - SHELTERED and step > 0.0:
            node["shear_x"] = node["shear_y"] = 0.0
            before[sheltered] = before[k]
            sheltered += 1
        elif node["contact"] != step:
            node["shear_x"] = node["shear_y"] = node["covered"] = 0.0
            lay(node, node["height"] - (node["undeformed"] - node["sinkage"]))
            enqueue(ground, before[k])
    return sheltered
