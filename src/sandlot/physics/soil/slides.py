"""Slopes steeper than the angle of repose slide.

A node that has changed is queued. A step checks some of the queued nodes, so that a slide takes time, and a step costs
no more on a large terrain than on a small one.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.soil.ground import Ground, add_soil, enqueue, is_held, node_at
from sandlot.typing import Array, BoolArray

REPOSE_TOLERANCE = 1e-2
"""Slopes that exceed the tangent of the angle of repose by no more than this fraction do not slide."""


def steep(heights: Array, repose: Array, spacing: float, wrap: bool) -> BoolArray:
    """Nodes of ground at the ends of slopes that are steeper than the angle of repose, at least one for each slope.

    Args:
        heights: (ny, nx) [m]
        repose: (ny, nx) tangents of the angles of repose.
        spacing: Distance of nodes [m].
        wrap: Whether the ground continues at its opposite edge.
    """
    found, (ny, nx) = np.zeros(heights.shape, np.bool_), heights.shape
    there, limit = (
        np.pad(each, 1, mode="wrap") if wrap else np.pad(each, 1, constant_values=np.nan) for each in (heights, repose)
    )
    for i, j in ((1, 2), (2, 1), (2, 2), (2, 0)):
        at = slice(i, i + ny), slice(j, j + nx)
        fall = np.nan_to_num(heights - there[at])
        stable = np.where(fall > 0.0, repose, limit[at])
        found |= np.abs(fall) > stable * spacing * np.hypot(i - 1, j - 1)
    return found


@kernel(error_model="numpy", allocates=False)
def beside(ground: Ground, i: int, j: int, di: int, dj: int) -> int:
    """The node beside that in row i and column j, or -1 if there is none.

    In memory, the nodes at opposite edges of a window are neighbours, but soil does not slide from one to the other.
    """
    row, column, ny, nx = ground.window["row"], ground.window["column"], ground.ny, ground.nx
    beyond = (di < 0 and i == row) or (di > 0 and (i + 1) % ny == row)
    if beyond or (dj < 0 and j == column) or (dj > 0 and (j + 1) % nx == column):
        return -1
    return node_at(i + di, j + dj, ny, nx, ground.wrap)


@kernel(error_model="numpy", allocates=False, inline="always")
def is_loose(nodes: NDArray[np.void], height: float, index: int, step: float, most: float) -> int:
    """1 if soil may slide between a height [m] and a node that differs by more than ``most`` [m], else 0."""
    # Numba looks whether an index is negative, unless it is unsigned.
    other = nodes[np.uint64(index)]
    return int((abs(height - other["height"]) > most) & (not is_held(other, step)))


@kernel(error_model="numpy", allocates=False, inline="always")
def may_slide(nodes: NDArray[np.void], index: int, nx: int, step: float, straight: float, diagonal: float) -> bool:
    """Whether soil may slide from or to a node that is not at the edge.

    Args:
        nodes: (n,) of NODE.
        index: Number of the node.
        nx: Columns.
        step: Number of the step.
        straight: Largest stable difference from neighbours in its row and column [m].
        diagonal: Largest stable difference from the other neighbours [m].
    """
    # A sum, not conditions, which the processor cannot predict: nodes beside a body have steep slopes to held ones.
    height, south, north = nodes[index]["height"], index - nx, index + nx
    count = is_loose(nodes, height, index - 1, step, straight) + is_loose(nodes, height, index + 1, step, straight)
    count += is_loose(nodes, height, south, step, straight) + is_loose(nodes, height, north, step, straight)
    count += is_loose(nodes, height, south - 1, step, diagonal) + is_loose(nodes, height, south + 1, step, diagonal)
    count += is_loose(nodes, height, north - 1, step, diagonal) + is_loose(nodes, height, north + 1, step, diagonal)
    return count > 0


@kernel(error_model="numpy", allocates=False)
def slide(ground: Ground, repose: Array, step: float, max_nodes: int) -> None:
    """Check queued nodes, and let soil slide from and to them, as the kind of the upper node of a slope allows.

    Args:
        ground: Changed in place.
        repose: (kinds,) tangents of the angles of repose.
        step: Number of the step; nodes that a body touches in it, or above which it is in its rut, do not slide.
        max_nodes: Check no more nodes than this.
    """
    nodes, ring, queue, marks, ny, nx = ground.nodes, ground.ring, ground.queue, ground.marks, ground.ny, ground.nx
    straight, diagonal = repose[0] * ground.spacing, math.sqrt(2.0) * repose[0] * ground.spacing
    most, row, column = 1.0 + REPOSE_TOLERANCE, ground.window["row"], ground.window["column"]
    last_row, last_column = (row - 1) % ny if row >= 0 else row, (column - 1) % nx if column >= 0 else column
    for _ in range(min(max_nodes, queue["count"])):
        here = ring[queue["first"]]
        queue["first"] = queue["first"] + 1 if queue["first"] + 1 < len(ring) else 0
        queue["count"] -= 1
        marks[here]["queued"] = False
        node = nodes[here]
        if is_held(node, step):
            continue
        i = here // nx
        j = here - i * nx
        inside = 0 < i < ny - 1 and 0 < j < nx - 1
        inside = inside and i != row and i != last_row and j != column and j != last_column
        if inside and len(repose) == 1 and not may_slide(nodes, here, nx, step, most * straight, most * diagonal):
            continue
        for di in range(-1, 2):
            for dj in range(-1, 2):
                there = here + di * nx + dj if inside else beside(ground, i, j, di, dj)
                if there < 0:
                    continue
                other = nodes[there]
                fall = node["height"] - other["height"]
                if len(repose) > 1:
                    tangent = repose[marks[here if fall > 0.0 else there]["kind"]]
                    straight, diagonal = tangent * ground.spacing, math.sqrt(2.0) * tangent * ground.spacing
                stable = straight if di == 0 or dj == 0 else diagonal
                if abs(fall) > most * stable and not is_held(other, step):
                    amount = math.copysign(0.5 * (abs(fall) - stable), fall)
                    add_soil(node, -amount)
                    add_soil(other, amount)
                    enqueue(ground, here)
                    enqueue(ground, there)
