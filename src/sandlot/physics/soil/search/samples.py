"""The nodes under a round or tilted shape, each searched at several points of its cell."""

import math

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.shapes import (
    BOX,
    CAPSULE,
    CYLINDER,
    LYING,
    SPHERE,
    STEEP,
    Three,
    covered_fraction,
    half_extent,
    lowest,
    whole_vectors,
)
from sandlot.physics.soil.ground import Ground
from sandlot.physics.soil.search.bounds import Rectangle
from sandlot.physics.soil.search.cells import add_points, clear_sums, look_higher, look_up, touch_cells
from sandlot.physics.soil.search.nodes import BLOCK_SIZE, Patches, tilt
from sandlot.physics.soil.search.nodes import cells as cells_in
from sandlot.typing import Array

SPHERE_SAMPLES, SAMPLES, MAX_SAMPLES = 8, 6, 5
"""The contact of a sphere, and that of other shapes, is searched at this many points across, if that takes no more than
so many across a cell."""
FEW_POINTS = 0.75
"""The contact of a round shape has few points if half its width is less than this many cells; enough, from twice that
on."""


@kernel(error_model="numpy", allocates=False)
def lowest_of_sphere(cells: np.void, count: int, radius: float, position: Three, fine: float) -> None:
    """As `lowest`, for a sphere and a point of each of some cells.

    Args:
        cells: Record of CELLS; its ``low`` and ``covered`` are set.
        count: Number of cells.
        radius: [m]
        position: Centre of the sphere, less that of the point in its cell [m].
        fine: Side of the part of a cell around a point [m].
    """
    square, whole, per_fine = radius * radius, max(radius - 0.5 * fine, 0.0) ** 2, 1.0 / fine
    for k in range(whole_vectors(count)):
        x, y = cells["x0"][k] - position[0], cells["y0"][k] - position[1]
        off = x * x + y * y
        cells["low"][k] = position[2] - math.sqrt(max(square - off, 0.0))
        # Covered in part at the edge of the sphere only.
        part = min(max(0.5 + (radius - math.sqrt(off)) * per_fine, 0.0), 1.0)
        cells["covered"][k] = part if off > whole else 1.0


@kernel(error_model="numpy", allocates=False, inline="always")
def faces(size: float, d: float, cuts: bool) -> Three:
    """A pair of faces of a box: what it takes to cut lines with them, and how far a line is in the box if it does not.

    Args:
        size: Half the distance of the faces [m].
        d: Direction of the lines across the faces.
        cuts: Whether lines are cut by the faces; they are all but parallel otherwise, and covered in part.

    Returns:
        Half the length of a line between the faces [m], one over ``d``, and half the distance [m]. The first and the
        last are infinite where they do not count.
    """
    return (size / abs(d), 1.0 / d, np.inf) if cuts else (np.inf, 0.0, size)


@kernel(error_model="numpy", allocates=False)
def all_faces(size: Three, mat: Array) -> tuple[Three, Three, Three]:
    """The three pairs of `faces` of a box with half sizes [m] and a rotation (9,)."""
    a, b, c = abs(mat[6]), abs(mat[7]), abs(mat[8])
    return (
        faces(size[0], mat[6], a >= STEEP or (a > b and a > c)),
        faces(size[1], mat[7], b >= STEEP or (b >= a and b > c)),
        faces(size[2], mat[8], c >= STEEP or (c >= a and c >= b)),
    )


@kernel(error_model="numpy", allocates=False)
def lowest_of_box(
    cells: np.void, count: int, pairs: tuple[Three, Three, Three], position: Three, mat: Array, fine: float
) -> None:
    """As `lowest_of_sphere`, for a box with such pairs of faces and a rotation (9,)."""
    (half_x, per_x, wide_x), (half_y, per_y, wide_y), (half_z, per_z, wide_z) = pairs
    per_fine = 1.0 / fine
    ax, bx, cx, ay, by, cy, az, bz, cz = mat[0], mat[1], mat[2], mat[3], mat[4], mat[5], mat[6], mat[7], mat[8]
    x0, y0, z0 = position
    for k in range(whole_vectors(count)):
        ox, oy = cells["x0"][k] - x0, cells["y0"][k] - y0
        x, y, z = ax * ox + ay * oy - az * z0, bx * ox + by * oy - bz * z0, cx * ox + cy * oy - cz * z0
        at_x, at_y, at_z = x * per_x, y * per_y, z * per_z
        low, high = (
            max(-half_x - at_x, -half_y - at_y, -half_z - at_z),
            min(half_x - at_x, half_y - at_y, half_z - at_z),
        )
        part = min(max(0.5 + (wide_x - abs(x + low * az)) * per_fine, 0.0), 1.0)
        part *= min(max(0.5 + (wide_y - abs(y + low * bz)) * per_fine, 0.0), 1.0)
        part *= min(max(0.5 + (wide_z - abs(z + low * cz)) * per_fine, 0.0), 1.0)
        cells["low"][k], cells["covered"][k] = low, part if low <= high else 0.0


@kernel(error_model="numpy", allocates=False)
def lowest_of_wheel(cells: np.void, count: int, size: Three, position: Three, mat: Array, fine: float) -> None:
    """As `lowest_of_sphere`, for a cylinder whose axis is not all but vertical, with the bits of `lowest`.

    ``size`` [m] is as for `lowest`, and ``mat`` (9,) its rotation.
    """
    radius, width, dx, dz, dy, lean = size[0], size[1], mat[6], mat[7], mat[8], abs(mat[8])
    square, begins, long = dx * dx + dz * dz, -width / lean, 2.0 * width / lean
    for k in range(whole_vectors(count)):
        ox, oy = cells["x0"][k] - position[0], cells["y0"][k] - position[1]
        x = mat[0] * ox + mat[3] * oy - mat[6] * position[2]
        z = mat[1] * ox + mat[4] * oy - mat[7] * position[2]
        y = mat[2] * ox + mat[5] * oy - mat[8] * position[2]
        middle = x * dx + z * dz
        inside = middle * middle - square * (x * x + z * z - radius * radius)
        root = math.sqrt(max(inside, 0.0))
        low = -(middle + root) / square
        if lean < STEEP:
            covered = covered_fraction(width - abs(y + low * dy), fine)
        else:
            begin = begins - y / dy
            low = max(low, begin)
            covered = 1.0 if low <= min((root - middle) / square, begin + long) else 0.0
        cells["low"][k], cells["covered"][k] = low, covered if inside >= 0.0 else 0.0


@kernel(error_model="numpy", allocates=False)
def lowest_of_any(cells: np.void, count: int, kind: int, size: Three, position: Three, mat: Array, fine: float) -> None:
    """As `lowest_of_wheel`, for any kind of shape but a mesh."""
    d, z = (mat[6], mat[7], mat[8]), position[2]
    for k in range(count):
        x, y = cells["x0"][k] - position[0], cells["y0"][k] - position[1]
        p = (
            mat[0] * x + mat[3] * y - mat[6] * z,
            mat[1] * x + mat[4] * y - mat[7] * z,
            mat[2] * x + mat[5] * y - mat[8] * z,
        )
        cells["low"][k], cells["covered"][k] = lowest(kind, size, p, d, fine)


@kernel(error_model="numpy", allocates=False)
def search(shape: np.void, cells: np.void, count: int, spacing: float) -> None:
    """Search cells at several points each.

    Args:
        shape: Record of `sandlot.physics.soil.contacts.SOIL_SHAPE`; not a mesh.
        cells: Record of CELLS, as `look_up` leaves it; its sums are set.
        count: Number of cells.
        spacing: Side of a cell [m].
    """
    kind, mat, samples, at = shape["kind"], shape["rotation"], shape["samples"], shape["position"]
    size = (shape["size"][0], shape["size"][1], shape["size"][2])
    fine, middle, pairs = spacing / samples, 0.5 * (samples - 1), all_faces(size, mat)
    clear_sums(cells, count)
    for a in range(samples):
        for b in range(samples):
            right, up = (b - middle) * fine, (a - middle) * fine
            position = (at[0] - right, at[1] - up, at[2])
            if kind == SPHERE:
                lowest_of_sphere(cells, count, size[0], position, fine)
            elif kind == BOX:
                lowest_of_box(cells, count, pairs, position, mat, fine)
            elif kind == CYLINDER and abs(mat[8]) <= LYING:
                lowest_of_wheel(cells, count, size, position, mat, fine)
            else:
                lowest_of_any(cells, count, kind, size, position, mat, fine)
            add_points(cells, count, right, up)


@kernel(error_model="numpy", allocates=False)
def find_by_samples(
    ground: Ground, shape: np.void, around: Rectangle, highest: float, patches: Patches, start: int, step: float
) -> int:
    """As `find`, at several points of each cell in a rectangle whose nodes are no higher than ``highest`` [m]."""
    kind, position, mat, spacing = shape["kind"], shape["position"], shape["rotation"], ground.spacing
    size, end = (shape["size"][0], shape["size"][1], shape["size"][2]), start
    i0, i1, j0, j1 = cells_in(ground, *around)
    across = max(min(around[1] - around[0], around[3] - around[2]), 1e-9)
    if kind in (CAPSULE, CYLINDER):
        # Of its lowest part, that below the highest node.
        above = position[2] - abs(mat[8]) * size[1] - highest
        across = min(across, 2.0 * math.sqrt(max(size[0] * size[0] - max(above, 0.0) ** 2, 1e-18)))
    wanted = SPHERE_SAMPLES if kind in (SPHERE, CAPSULE, CYLINDER) else SAMPLES
    needed = min(max(wanted * spacing / across, 1.0), MAX_SAMPLES)
    if not abs(shape["samples"] - needed) <= 0.4 * shape["samples"]:
        # Changed rarely, since forces jump then.
        shape["samples"] = math.ceil(needed)
    bottom = position[2] - half_extent(kind, size, mat[6], mat[7], mat[8])
    if i0 > i1 or j0 > j1:
        return 0
    columns = min(j1 + 1 - j0, BLOCK_SIZE)
    rows = BLOCK_SIZE // columns
    for i in range(i0, i1 + 1, rows):
        for j in range(j0, j1 + 1, columns):
            block = (i, j, min(i1 + 1 - i, rows), min(j1 + 1 - j, columns))
            count = look_up(ground, patches, block, bottom, step)
            if count > 0:
                search(shape, patches.cells, count, spacing)
                if look_higher(patches.cells, count):
                    search(shape, patches.cells, count, spacing)
                end = touch_cells(ground, patches, count, shape["samples"] ** 2, step, end)
    return end - start


@kernel(error_model="numpy", allocates=False, inline="always")
def depth_below(ground: Ground, patches: Patches, k: int) -> float:
    """How far a shape is below the undeformed ground at a touched node [m]."""
    node = ground.nodes[patches.indices[k]]
    return node["undeformed"] + max(node["loose"] - node["sinkage"], 0.0) - patches.contact[k]["z"]


@kernel(error_model="numpy", allocates=False)
def centre_contact(ground: Ground, shape: np.void, patches: Patches, start: int, end: int) -> None:
    """Move the contact of a sphere, capsule or wheel under its centre or axis, if so few points are in it.

    Otherwise the body would roll on hard ground towards the middle between these points.
    """
    position, mat, radius = shape["position"], shape["rotation"], shape["size"][0]
    x, y, weight, deepest, slope_x, slope_y = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(start, end):
        # Begins in the middle of the patch, where it is about deepest.
        other = k + (end - start) // 2
        deepest = max(deepest, depth_below(ground, patches, other if other < end else other - (end - start)))
        deep = min(deepest, radius)
        if (2.0 * radius - deep) * deep >= (2.0 * FEW_POINTS * ground.spacing) ** 2:
            return
    deepest = min(deepest, radius)
    wide = math.sqrt(max((2.0 * radius - deepest) * deepest, 0.0))
    share = min(max(2.0 - wide / (FEW_POINTS * ground.spacing), 0.0), 1.0)
    for k in range(start, end):
        contact, index = patches.contact[k], patches.indices[k]
        depth = max(depth_below(ground, patches, k), 0.0)
        part, (along_x, along_y) = contact["covered"] * depth, tilt(ground, index // ground.nx, index % ground.nx)
        x, y, weight = x + part * contact["x"], y + part * contact["y"], weight + part
        slope_x, slope_y = slope_x + part * along_x, slope_y + part * along_y
    if weight > 0.0:
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
