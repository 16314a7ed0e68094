"""Where soil goes that a body displaces: to the rim of its contact patch, or to the cells ahead of a face."""

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import Three
from sandlot.physics.soil.ground import SHELTERED, Ground, is_held, node_at, raise_node
from sandlot.typing import IntArray

RIM_NODE = np.dtype([("index", np.int64), ("weight", np.float64)])
"""A node of a rim, and its share of the displaced soil before all shares are scaled to a sum of 1."""
SHARE_AHEAD = 0.01
"""Soil that rises ahead of and behind a moving body, as a fraction of what rises at its sides."""
UNDIRECTED_SPEED = 0.02
"""Bodies slower than about this [m/s] displace soil equally in all directions."""


@kernel(error_model="numpy", allocates=False, inline="always")
def is_free(nodes: NDArray[np.void], index: int, step: float) -> bool:
    """Whether there is a node, and no body touches or shelters it in this step."""
    return index >= 0 and not is_held(nodes[index], step)


@kernel(error_model="numpy", allocates=False)
def push_aside(ground: Ground, index: int, amount: float, step: float) -> float:
    """Add soil that a face pushes along to the neighbours of its node that nothing touches.

    Args:
        ground: Changed in place.
        index: Number of the node.
        amount: Soil, as a height of one cell [m].
        step: Number of the step.

    Returns:
        The soil that is left [m]: none, or all if there is no such neighbour.
    """
    nodes, ny, nx, wrap = ground.nodes, ground.ny, ground.nx, ground.wrap
    i = index // nx
    j = index - i * nx
    north, south, east, west = index + nx, index - nx, index + 1, index - 1
    if not (0 < i < ny - 1 and 0 < j < nx - 1):
        north, south = node_at(i + 1, j, ny, nx, wrap), node_at(i - 1, j, ny, nx, wrap)
        east, west = node_at(i, j + 1, ny, nx, wrap), node_at(i, j - 1, ny, nx, wrap)
    to_north, to_south = is_free(nodes, north, step), is_free(nodes, south, step)
    to_east, to_west = is_free(nodes, east, step), is_free(nodes, west, step)
    count = to_north + to_south + to_east + to_west
    share = amount / max(count, 1)
    if to_north:
        raise_node(ground, north, share)
    if to_south:
        raise_node(ground, south, share)
    if to_east:
        raise_node(ground, east, share)
    if to_west:
        raise_node(ground, west, share)
    return 0.0 if count > 0 else amount


@kernel(error_model="numpy", allocates=False)
def is_touched(nodes: NDArray[np.void], index: int, step: float) -> float:
    """1 if a body touches a node in this step, else 0."""
    return 1.0 if nodes[index]["contact"] == step else 0.0


@kernel(error_model="numpy", allocates=False)
def outward(nodes: NDArray[np.void], index: int, nx: int, step: float) -> tuple[float, float]:
    """Direction away from the touched nodes around a node, along x and y; the node is not at the edge of the ground."""
    south, north = index - nx, index + nx
    sw, s, se = is_touched(nodes, south - 1, step), is_touched(nodes, south, step), is_touched(nodes, south + 1, step)
    nw, n, ne = is_touched(nodes, north - 1, step), is_touched(nodes, north, step), is_touched(nodes, north + 1, step)
    w, e = is_touched(nodes, index - 1, step), is_touched(nodes, index + 1, step)
    return (sw + w + nw) - (se + e + ne), (sw + s + se) - (nw + n + ne)


@kernel(error_model="numpy", allocates=False)
def outward_at_edge(ground: Ground, i: int, j: int, step: float) -> tuple[float, float]:
    """As `outward`, for any node, by row and column."""
    out_x, out_y = 0.0, 0.0
    for n in range(9):
        di, dj = n // 3 - 1, n % 3 - 1
        other = node_at(i + di, j + dj, ground.ny, ground.nx, ground.wrap)
        if other >= 0 and ground.nodes[other]["contact"] == step:
            out_x, out_y = out_x - dj, out_y - di
    return out_x, out_y


@kernel(error_model="numpy", allocates=False)
def collect_rim(ground: Ground, edge: IntArray, step: float, rim_number: float, rim: NDArray[np.void]) -> int:
    """Collect the untouched neighbours of the nodes at the edge of a patch, each once; returns their number."""
    nodes, ny, nx, wrap, count = ground.nodes, ground.ny, ground.nx, ground.wrap, 0
    for k in range(len(edge)):
        index = edge[k]
        i = index // nx
        j = index - i * nx
        inside = 0 < i < ny - 1 and 0 < j < nx - 1
        for m in range(4):
            di, dj = (m == 0) - (m == 1), (m == 2) - (m == 3)
            there = index + di * nx + dj if inside else node_at(i + di, j + dj, ny, nx, wrap)
            if there < 0 or count == len(rim):
                continue
            contact = nodes[there]["contact"]
            fresh = (contact != step) & (contact != step - SHELTERED) & (contact != -rim_number)
            nodes[there]["contact"] = -rim_number if fresh else contact
            # No branch: the processor cannot predict which nodes are fresh.
            rim[count]["index"] = there if fresh else rim[count]["index"]
            count += fresh
    return count


@kernel(error_model="numpy", allocates=False)
def spill(
    ground: Ground,
    edge: IntArray,
    step: float,
    rim_number: float,
    volume: float,
    source: tuple[float, float],
    velocity: Three,
    rim: NDArray[np.void],
) -> None:
    """Add the soil that was displaced from under a body to the rim of its patch, more where it is nearer.

    It rises at the sides of a body that moves, and all around one that does not.

    Args:
        ground: Changed in place.
        edge: Nodes that the body touches, next to some that it does not.
        step: Number of the step; the soil goes to nodes that nothing touches in it.
        rim_number: Number of the rim, larger than that of any rim before.
        volume: Displaced soil, as a height of one cell [m].
        source: x and y of the centre of the displaced soil [m].
        velocity: Velocity of the body [m/s].
        rim: Room for the nodes of the rim: (n,) of RIM_NODE.
    """
    nodes, ny, nx, wrap = ground.nodes, ground.ny, ground.nx, ground.wrap
    row, column = (source[1] - ground.y0) / ground.spacing, (source[0] - ground.x0) / ground.spacing
    aside = (1.0 - SHARE_AHEAD) / (velocity[0] ** 2 + velocity[1] ** 2 + UNDIRECTED_SPEED * UNDIRECTED_SPEED)
    count, total = collect_rim(ground, edge, step, rim_number, rim), 0.0
    for k in range(count):
        there = rim[k]["index"]
        i = there // nx
        j = there - i * nx
        inside = 0 < i < ny - 1 and 0 < j < nx - 1
        out_x, out_y = outward(nodes, there, nx, step) if inside else outward_at_edge(ground, i, j, step)
        ahead = (out_x * velocity[0] + out_y * velocity[1]) ** 2 / max(out_x**2 + out_y**2, 1.0)
        dy, dx = i - row, j - column
        if wrap:
            dy, dx = dy - ny * np.rint(dy / ny), dx - nx * np.rint(dx / nx)
        weight = (1.0 - aside * ahead) / (dx * dx + dy * dy + 1.0)
        rim[k]["weight"] = weight
        total += weight
    if count == 0:
        # All of the ground is covered: the soil stays where it was.
        for k in range(len(edge)):
            nodes[edge[k]]["height"] += volume / len(edge)
        return
    share = volume / total
    for k in range(count):
        raise_node(ground, rim[k]["index"], share * rim[k]["weight"])
