"""The nodes of deformable ground: what is kept of each, and how soil moves from one to another.

What is taken from one node is given to others, so that the volume stays the same. A node that has changed waits in a
ring of nodes to be looked at; a step looks at some of them, and moves soil down where it lies too steep. So a slide
takes time, and costs no more on a large terrain than on a small one.
"""

import math
from typing import NamedTuple, TypeAlias

import numpy as np

from sandlot.kernels import kernel
from sandlot.typing import Array, BoolArray, IntArray

Three: TypeAlias = tuple[float, float, float]

HEIGHT, FREE, SUNK, LOOSE, SHEAR_X, SHEAR_Y, TOUCHED, PART = range(8)
"""What is kept of a node: mean height of its cell [m]; where the surface of firm soil would be had nothing pressed it
[m], how far it has been pressed for good [m], and how much loose soil lies on it [m]; which part of the shear strength
is mobilised, along x and y; the last step in which it was touched, or if negative, minus the number of the rim it was
part of; and which part of its cell a body covers. A body feels loose soil from FREE - SUNK + LOOSE on, and firm soil
from FREE - SUNK on. Where bodies cover all of a cell or nothing, its height is the former."""
NODE = 8


class Ground(NamedTuple):
    """A grid of nodes, for kernels.

    Attributes:
        nodes: (ny * nx, 8) row by row, as described by this module's constants.
        ny: Rows, along y.
        nx: Columns, along x.
        wrap: Whether it goes on at the other edge.
        spacing: Of nodes [m].
        corner: (2,) x and y of the first node [m].
        waits: (ny * nx,) whether a node waits in the ring.
        ring: (ny * nx,) nodes that wait.
        ends: (2,) where the first of them is in the ring, and how many there are.
    """

    nodes: Array
    ny: int
    nx: int
    wrap: bool
    spacing: float
    corner: Array
    waits: BoolArray
    ring: IntArray
    ends: IntArray


def aligned(*shape: int) -> Array:
    """Zeros, of which the first begins a line of the processor's cache, so that no node lies in two of them."""
    line, size = 64, 8 * math.prod(shape)
    room = np.zeros(size + line, np.uint8)
    first = -room.ctypes.data % line
    return room[first : first + size].view(np.float64).reshape(shape)


DEEP = 0.03
"""Soil that was moved is loose, and carries nothing; what lies deeper than this is firm under its weight [m]."""
TIE = 1e-2
"""Steeper than the angle of repose by less than this does not slide."""


@kernel(error_model="numpy", allocates=False)
def beside(i: int, j: int, ny: int, nx: int, wrap: bool) -> int:
    """The node of a row and a column, or -1 beyond the edge."""
    if 0 <= i < ny and 0 <= j < nx:
        return i * nx + j
    return (i % ny) * nx + j % nx if wrap else -1


@kernel(error_model="numpy", allocates=False)
def queue(waits: BoolArray, ring: IntArray, ends: IntArray, index: int) -> None:
    """Let a node wait to be looked at."""
    if not waits[index]:
        waits[index] = True
        end = ends[0] + ends[1]
        ring[end if end < len(ring) else end - len(ring)] = index
        ends[1] += 1


@kernel(error_model="numpy", allocates=False)
def add(nodes: Array, index: int, amount: float) -> None:
    """Put loose soil on a node that nothing touches, or take some away [m]."""
    nodes[index, HEIGHT] += amount
    loose = nodes[index, LOOSE] + amount
    more = max(loose - DEEP, 0.0)
    # First it makes up for what was pressed.
    back = min(more, nodes[index, SUNK])
    nodes[index, SUNK] -= back
    nodes[index, FREE] += min(loose, 0.0) + (more - back)
    nodes[index, LOOSE] = min(max(loose, 0.0), DEEP)


@kernel(error_model="numpy", allocates=False)
def slide(ground: Ground, repose: float, step: float, most: int) -> None:
    """Look at nodes that wait, and let soil slide from and to them.

    Args:
        ground: Changed in place.
        repose: Tangent of the steepest slope that is stable.
        step: Which; what is touched in it is held.
        most: Look at no more nodes than this.
    """
    nodes, waits, ring, ends = ground.nodes, ground.waits, ground.ring, ground.ends
    ny, nx, wrap = ground.ny, ground.nx, ground.wrap
    straight, diagonal = repose * ground.spacing, math.sqrt(2.0) * repose * ground.spacing
    for _ in range(min(most, ends[1])):
        here = ring[ends[0]]
        ends[0], ends[1] = ends[0] + 1 if ends[0] + 1 < len(ring) else 0, ends[1] - 1
        waits[here] = False
        if nodes[here, TOUCHED] == step:
            continue
        i = here // nx
        j = here - i * nx
        inside = 0 < i < ny - 1 and 0 < j < nx - 1
        for di in range(-1, 2):
            for dj in range(-1, 2):
                there = here + di * nx + dj if inside else beside(i + di, j + dj, ny, nx, wrap)
                if there < 0:
                    continue
                stable = straight if di == 0 or dj == 0 else diagonal
                fall = nodes[here, HEIGHT] - nodes[there, HEIGHT]
                if (abs(fall) > (1.0 + TIE) * stable) & (nodes[there, TOUCHED] != step):
                    amount = math.copysign(0.5 * (abs(fall) - stable), fall)
                    add(nodes, here, -amount)
                    add(nodes, there, amount)
                    queue(waits, ring, ends, here)
                    queue(waits, ring, ends, there)


AHEAD = 0.01
"""Soil pressed out ahead of a moving body or behind it, as a part of what goes to its sides."""
SLOW = 0.02
"""Slower bodies press soil out to all sides alike [m/s]."""


@kernel(error_model="numpy", allocates=False)
def push(ground: Ground, index: int, amount: float, step: float) -> float:
    """Put soil that a face pushes along on the neighbours of its node that nothing touches.

    Args:
        ground: Changed in place.
        index: The node.
        amount: How much, as a height of one cell [m].
        step: Which.

    Returns:
        What is left: nothing, or all if there is no such neighbour [m].
    """
    nodes, ny, nx, wrap = ground.nodes, ground.ny, ground.nx, ground.wrap
    i, j, count = index // nx, index % nx, 0
    for again in range(2):
        share = amount / max(count, 1)
        for m in range(4):
            there = beside(i + (m == 0) - (m == 1), j + (m == 2) - (m == 3), ny, nx, wrap)
            if there >= 0 and nodes[there, TOUCHED] != step:
                if again:
                    add(nodes, there, share)
                    queue(ground.waits, ground.ring, ground.ends, there)
                else:
                    count += 1
    return 0.0 if count > 0 else amount


@kernel(error_model="numpy", allocates=False)
def held(nodes: Array, index: int, step: float) -> float:
    """1 if a node is touched in this step, else 0."""
    return 1.0 if nodes[index, TOUCHED] == step else 0.0


@kernel(error_model="numpy", allocates=False)
def outward(nodes: Array, index: int, nx: int, step: float) -> tuple[float, float]:
    """Away from what is touched around a node, along x and y; the node is not at the edge of the ground."""
    south, north = index - nx, index + nx
    sw, s, se = held(nodes, south - 1, step), held(nodes, south, step), held(nodes, south + 1, step)
    nw, n, ne = held(nodes, north - 1, step), held(nodes, north, step), held(nodes, north + 1, step)
    w, e = held(nodes, index - 1, step), held(nodes, index + 1, step)
    return (sw + w + nw) - (se + e + ne), (sw + s + se) - (nw + n + ne)


@kernel(error_model="numpy", allocates=False)
def outward_at(ground: Ground, i: int, j: int, step: float) -> tuple[float, float]:
    """As `outward`, for any node, by row and column."""
    out_x, out_y = 0.0, 0.0
    for n in range(9):
        di, dj = n // 3 - 1, n % 3 - 1
        other = beside(i + di, j + dj, ground.ny, ground.nx, ground.wrap)
        if other >= 0 and ground.nodes[other, TOUCHED] == step:
            out_x, out_y = out_x - dj, out_y - di
    return out_x, out_y


@kernel(error_model="numpy", allocates=False)
def spill(
    ground: Ground, edge: IntArray, step: float, mark: float, volume: float, x: float, y: float, velocity: Three,
    rim: IntArray, weight: Array,
) -> None:  # fmt: skip
    """Put the soil that was pressed out from under a body on the rim of its patch; the nearer, the more.

    It comes up beside the way of a body that moves, and all around one that does not.

    Args:
        ground: Changed in place.
        edge: Nodes that the body touches, next to some that it does not.
        step: Which; the soil goes to nodes that nothing touches in it.
        mark: The number of the rim: one that none had before.
        volume: How much, as a height of one cell [m].
        x: Where it comes from [m].
        y: Where it comes from [m].
        velocity: Of the body [m/s].
        rim: Room for the nodes of the rim.
        weight: Room for the share of each.
    """
    nodes, ny, nx, wrap = ground.nodes, ground.ny, ground.nx, ground.wrap
    row, column = (y - ground.corner[1]) / ground.spacing, (x - ground.corner[0]) / ground.spacing
    aside = (1.0 - AHEAD) / (velocity[0] ** 2 + velocity[1] ** 2 + SLOW * SLOW)
    count, total = 0, 0.0
    for k in range(len(edge)):
        index = edge[k]
        i = index // nx
        j = index - i * nx
        inside = 0 < i < ny - 1 and 0 < j < nx - 1
        for m in range(4):
            di, dj = (m == 0) - (m == 1), (m == 2) - (m == 3)
            there = index + di * nx + dj if inside else beside(i + di, j + dj, ny, nx, wrap)
            if there < 0 or count == len(rim):
                continue
            touched = nodes[there, TOUCHED]
            fresh = (touched != step) & (touched != -mark)
            nodes[there, TOUCHED] = -mark if fresh else touched
            # No branch, as which ones are fresh is hard to foresee.
            rim[count] = there if fresh else rim[count]
            count += fresh
    for k in range(count):
        # Which way is out, and how far from where the soil comes.
        there = rim[k]
        i = there // nx
        j = there - i * nx
        inside = 0 < i < ny - 1 and 0 < j < nx - 1
        out_x, out_y = outward(nodes, there, nx, step) if inside else outward_at(ground, i, j, step)
        ahead = (out_x * velocity[0] + out_y * velocity[1]) ** 2 / max(out_x**2 + out_y**2, 1.0)
        dy, dx = i - row, j - column
        if wrap:
            dy, dx = dy - ny * np.rint(dy / ny), dx - nx * np.rint(dx / nx)
        weight[k] = (1.0 - aside * ahead) / (dx * dx + dy * dy + 1.0)
        total += weight[k]
    if count == 0:
        # Nowhere to go.
        for k in range(len(edge)):
            nodes[edge[k], HEIGHT] += volume / len(edge)
        return
    share = volume / total
    for k in range(count):
        add(nodes, rim[k], share * weight[k])
        queue(ground.waits, ground.ring, ground.ends, rim[k])


@kernel(error_model="numpy", allocates=False)
def release(ground: Ground, before: IntArray, step: float) -> None:
    """What was touched before, and is not now, forgets its shear and may slide; what was half covered falls in."""
    nodes = ground.nodes
    for k in range(len(before)):
        index = before[k]
        if nodes[index, TOUCHED] != step:
            nodes[index, SHEAR_X] = nodes[index, SHEAR_Y] = nodes[index, PART] = 0.0
            sunk = nodes[index, FREE] + nodes[index, LOOSE] - nodes[index, HEIGHT]
            nodes[index, SUNK] = max(sunk, 0.0)
            nodes[index, LOOSE] += max(-sunk, 0.0)
            queue(ground.waits, ground.ring, ground.ends, index)
