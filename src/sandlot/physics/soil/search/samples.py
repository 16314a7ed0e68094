"""The nodes under a round or tilted shape, each searched at several points of its cell.

A cell is covered by the share of its points where the shape is in the ground, and touched at their mean. Points near
the surface count in part.
"""

import math

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.shapes import CAPSULE, CYLINDER, MISS, SPHERE, covered_fraction, half_extent, lowest
from sandlot.physics.soil.ground import Ground, node_at
from sandlot.physics.soil.search.bounds import Rectangle
from sandlot.physics.soil.search.nodes import (
    RELEASE_GAP,
    Patches,
    cells,
    is_hidden,
    levels,
    part_of_point,
    tilt,
    touch_cell,
)

SPHERE_SAMPLES, SAMPLES, MAX_SAMPLES = 8, 6, 5
"""The contact of a sphere, and that of other shapes, is searched at this many points across, if that takes no more than
so many across a cell."""


@kernel(error_model="numpy", allocates=False)
def find_by_samples(
    ground: Ground, shape: np.void, around: Rectangle, patches: Patches, start: int, step: float
) -> int:
    """As `find`, at several points of each cell in a rectangle."""
    kind, position, mat, spacing = shape["kind"], shape["position"], shape["rotation"], ground.spacing
    size, d = (shape["size"][0], shape["size"][1], shape["size"][2]), (mat[6], mat[7], mat[8])
    i0, i1, j0, j1 = cells(ground, *around)
    across = max(min(around[1] - around[0], around[3] - around[2]), 1e-9)
    if kind in (CAPSULE, CYLINDER):
        # Of its lowest part, that below the highest node.
        above = position[2] - abs(mat[8]) * size[1] - ground.queue["highest"] - RELEASE_GAP
        across = min(across, 2.0 * math.sqrt(max(size[0] * size[0] - max(above, 0.0) ** 2, 1e-18)))
    wanted = SPHERE_SAMPLES if kind in (SPHERE, CAPSULE, CYLINDER) else SAMPLES
    needed = min(max(wanted * spacing / across, 1.0), MAX_SAMPLES)
    if not abs(shape["samples"] - needed) <= 0.4 * shape["samples"]:
        # Changed rarely, since forces jump then.
        shape["samples"] = math.ceil(needed)
    samples = shape["samples"]
    fine, end, square = spacing / samples, start, size[0] * size[0]
    middle, whole = 0.5 * (samples - 1), max(size[0] - 0.5 * fine, 0.0) ** 2
    bottom = position[2] - half_extent(kind, size, mat[6], mat[7], mat[8])
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            index = node_at(i, j, ground.ny, ground.nx, ground.wrap)
            if index < 0:
                continue
            node, share, x, y, z, weight = ground.nodes[index], 0.0, 0.0, 0.0, 0.0, 0.0
            first, second = levels(node, step)
            top = first
            slope_x, slope_y = tilt(ground, i, j)
            node_x, node_y, rise = ground.x0 + j * spacing, ground.y0 + i * spacing, abs(slope_x) + abs(slope_y)
            low = bottom
            if kind == SPHERE:
                # The lowest point above the cell.
                ox = max(abs(node_x - position[0]) - 0.5 * spacing, 0.0)
                oy = max(abs(node_y - position[1]) - 0.5 * spacing, 0.0)
                low = position[2] - math.sqrt(max(square - ox * ox - oy * oy, 0.0))
            low -= 0.5 * spacing * rise
            if low > second or is_hidden(patches, node, index, low, step):
                continue
            while True:
                lowest_point = MISS
                for a in range(samples):
                    up = (a - middle) * fine
                    oy = node_y + up - position[1]
                    for b in range(samples):
                        right = (b - middle) * fine
                        ox, oz = node_x + right - position[0], -position[2]
                        if kind == SPHERE:
                            off, covered = ox * ox + oy * oy, 1.0
                            low = position[2] - math.sqrt(max(square - off, 0.0))
                            if off > whole:
                                covered = covered_fraction(size[0] - math.sqrt(off), fine)
                        else:
                            p = (
                                mat[0] * ox + mat[3] * oy + mat[6] * oz,
                                mat[1] * ox + mat[4] * oy + mat[7] * oz,
                                mat[2] * ox + mat[5] * oy + mat[8] * oz,
                            )
                            low, covered = lowest(kind, size, p, d, fine)
                        # The ground between nodes is a slope.
                        low -= slope_x * right + slope_y * up
                        if covered > 0.0:
                            lowest_point = min(lowest_point, low)
                            depth = top - low
                            if depth > 0.0:
                                covered *= part_of_point(first - low)
                                share, z, weight = share + covered, z + covered * low, weight + covered * depth
                                x, y = x + covered * depth * ox, y + covered * depth * oy
                if share > 0.0 or not lowest_point < second:
                    break
                top = second
            if share > 0.0:
                x, y, z = position[0] + x / weight, position[1] + y / weight, z / share
                part = share / (samples * samples)
                end = touch_cell(patches, node, index, x, y, z, part, spacing, step, end)
    return end - start


@kernel(error_model="numpy", allocates=False)
def centre_contact(ground: Ground, shape: np.void, patches: Patches, start: int, end: int) -> None:
    """Move the contact of a sphere, capsule or wheel under its centre or axis, if so few points are in it.

    Otherwise the body would roll on hard ground towards the middle between these points.
    """
    position, mat, radius = shape["position"], shape["rotation"], shape["size"][0]
    x, y, weight, deepest, slope_x, slope_y = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(start, end):
        contact, index = patches.contact[k], patches.indices[k]
        node = ground.nodes[index]
        depth = max(node["undeformed"] + max(node["loose"] - node["sinkage"], 0.0) - contact["z"], 0.0)
        part, (along_x, along_y) = contact["covered"] * depth, tilt(ground, index // ground.nx, index % ground.nx)
        x, y, weight = x + part * contact["x"], y + part * contact["y"], weight + part
        slope_x, slope_y, deepest = slope_x + part * along_x, slope_y + part * along_y, max(deepest, depth)
    wide = math.sqrt(max((2.0 * radius - deepest) * deepest, 0.0))
    share = min(max(2.0 - wide / (0.75 * ground.spacing), 0.0), 1.0)
    if share > 0.0 and weight > 0.0:
        slope_x, slope_y = slope_x / weight, slope_y / weight
        below = radius / math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
        x, y = position[0] + below * slope_x - x / weight, position[1] + below * slope_y - y / weight
        if shape["kind"] != SPHERE:
            # Along its axis the contact is long, or at an end.
            level = mat[2] * mat[2] + mat[5] * mat[5]
            along = (x * mat[2] + y * mat[5]) / max(level, 1e-12)
            x, y = x - along * mat[2], y - along * mat[5]
        for k in range(start, end):
            patches.contact[k]["x"] += share * x
            patches.contact[k]["y"] += share * y
