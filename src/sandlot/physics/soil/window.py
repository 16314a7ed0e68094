"""A window of endless ground that follows the bodies on it.

The node in row i and column j of endless ground is stored in row i % ny and column j % nx, so a window moves without
moving nodes: those that it leaves behind are forgotten, and their memory holds the ground ahead.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.attachment import update_pose
from sandlot.physics.mujoco_bridge import Simulation
from sandlot.physics.soil import state as states
from sandlot.physics.soil.ground import NEVER_TOUCHED, NO_WINDOW, Ground, KindArray, enqueue
from sandlot.physics.soil.slides import beside
from sandlot.typing import Array, BoolArray, IntArray

REACH = 0.125
"""The window follows when the middle of the bodies is this fraction of its size away from its own."""
MARGIN = 3.0
"""Bodies stay at least so many times the spacing away from its edge."""
MAX_EXCESS = 0.05
"""A bound of the heights that is higher by more than this [m] is lowered. It is kept otherwise, because it decides at
how many points some shapes are searched, and one large ground never lowers it."""


@kernel(error_model="numpy", allocates=False)
def strays(ground: Ground, shapes: NDArray[np.void], simulation: Simulation) -> bool:
    """Whether shapes are so far from the middle of a window that it has to follow; never, on ground without one."""
    window = ground.window
    if window["row"] == NO_WINDOW:
        return False
    x0, x1, y0, y1 = np.inf, -np.inf, np.inf, -np.inf
    for k in range(len(shapes)):
        update_pose(shapes[k], simulation)
        x, y = shapes[k]["position"][0] - window["x"], shapes[k]["position"][1] - window["y"]
        extent = shapes[k]["radius"]
        x0, x1, y0, y1 = min(x0, x - extent), max(x1, x + extent), min(y0, y - extent), max(y1, y + extent)
    far = abs(0.5 * (x0 + x1)) > window["reach_x"] or abs(0.5 * (y0 + y1)) > window["reach_y"]
    return far or max(-x0, x1) > window["room_x"] or max(-y0, y1) > window["room_y"]


def place_window(ground: Ground, first: IntArray) -> None:
    """Say where the window is: ``first`` (2,) is its first row and column on endless ground."""
    window, (row, column) = ground.window, first.tolist()
    window["row"], window["column"] = row % ground.ny, column % ground.nx
    window["x"] = ground.x0 + (column + 0.5 * (ground.nx - 1)) * ground.spacing
    window["y"] = ground.y0 + (row + 0.5 * (ground.ny - 1)) * ground.spacing


def in_order(ground: Ground, values: Array) -> Array:
    """Values of the nodes, in the order of the window: (ny * nx,) to (ny, nx)."""
    shift = -int(ground.window["row"]), -int(ground.window["column"])
    return np.roll(values.reshape(ground.ny, ground.nx), shift, (0, 1))


def new_strips(shift: IntArray, shape: tuple[int, int]) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of a window that are new after it has moved by so many rows and columns: (2,)."""
    if np.any(np.abs(shift) >= shape):
        yield slice(0, shape[0]), slice(0, shape[1])
        return
    (di, dj), (ny, nx) = shift.tolist(), shape
    if dj:
        yield slice(0, ny), slice(nx - dj, nx) if dj > 0 else slice(0, -dj)
    if di:
        yield slice(ny - di, ny) if di > 0 else slice(0, -di), slice(max(-dj, 0), nx - max(dj, 0))


@kernel(error_model="numpy", allocates=False)
def renew(ground: Ground, where: IntArray, heights: Array, kinds: KindArray) -> None:
    """Replace nodes, given by their places in memory (n,), by undisturbed ground: heights (n,) [m] and kinds (n,)."""
    for k in range(len(where)):
        node = ground.nodes[where[k]]
        node["height"] = node["undeformed"] = heights[k]
        node["sinkage"] = node["loose"] = node["covered"] = 0.0
        node["shear_x"] = node["shear_y"] = node["fill"] = node["origin"] = 0.0
        node["contact"] = NEVER_TOUCHED
        ground.marks[where[k]]["kind"] = kinds[k]


@kernel(error_model="numpy", allocates=False)
def enqueue_steep(ground: Ground, where: IntArray, repose: Array) -> None:
    """Queue those of some nodes that are at an end of a slope steeper than the angle of repose, (kinds,) tangents."""
    nodes, marks, ny, nx, window = ground.nodes, ground.marks, ground.ny, ground.nx, ground.window
    last_row, last_column = (window["row"] - 1) % ny, (window["column"] - 1) % nx
    for k in range(len(where)):
        here = where[k]
        i = here // nx
        j = here - i * nx
        inside = 0 < i < ny - 1 and 0 < j < nx - 1 and i != window["row"] and i != last_row
        inside = inside and j != window["column"] and j != last_column
        for di in range(-1, 2):
            for dj in range(-1, 2):
                there = here + di * nx + dj if inside else beside(ground, i, j, di, dj)
                if there >= 0:
                    fall = nodes[here]["height"] - nodes[there]["height"]
                    stable = repose[marks[here if fall > 0.0 else there]["kind"]] * ground.spacing
                    if fall * fall > stable * stable * (di * di + dj * dj):
                        enqueue(ground, here)


def forget(ground: Ground, renewed: BoolArray) -> None:
    """Take renewed nodes (ny * nx,) out of the queue, and bound the heights again."""
    queued = states.queued_nodes(ground)
    states.enqueue_only(ground, queued[~renewed[queued]])
    highest = ground.nodes["height"].max()
    if not highest <= ground.queue["highest"] <= highest + MAX_EXCESS:
        ground.queue["highest"] = highest
