"""Cells that are searched at several points each, a block of cells at once.

A cell is covered by the share of its points where the shape is in the ground, and touched at their mean. Points near
the surface count in part.
"""

from typing import TypeAlias

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.shapes import MISS, whole_vectors
from sandlot.physics.soil.ground import Ground, node_at
from sandlot.physics.soil.search.nodes import Patches, is_hidden, levels, part_of_point, tilt, touch_cell

Block: TypeAlias = tuple[int, int, int, int]
"""First row, first column, number of rows, number of columns."""


@kernel(error_model="numpy", allocates=False, inline="always")
def move(cells: np.void, source: int, target: int) -> None:
    """Move what is known of a cell to another place."""
    # Numba looks whether an index is negative, unless it is unsigned.
    here, there = np.uint64(source), np.uint64(target)
    cells["index"][there], cells["number"][there] = cells["index"][here], cells["number"][here]
    cells["x0"][there], cells["y0"][there] = cells["x0"][here], cells["y0"][here]
    cells["slope_x"][there], cells["slope_y"][there] = cells["slope_x"][here], cells["slope_y"][here]
    cells["first"][there], cells["second"][there] = cells["first"][here], cells["second"][here]
    cells["sinkage"][there], cells["top"][there] = cells["sinkage"][here], cells["top"][here]


@kernel(error_model="numpy", allocates=False)
def look_up(ground: Ground, patches: Patches, block: Block, bottom: float, step: float) -> int:
    """Look up the cells of a block that a shape may touch.

    Args:
        ground: Not changed.
        patches: Its ``cells`` receive them.
        block: At most BLOCK_SIZE cells.
        bottom: Height of the lowest point of the shape [m].
        step: Number of the step.

    Returns:
        The number of these cells.
    """
    cells, nodes, ny, nx, wrap, spacing = patches.cells, ground.nodes, ground.ny, ground.nx, ground.wrap, ground.spacing
    i0, j0, rows, columns = block
    inside, per, count = i0 > 0 and i0 + rows < ny and j0 > 0 and j0 + columns < nx, 0.5 / spacing, 0
    for i in range(i0, i0 + rows):
        for j in range(j0, j0 + columns):
            here, at = i * nx + j if inside else node_at(i, j, ny, nx, wrap), np.uint64(count)
            node = nodes[np.uint64(here)]
            cells["index"][at], cells["number"][at] = here, count
            cells["x0"][at], cells["y0"][at] = ground.x0 + j * spacing, ground.y0 + i * spacing
            cells["undeformed"][at], cells["loose"][at] = node["undeformed"], node["loose"]
            cells["sinkage"][at], cells["contact"][at] = node["sinkage"], node["contact"]
            if inside:
                west, east, south, north = (
                    np.uint64(here - 1),
                    np.uint64(here + 1),
                    np.uint64(here - nx),
                    np.uint64(here + nx),
                )
                cells["slope_x"][at] = (nodes[east]["undeformed"] - nodes[west]["undeformed"]) * per
                cells["slope_y"][at] = (nodes[north]["undeformed"] - nodes[south]["undeformed"]) * per
            else:
                cells["slope_x"][at], cells["slope_y"][at] = tilt(ground, i, j)
            count += 1
    reach = 0.5 * spacing
    for k in range(whole_vectors(count)):
        first, second = levels(
            cells["undeformed"][k], cells["loose"][k], cells["sinkage"][k], cells["contact"][k], step
        )
        cells["first"][k] = cells["top"][k] = first
        cells["second"][k] = second
        cells["lowest"][k] = bottom - reach * (abs(cells["slope_x"][k]) + abs(cells["slope_y"][k]))
    kept = 0
    for k in range(count):
        lowest = cells["lowest"][k]
        if lowest <= cells["second"][k] and not is_hidden(
            patches, cells["contact"][k], cells["index"][k], lowest, step
        ):
            if kept < k:
                move(cells, k, kept)
            kept += 1
    return kept


@kernel(error_model="numpy", allocates=False, inline="always")
def clear_sums(cells: np.void, count: int) -> None:
    """Forget the points that were added to some cells."""
    for k in range(whole_vectors(count)):
        cells["lowest"][k] = MISS
        cells["share"][k] = cells["x"][k] = cells["y"][k] = cells["z"][k] = cells["weight"][k] = 0.0


@kernel(error_model="numpy", allocates=False, inline="always")
def add_points(cells: np.void, count: int, right: float, up: float) -> None:
    """Add a point of each cell, that far to the right and above its centre [m].

    Args:
        cells: Record of CELLS; ``low`` and ``covered`` say where the shape is at these points.
        count: Number of cells.
        right: [m]
        up: [m]
    """
    for k in range(whole_vectors(count)):
        # The ground between nodes is a slope.
        low, covered = cells["low"][k] - (cells["slope_x"][k] * right + cells["slope_y"][k] * up), cells["covered"][k]
        cells["lowest"][k] = min(cells["lowest"][k], low if covered > 0.0 else MISS)
        depth = cells["top"][k] - low
        counts = (covered > 0.0) & (depth > 0.0)
        part = covered * part_of_point(cells["first"][k] - low, cells["sinkage"][k]) if counts else 0.0
        depth, low = (depth, low) if counts else (0.0, 0.0)
        cells["share"][k] += part
        cells["z"][k] += part * low
        cells["weight"][k] += part * depth
        cells["x"][k] += part * depth * right
        cells["y"][k] += part * depth * up


@kernel(error_model="numpy", allocates=False, inline="always")
def look_higher(cells: np.void, count: int) -> bool:
    """Let points below the second height count in cells without any below the first; returns whether there are any."""
    found = False
    for k in range(count):
        if cells["share"][k] == 0.0 and cells["lowest"][k] < cells["second"][k]:
            cells["top"][k], found = cells["second"][k], True
    return found


@kernel(error_model="numpy", allocates=False)
def touch_cells(ground: Ground, patches: Patches, count: int, points: int, step: float, end: int) -> int:
    """Add touched cells, searched at so many points each, to a patch that ends at ``end``; returns its new end."""
    cells, nodes, spacing, per_point = patches.cells, ground.nodes, ground.spacing, 1.0 / points
    for k in range(whole_vectors(count)):
        per_weight = 1.0 / cells["weight"][k]
        cells["x"][k] = cells["x0"][k] + cells["x"][k] * per_weight
        cells["y"][k] = cells["y0"][k] + cells["y"][k] * per_weight
        cells["z"][k] /= cells["share"][k]
    for k in range(count):
        if cells["share"][k] > 0.0:
            index, part = cells["index"][k], cells["share"][k] * per_point
            x, y, z = cells["x"][k], cells["y"][k], cells["z"][k]
            end = touch_cell(patches, nodes[index], index, x, y, z, part, spacing, step, end)
    return end
