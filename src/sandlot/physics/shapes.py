"""The lowest point of a shape above a node of the ground, and the fraction of the node's cell that the shape covers.

A shape is intersected with vertical lines in closed form, a mesh triangle by triangle. Kinds are numbered as MuJoCo's
geoms. A track, which MuJoCo does not have, is a belt around two pulleys: a stadium along local x, extruded along local
y. A wheel is the same with no distance between the pulleys.
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.typing import Array

Three: TypeAlias = tuple[float, float, float]

SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, TRACK = 2, 3, 4, 5, 6, 7, 100
NAMES = {
    SPHERE: "sphere",
    CAPSULE: "capsule",
    ELLIPSOID: "ellipsoid",
    CYLINDER: "cylinder",
    BOX: "box",
    MESH: "mesh",
    TRACK: "track",
}
MISS = math.inf
"""Height of the lowest point where a vertical line misses a shape."""
LANES = 8
"""Numbers in the longest vectors of processors."""
STEEP = 0.2
"""A face counts as vertical if the sine of its angle to the vertical is below this; it then limits the covered fraction
of the cells at its edge instead of being pressed into them."""
LYING = 0.98
"""A cylinder or track lies on its side if the cosine of its axis to the vertical is above this."""


@kernel(error_model="numpy", allocates=False, inline="always")
def whole_vectors(count: int) -> int:
    """The next multiple of LANES. Loops over so many places compile to vector instructions; the last may be unused."""
    return (count + LANES - 1) // LANES * LANES


@kernel(error_model="numpy", inline="always")
def covered_fraction(inside: float, spacing: float) -> float:
    """Covered fraction of a cell whose centre lies ``inside`` an edge [m]."""
    return min(max(0.5 + inside / spacing, 0.0), 1.0)


@kernel(error_model="numpy", allocates=False)
def half_extent(kind: int, size: Three, x: float, y: float, z: float) -> float:
    """Half the extent of a shape along an axis of the world [m].

    Args:
        kind: Kind of the shape; not a mesh.
        size: As for `lowest`.
        x: Component of the shape's local x axis along that axis.
        y: Component of local y.
        z: Component of local z.
    """
    if kind == BOX:
        return abs(x) * size[0] + abs(y) * size[1] + abs(z) * size[2]
    if kind == ELLIPSOID:
        return math.sqrt((x * size[0]) ** 2 + (y * size[1]) ** 2 + (z * size[2]) ** 2)
    if kind == TRACK:
        return abs(x) * size[0] + abs(y) * size[2] + size[1] * math.sqrt(max(1.0 - y * y, 0.0))
    if kind == CYLINDER:
        return abs(z) * size[1] + size[0] * math.sqrt(max(1.0 - z * z, 0.0))
    if kind == CAPSULE:
        return abs(z) * size[1] + size[0]
    return size[0]


@kernel(error_model="numpy", allocates=False)
def enter(x: float, z: float, dx: float, dz: float, half: float, radius: float) -> float:
    """Where a line in a plane enters a stadium: the least t with (x, z) + t (dx, dz) on it, or `MISS`."""
    if half > 0.0 and abs(dz) > 1e-9:
        t = (-radius if dz > 0.0 else radius) / dz - z / dz
        at = x + t * dx
        if abs(at) <= half:
            return t
        x -= half if at > 0.0 else -half
    elif half > 0.0:
        x += half if dx > 0.0 else -half
    square, middle = dx * dx + dz * dz, x * dx + z * dz
    inside = middle * middle - square * (x * x + z * z - radius * radius)
    return -(middle + math.sqrt(inside)) / square if inside >= 0.0 else MISS


@kernel(error_model="numpy", allocates=False)
def lowest_box(size: Three, p: Three, d: Three, spacing: float) -> tuple[float, float]:
    """As `lowest`, for a box."""
    main = 0 if abs(d[0]) > abs(d[1]) else 1
    main = main if abs(d[main]) > abs(d[2]) else 2
    low = -size[main] / abs(d[main]) - p[main] / d[main]
    high = low + 2.0 * size[main] / abs(d[main])
    for k in range(3):
        if k != main and abs(d[k]) >= STEEP:
            begin = -size[k] / abs(d[k]) - p[k] / d[k]
            low, high = max(low, begin), min(high, begin + 2.0 * size[k] / abs(d[k]))
    covered = 1.0 if low <= high else 0.0
    for k in range(3):
        if k != main and abs(d[k]) < STEEP:
            covered *= covered_fraction(size[k] - abs(p[k] + low * d[k]), spacing)
    return (low, covered) if covered > 0.0 else (MISS, 0.0)


@kernel(error_model="numpy", allocates=False)
def lowest_prism(half: float, radius: float, width: float, p: Three, d: Three, spacing: float) -> tuple[float, float]:
    """As `lowest`, for a stadium in the plane of the first two axes, extruded along the third."""
    lean = abs(d[2])
    if lean > LYING:
        # The axis is all but vertical: the shape lies on its side.
        low = -width / lean - p[2] / d[2]
        x, z = p[0] + low * d[0], p[1] + low * d[1]
        covered = covered_fraction(radius - math.hypot(max(abs(x) - half, 0.0), z), spacing)
        return (low, covered) if covered > 0.0 else (MISS, 0.0)
    low = enter(p[0], p[1], d[0], d[1], half, radius)
    if low == MISS:
        return MISS, 0.0
    if lean < STEEP:
        covered = covered_fraction(width - abs(p[2] + low * d[2]), spacing)
        return (low, covered) if covered > 0.0 else (MISS, 0.0)
    high = -enter(p[0], p[1], -d[0], -d[1], half, radius)
    begin = -width / lean - p[2] / d[2]
    low, high = max(low, begin), min(high, begin + 2.0 * width / lean)
    return (low, 1.0) if low <= high else (MISS, 0.0)


@kernel(error_model="numpy", allocates=False, inline="always")
def prism_row(
    half: float, radius: float, width: float, p: Three, d: Three, e: Three, spacing: float, low: Array, covered: Array
) -> None:
    """As `lowest_prism`, for a row of lines, and an axis that is all but horizontal.

    Args:
        half: Half the distance between the pulleys [m].
        radius: Radius of the pulleys [m].
        width: Half the width [m].
        p: The first line, as for `lowest`.
        d: Direction of the lines.
        e: Offset from line to line [m].
        spacing: Side of a cell [m].
        low: (n,) receives the lowest points [m].
        covered: (n,) receives the covered fractions of the cells.
    """
    square = d[0] * d[0] + d[1] * d[1]
    rise = 1.0 / d[1] if half > 0.0 else 0.0
    down, per_square, per_cell = radius if d[1] > 0.0 else -radius, 1.0 / square, 1.0 / spacing
    # Distance of a line from the axis, and the place where it is nearest: both are linear in the number of the line.
    off, more_off = p[0] * d[1] - p[1] * d[0], e[0] * d[1] - e[1] * d[0]
    near, more_near = p[0] * d[0] + p[1] * d[1], e[0] * d[0] + e[1] * d[1]
    for n in range(len(low)):
        k = np.int32(n)
        x, z, y = p[0] + k * e[0], p[1] + k * e[1], p[2] + k * e[2]
        t = -(down + z) * rise
        at = x + t * d[0]
        pulley = math.copysign(half, at)
        away = off + k * more_off - pulley * d[1]
        inside = square * radius * radius - away * away
        around = -(near + k * more_near - pulley * d[0] + math.sqrt(max(inside, 0.0))) * per_square
        straight = abs(at) < half
        t = t if straight else around
        part = min(max(0.5 + (width - abs(y + t * d[2])) * per_cell, 0.0), 1.0)
        low[n] = t
        covered[n] = part if straight or inside >= 0.0 else 0.0


@kernel(error_model="numpy", allocates=False)
def box_row(size: Three, p: Three, d: Three, e: Three, spacing: float, low: Array, covered: Array) -> None:
    """As `lowest_box`, for a row of lines, and a box whose third axis is all but vertical.

    Args:
        size: Half sizes [m].
        p: The first line, as for `lowest`.
        d: Direction of the lines.
        e: Offset from line to line [m].
        spacing: Side of a cell [m].
        low: (n,) receives the lowest points [m].
        covered: (n,) receives the covered fractions of the cells.
    """
    per, per_cell, bottom = 1.0 / d[2], 1.0 / spacing, -size[2] / abs(d[2])
    for k in range(len(low)):
        t = bottom - (p[2] + k * e[2]) * per
        x, y = abs(p[0] + k * e[0] + t * d[0]), abs(p[1] + k * e[1] + t * d[1])
        along = min(max(0.5 + (size[0] - x) * per_cell, 0.0), 1.0)
        across = min(max(0.5 + (size[1] - y) * per_cell, 0.0), 1.0)
        low[k], covered[k] = t, along * across


@kernel(error_model="numpy", allocates=False)
def lowest_round(radius: float, half: float, p: Three, d: Three) -> float:
    """As `lowest`, for a capsule along local z; a sphere if ``half`` is 0. A cell is covered fully or not."""
    square = 1.0 - d[2] * d[2]
    end = -half if d[2] > 0.0 else half
    if square > 1e-12 and half > 0.0:
        middle = p[0] * d[0] + p[1] * d[1]
        inside = middle * middle - square * (p[0] * p[0] + p[1] * p[1] - radius * radius)
        if inside < 0.0:
            return MISS
        t = -(middle + math.sqrt(inside)) / square
        along = p[2] + t * d[2]
        if abs(along) <= half:
            return t
        end = half if along > 0.0 else -half
    z = p[2] - end
    middle = p[0] * d[0] + p[1] * d[1] + z * d[2]
    inside = middle * middle - (p[0] * p[0] + p[1] * p[1] + z * z - radius * radius)
    return -middle - math.sqrt(inside) if inside >= 0.0 else MISS


@kernel(error_model="numpy", allocates=False)
def lowest_ellipsoid(size: Three, p: Three, d: Three) -> float:
    """As `lowest_round`, for an ellipsoid."""
    square, middle, rest = 0.0, 0.0, -1.0
    for k in range(3):
        e, q = d[k] / size[k], p[k] / size[k]
        square, middle, rest = square + e * e, middle + e * q, rest + q * q
    inside = middle * middle - square * rest
    return -(middle + math.sqrt(inside)) / square if inside >= 0.0 else MISS


@kernel(error_model="numpy", allocates=False)
def lowest(kind: int, size: Three, p: Three, d: Three, spacing: float) -> tuple[float, float]:
    """Lowest point of a shape on a vertical line.

    Args:
        kind: Kind of the shape; not a mesh.
        size: Sphere: radius. Capsule, cylinder: radius, half length along local z. Box, ellipsoid: half sizes. Track:
            half the distance between the pulleys, their radius, half the width [m].
        p: Point of the line at height 0, in the shape's frame [m].
        d: Direction of the line, in the shape's frame.
        spacing: Side of the cell around the line [m].

    Returns:
        Height of that point [m], `MISS` if there is none; and the covered fraction of the cell.
    """
    if kind == BOX:
        return lowest_box(size, p, d, spacing)
    if kind == CYLINDER:
        return lowest_prism(0.0, size[0], size[1], p, d, spacing)
    if kind == TRACK:
        return lowest_prism(size[0], size[1], size[2], (p[0], p[2], p[1]), (d[0], d[2], d[1]), spacing)
    if kind == SPHERE:
        # Beside the sphere, the height is that of its centre.
        high = p[0] * d[0] + p[1] * d[1] + p[2] * d[2]
        off = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] - high * high
        covered = covered_fraction(size[0] - math.sqrt(max(off, 0.0)), spacing)
        z = -high - math.sqrt(max(size[0] * size[0] - off, 0.0))
        return (z, covered) if covered > 0.0 else (MISS, 0.0)
    z = lowest_ellipsoid(size, p, d) if kind == ELLIPSOID else lowest_round(size[0], size[1], p, d)
    return (z, 1.0) if z < MISS else (MISS, 0.0)


@kernel(error_model="numpy", allocates=False)
def lowest_mesh(corners: Array, faces: NDArray[np.uint32], x: float, y: float, spacing: float, bottom: Array) -> None:
    """Lowest points of a mesh above the nodes of a grid: the minimum over all triangles.

    Args:
        corners: (corners, 3) in the world [m].
        faces: (triangles, 3) numbers of corners.
        x: x of the grid's first node [m].
        y: y of the grid's first node [m].
        spacing: Distance of the nodes [m].
        bottom: (ny, nx), contiguous, receives the heights [m]; `MISS` where there is no mesh. Fastest if nx is a
            multiple of LANES.
    """
    bottom[:] = MISS
    ny, nx = bottom.shape
    per, flat = 1.0 / spacing, bottom.reshape(ny * nx)
    for face in range(len(faces)):
        a, b, c = corners[faces[face, 0]], corners[faces[face, 1]], corners[faces[face, 2]]
        # In units of the spacing, from the first node on.
        ax, ay, az = (a[0] - x) * per, (a[1] - y) * per, a[2]
        bx, by, cx, cy = (b[0] - x) * per - ax, (b[1] - y) * per - ay, (c[0] - x) * per - ax, (c[1] - y) * per - ay
        area = bx * cy - by * cx
        if area >= 0.0:
            continue  # It faces up.
        i0, i1 = max(math.ceil(ay + min(by, cy, 0.0)), 0), min(math.floor(ay + max(by, cy, 0.0)), ny - 1)
        j0, j1 = max(math.ceil(ax + min(bx, cx, 0.0)), 0), min(math.floor(ax + max(bx, cx, 0.0)), nx - 1)
        if i0 > i1 or j0 > j1:
            continue
        per_area, rise_b, rise_c = 1.0 / area, b[2] - az, c[2] - az
        # Whole vectors without branches: the processor cannot predict which nodes a small triangle covers.
        first = j0 // LANES * LANES
        count = min(whole_vectors(j1 + 1), nx) - first
        for i in range(i0, i1 + 1):
            # Numba looks whether an index is negative, unless it is unsigned.
            start, py = np.uint64(i * nx + first), i - ay
            for k in range(count):
                at = start + np.uint64(k)
                px, lowest = first + k - ax, flat[at]
                u, v = (px * cy - py * cx) * per_area, (bx * py - by * px) * per_area
                z = az + u * rise_b + v * rise_c
                flat[at] = z if (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (z < lowest) else lowest
