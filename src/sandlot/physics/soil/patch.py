"""The contact patch of a body: its width, the slopes of the ground under it, and its edge."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.soil.ground import Ground, KindArray, node_at
from sandlot.typing import IntArray

PATCH_NODE = np.dtype(
    [
        ("x", np.float64),
        ("y", np.float64),
        ("z", np.float64),
        ("covered", np.float64),
        ("slope_x", np.float64),
        ("slope_y", np.float64),
        ("hollow_x", np.float64),
        ("hollow_y", np.float64),
    ]
)
"""A node of a patch, in one line of the processor's cache: lowest point of the body above it [m], covered fraction of
its cell, slope of the undeformed ground, and slope of the ground as the body has deformed it."""
MIN_NEIGHBOURS = 0.04
"""Neighbours that are covered less than this in all count in part for the slope of a hollow, so that it does not jump
when a body begins to touch one of them."""
MIN_WIDTH = 1e-3
"""Minimum width of a patch in Bekker's equation [m]."""


class Patch(NamedTuple):
    """The nodes that a shape touches.

    Attributes:
        indices: (n,) numbers of the nodes.
        contact: (n,) of PATCH_NODE.
        edge: Room for the numbers of the nodes at the edge.
    """

    indices: IntArray
    contact: NDArray[np.void]
    edge: IntArray


@kernel(error_model="numpy", allocates=False)
def patch_width(contact: NDArray[np.void], spacing: float) -> float:
    """The smaller side of a rectangle with the same second moments of area as a patch [m]."""
    area, x, y, xx, xy, yy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(len(contact)):
        part, dx, dy = contact[k]["covered"], contact[k]["x"] - contact[0]["x"], contact[k]["y"] - contact[0]["y"]
        area, x, y = area + part, x + part * dx, y + part * dy
        xx, xy, yy = xx + part * dx * dx, xy + part * dx * dy, yy + part * dy * dy
    x, y = x / area, y / area
    # The second moment of a cell about its own centre.
    own = spacing * spacing / 12.0
    xx, xy, yy = xx / area - x * x + own, xy / area - x * y, yy / area - y * y + own
    least = 0.5 * (xx + yy) - math.sqrt(0.25 * (xx - yy) ** 2 + xy * xy)
    return max(math.sqrt(12.0 * max(least, 0.0)), MIN_WIDTH)


@kernel(error_model="numpy", allocates=False, inline="always")
def slope(
    nodes: NDArray[np.void], kinds: KindArray, index: int, low: int, high: int, per: float, step: float
) -> tuple[float, float, bool]:
    """Slope of the ground at a node, between its neighbours on both sides (-1 for none).

    The rim of a patch does not carry the body: if a body touches one neighbour in this step, the other one counts only
    if it is touched too. In the slope of the hollow, neighbours count as far as they were covered in the step before,
    so that it does not jump when the body begins to touch one of them. Those of another kind of soil do not count: a
    flat body sinks deeper into the softer kind, which is no slope.

    Args:
        nodes: (n,) of NODE.
        kinds: (n,) numbers of their kinds of soil; (0,) if all are of one kind.
        index: Number of the node.
        low: Number of the neighbour on the lower side.
        high: Number of the neighbour on the higher side.
        per: One over the spacing [1/m].
        step: Number of the step.

    Returns:
        Slope of the undeformed ground, slope of the hollow, and whether both neighbours are touched.
    """
    # No branches: the processor cannot predict which neighbours are touched. Numba looks whether an index is negative,
    # unless it is unsigned.
    is_low, is_high, at = low >= 0, high >= 0, np.uint64(index)
    at_low, at_high = np.uint64(max(low, 0)), np.uint64(max(high, 0))
    here, there, beyond = nodes[at], nodes[at_low], nodes[at_high]
    held_low, held_high = is_low & (there["contact"] == step), is_high & (beyond["contact"] == step)
    like_low = like_high = True
    if len(kinds) > 0:
        like_low, like_high = kinds[at_low] == kinds[at], kinds[at_high] == kinds[at]
    below = there["covered"] if held_low & like_low else 0.0
    above = beyond["covered"] if held_high & like_high else 0.0
    deeper = below * (here["sinkage"] - there["sinkage"]) + above * (beyond["sinkage"] - here["sinkage"])
    deeper *= per / max(below + above, MIN_NEIGHBOURS)
    from_low, to_high = is_low & (held_low | (not held_high)), is_high & (held_high | (not held_low))
    first = there["undeformed"] if from_low else here["undeformed"]
    last = beyond["undeformed"] if to_high else here["undeformed"]
    rise = (last - first) * (0.5 * per if from_low & to_high else per)
    return rise, rise - deeper, held_low & held_high


@kernel(error_model="numpy", allocates=False)
def sort_by_kind(kinds: KindArray, indices: IntArray, contact: NDArray[np.void]) -> None:
    """Sort the nodes of a patch by the numbers of their kinds of soil; slopes are not moved with them."""
    done = 0
    while done < len(indices):
        kind = kinds[indices[done]]
        for k in range(done, len(indices)):
            kind = min(kind, kinds[indices[k]])
        for k in range(done, len(indices)):
            if kinds[indices[k]] == kind:
                if k > done:
                    a, b = contact[k], contact[done]
                    indices[k], indices[done] = indices[done], indices[k]
                    a["x"], b["x"] = b["x"], a["x"]
                    a["y"], b["y"] = b["y"], a["y"]
                    a["z"], b["z"] = b["z"], a["z"]
                    a["covered"], b["covered"] = b["covered"], a["covered"]
                done += 1


@kernel(error_model="numpy", allocates=False)
def slopes(ground: Ground, patch: Patch, step: float, mixed: bool = True) -> int:
    """Find the slopes of the ground at every node of a patch, and its edge; returns the number of nodes there.

    The ground may be ``mixed``, of several kinds of soil.
    """
    kinds = ground.marks["kind"]
    index, edge, kinds = patch.indices, patch.edge, kinds if mixed else kinds[:0]
    nodes, ny, nx, wrap, per = ground.nodes, ground.ny, ground.nx, ground.wrap, 1.0 / ground.spacing
    count, i, first = 0, 0, 0
    for k in range(len(index)):
        here, node = index[k], patch.contact[k]
        if not first <= here < first + nx:
            i = here // nx
            first = i * nx
        j = here - first
        west, east, south, north = here - 1, here + 1, here - nx, here + nx
        if not (0 < i < ny - 1 and 0 < j < nx - 1):
            west, east = node_at(i, j - 1, ny, nx, wrap), node_at(i, j + 1, ny, nx, wrap)
            south, north = node_at(i - 1, j, ny, nx, wrap), node_at(i + 1, j, ny, nx, wrap)
        node["slope_x"], node["hollow_x"], within = slope(nodes, kinds, here, west, east, per, step)
        node["slope_y"], node["hollow_y"], between = slope(nodes, kinds, here, south, north, per, step)
        edge[count] = here
        count += not (within & between)
    if count == 0:
        # The body covers all of the ground.
        for k in range(len(index)):
            edge[k] = index[k]
        count = len(index)
    return count
