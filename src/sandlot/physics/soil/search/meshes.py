"""The nodes under the convex hull of a mesh, each searched at several points of its cell."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import MISS, lowest_mesh
from sandlot.physics.soil.ground import Ground, node_at
from sandlot.physics.soil.search.bounds import Rectangle, add_side
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
from sandlot.typing import Array


class Mesh(NamedTuple):
    """Points and faces of the convex hulls of all attached meshes.

    Attributes:
        points: (points, 3) [m]
        faces: (faces, 3) numbers of points, from 0 for each mesh.
        normals: (faces, 3) of the faces, outward, of any length.
        world: (most points, 3) room for the points of a mesh in the world [m].
        low: (most faces, 3) room for the faces of a mesh that may touch the ground.
        bottom: (room,) room for the lowest points of a mesh [m].
    """

    points: Array
    faces: NDArray[np.int32]
    normals: Array
    world: Array
    low: NDArray[np.int32]
    bottom: Array


def face_normals(points: Array, faces: NDArray[np.int32]) -> Array:
    """Normals of faces that are counterclockwise, seen from outside: (faces, 3), twice as long as their areas [m^2]."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    normals: Array = np.cross(b - a, c - a).astype(np.float64)
    return normals


@kernel(error_model="numpy", allocates=False)
def is_above(ground: Ground, i0: int, i1: int, j0: int, j1: int, lowest_point: float) -> bool:
    """Whether a shape with this lowest point [m] is above all nodes of a rectangle."""
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            index = node_at(i, j, ground.ny, ground.nx, ground.wrap)
            node = ground.nodes[index]
            if index >= 0 and max(node["height"] + RELEASE_GAP, node["undeformed"]) > lowest_point:
                return False
    return True


@kernel(error_model="numpy", allocates=False)
def grow(around: Rectangle, a: Array, b: Array, c: Array, highest: float) -> Rectangle:
    """Make a rectangle large enough for the part of a triangle that is below a height [m]."""
    x0, x1, y0, y1 = around
    if max(a[2], b[2], c[2]) < highest:
        return (
            min(x0, a[0], b[0], c[0]),
            max(x1, a[0], b[0], c[0]),
            min(y0, a[1], b[1], c[1]),
            max(y1, a[1], b[1], c[1]),
        )
    one, two, three = (a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2])
    for tail, head in ((one, two), (two, three), (three, one)):
        around = add_side(around, tail, head, highest)
    return around


@kernel(error_model="numpy", allocates=False)
def find_mesh(ground: Ground, shape: np.void, mesh: Mesh, patches: Patches, start: int, step: float) -> int:
    """As `find`, for the convex hull of a mesh."""
    highest, box, position, rotation = (
        ground.queue["highest"] + RELEASE_GAP,
        shape["box"],
        shape["position"],
        shape["rotation"],
    )
    z0 = position[2]
    for k in range(3):
        z0 += rotation[6 + k] * box[k] - abs(rotation[6 + k]) * box[3 + k]
    if z0 > highest:
        return 0
    points = mesh.points[shape["points_start"] : shape["points_end"]]
    faces = mesh.faces[shape["faces_start"] : shape["faces_end"]]
    world, few = mesh.world[: len(points)], 0
    x0, x1, y0, y1, z0 = np.inf, -np.inf, np.inf, -np.inf, np.inf
    for k in range(len(points)):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        for row in range(3):
            world[k, row] = (
                position[row] + rotation[3 * row] * x + rotation[3 * row + 1] * y + rotation[3 * row + 2] * z
            )
        z0 = min(z0, world[k, 2])
    if z0 > highest:
        return 0
    # Only faces that are below the highest node can touch the ground, and only those that look down are the lowest.
    normals = mesh.normals[shape["faces_start"] : shape["faces_end"]]
    for k in range(len(faces)):
        if normals[k, 0] * rotation[6] + normals[k, 1] * rotation[7] + normals[k, 2] * rotation[8] >= 0.0:
            continue
        a, b, c = world[faces[k, 0]], world[faces[k, 1]], world[faces[k, 2]]
        if min(a[2], b[2], c[2]) < highest:
            x0, x1, y0, y1 = grow((x0, x1, y0, y1), a, b, c, highest)
            for m in range(3):
                mesh.low[few, m] = faces[k, m]
            few += 1
    i0, i1, j0, j1 = cells(ground, x0, x1, y0, y1)
    count, end, spacing, samples = j1 - j0 + 1, start, ground.spacing, shape["samples"]
    rows = i1 - i0 + 1
    room = rows * count * samples * samples
    if few == 0 or rows < 1 or count < 1 or room > len(mesh.bottom) or is_above(ground, i0, i1, j0, j1, z0):
        return 0
    fine = spacing / samples
    first_x, first_y = ground.x0 + (j0 - 0.5) * spacing + 0.5 * fine, ground.y0 + (i0 - 0.5) * spacing + 0.5 * fine
    bottom = mesh.bottom[:room].reshape(rows * samples, count * samples)
    lowest_mesh(world, mesh.low[:few], first_x, first_y, fine, bottom)
    for i in range(rows):
        for j in range(count):
            index = node_at(i0 + i, j0 + j, ground.ny, ground.nx, ground.wrap)
            if index < 0:
                continue
            node, share, x, y, z, weight = ground.nodes[index], 0.0, 0.0, 0.0, 0.0, 0.0
            (slope_x, slope_y), middle = tilt(ground, i0 + i, j0 + j), 0.5 * (samples - 1)
            first, second = levels(node, step)
            top = first
            low = z0 - 0.5 * spacing * (abs(slope_x) + abs(slope_y))
            if low > second or is_hidden(patches, node, index, low, step):
                continue
            while True:
                lowest_point = MISS
                for a in range(i * samples, (i + 1) * samples):
                    for b in range(j * samples, (j + 1) * samples):
                        rise = fine * (slope_x * (b - j * samples - middle) + slope_y * (a - i * samples - middle))
                        low = bottom[a, b] - rise
                        lowest_point = min(lowest_point, low)
                        depth = top - low
                        if depth > 0.0:
                            part = part_of_point(first - low)
                            share, z, weight = share + part, z + part * low, weight + part * depth
                            x, y = x + part * depth * b, y + part * depth * a
                if share > 0.0 or not lowest_point < second:
                    break
                top = second
            if share > 0.0:
                x, y, z = first_x + fine * x / weight, first_y + fine * y / weight, z / share
                part = share / (samples * samples)
                end = touch_cell(patches, node, index, x, y, z, part, spacing, step, end)
    return end - start
