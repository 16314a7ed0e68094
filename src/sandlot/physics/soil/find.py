"""The nodes that a shape touches, and the lowest points of the shape above each of them.

The rectangle of nodes around a shape is searched row by row. Cells of flat boxes, wheels and tracks are searched at
their centres, and covered in part at the edges. Cells of other shapes are searched at several points: they are covered
by the share of these where the shape is in the ground, and touched at the mean of these points. A node that several
shapes are above is touched by the lowest one.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import (
    BOX,
    CAPSULE,
    CYLINDER,
    MESH,
    SPHERE,
    STEEP,
    TRACK,
    box_row,
    covered_fraction,
    half_extent,
    lowest,
    lowest_mesh,
    prism_row,
)
from sandlot.physics.soil.ground import Ground, node_at, shelter
from sandlot.typing import Array, IntArray

RELEASE_GAP, STEEP_GAP = 1e-3, 5.0
"""A node stays touched until the body is this far above it [m], so that the walls of a rut do not slide in under a body
that is lifted by a few micrometres. Where a shape is searched at several points, it is so many times the spacing: the
mean height of a steep wall above a cell depends much on how far the wall is above the cell."""


SPHERE_SAMPLES, SAMPLES, MAX_SAMPLES = 8, 6, 5
"""The contact of a sphere, and that of other shapes, is searched at this many points across, if that takes no more than
so many across a cell."""


SHORT_CONTACT = 2.0
"""A wheel whose contact is less than twice this many cells long is searched at several points, too."""


class Mesh(NamedTuple):
    """Points and faces of the convex hulls of all attached meshes.

    Attributes:
        points: (points, 3) [m]
        faces: (faces, 3) numbers of points, from 0 for each mesh.
        world: (most points, 3) room for the points of a mesh in the world [m].
        low: (most faces, 3) room for the faces of a mesh that may touch the ground.
        bottom: (room,) room for the lowest points of a mesh [m].
    """

    points: Array
    faces: NDArray[np.int32]
    world: Array
    low: NDArray[np.int32]
    bottom: Array


class Patches(NamedTuple):
    """Room for the patches of all shapes, one after the other.

    Attributes:
        indices: (room,) numbers of touched nodes; -1 where a lower shape was found.
        contact: (room,) of `sandlot.physics.soil.patch.PATCH_NODE`.
        owner: (nodes of the ground,) where a node that is touched in this step is in ``indices``.
        row_z: (columns,) room for the lowest points above one row of nodes [m].
        row_covered: (columns,) room for the covered fractions of their cells.
    """

    indices: IntArray
    contact: NDArray[np.void]
    owner: IntArray
    row_z: Array
    row_covered: Array


@kernel(error_model="numpy", allocates=False)
def window(ground: Ground, x0: float, x1: float, y0: float, y1: float) -> tuple[int, int, int, int]:
    """First and last row, and first and last column, of the nodes around a rectangle [m]."""
    i0, i1 = math.floor((y0 - ground.y0) / ground.spacing), math.ceil((y1 - ground.y0) / ground.spacing)
    j0, j1 = math.floor((x0 - ground.x0) / ground.spacing), math.ceil((x1 - ground.x0) / ground.spacing)
    if not ground.wrap:
        i0, i1, j0, j1 = max(i0, 0), min(i1, ground.ny - 1), max(j0, 0), min(j1, ground.nx - 1)
    return i0, i1, j0, j1


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


@kernel(error_model="numpy", allocates=False, inline="always")
def surface(node: np.void, step: float) -> float:
    """Height below which a body touches a node [m]."""
    touched = (node["contact"] == step - 1.0) | (node["contact"] == step)
    return node["undeformed"] - node["sinkage"] + node["loose"] + (RELEASE_GAP if touched else 0.0)


@kernel(error_model="numpy", allocates=False, inline="always")
def levels(node: np.void, step: float) -> tuple[float, float]:
    """Heights below which points of a shape count as being in the ground [m]; the second, if none is below the first.

    A hollow has the form of the body that made it, of which a node knows only the mean depth. So all of the body that
    is below the undeformed surface counts. The second height is that of `surface`, if it is higher.
    """
    level = node["undeformed"] + max(node["loose"] - node["sinkage"], 0.0)
    return level, max(level, surface(node, step))


@kernel(error_model="numpy", allocates=False)
def take_over(patches: Patches, node: np.void, index: int, z: float, step: float) -> bool:
    """Whether a shape at a height [m] is the lowest one above a node so far; a higher one does not touch it."""
    if node["contact"] == step:
        other = patches.owner[index]
        if z >= patches.contact[other]["z"]:
            return False
        patches.indices[other] = -1
    return True


@kernel(error_model="numpy", allocates=False, inline="always")
def touch_node(
    patches: Patches, node: np.void, index: int, x: float, y: float, z: float, covered: float, step: float, end: int
) -> int:
    """Add a node to a patch that ends at ``end``, unless a lower shape touches it; returns the end of the patch."""
    if end < len(patches.indices) and (node["contact"] != step or take_over(patches, node, index, z, step)):
        node["contact"], patches.owner[index], patches.indices[end] = step, end, index
        contact = patches.contact[end]
        contact["x"], contact["y"], contact["z"], contact["covered"] = x, y, z, covered
        return end + 1
    return end


@kernel(error_model="numpy", allocates=False, inline="always")
def touch_row(ground: Ground, i: int, j0: int, count: int, step: float, patches: Patches, end: int) -> int:
    """Add the touched nodes of a row to a patch.

    Args:
        ground: Touched nodes are marked.
        i: Number of the row.
        j0: First column to look at.
        count: Number of columns to look at.
        step: Number of the step.
        patches: Lowest points and covered fractions of this row are in ``row_z`` and ``row_covered``.
        end: End of the patch so far.

    Returns:
        End of the patch.
    """
    nodes, ny, nx, wrap, spacing = ground.nodes, ground.ny, ground.nx, ground.wrap, ground.spacing
    x, y = ground.x0 + j0 * spacing, ground.y0 + i * spacing
    inside = 0 <= i < ny and j0 >= 0 and j0 + count <= nx
    for k in range(count):
        z, covered = patches.row_z[k], patches.row_covered[k]
        if covered > 0.0:
            index = i * nx + j0 + k if inside else node_at(i, j0 + k, ny, nx, wrap)
            node = nodes[index]
            if z < surface(node, step):
                end = touch_node(patches, node, index, x + k * spacing, y, z, covered, step, end)
            elif z < node["undeformed"]:
                shelter(node, step)
    return end


@kernel(error_model="numpy", allocates=False)
def tilt(ground: Ground, i: int, j: int) -> tuple[float, float]:
    """Slope of the undeformed ground at a node, along x and y."""
    ny, nx, wrap, here = ground.ny, ground.nx, ground.wrap, node_at(i, j, ground.ny, ground.nx, ground.wrap)
    west, east = node_at(i, j - 1, ny, nx, wrap), node_at(i, j + 1, ny, nx, wrap)
    south, north = node_at(i - 1, j, ny, nx, wrap), node_at(i + 1, j, ny, nx, wrap)
    x = (2.0 if west >= 0 and east >= 0 else 1.0) * ground.spacing
    y = (2.0 if south >= 0 and north >= 0 else 1.0) * ground.spacing
    nodes = ground.nodes
    rise_x = nodes[east if east >= 0 else here]["undeformed"] - nodes[west if west >= 0 else here]["undeformed"]
    rise_y = nodes[north if north >= 0 else here]["undeformed"] - nodes[south if south >= 0 else here]["undeformed"]
    return rise_x / x, rise_y / y


@kernel(error_model="numpy", allocates=False)
def cells(ground: Ground, x0: float, x1: float, y0: float, y1: float) -> tuple[int, int, int, int]:
    """First and last row, and first and last column, of the cells that a rectangle [m] touches."""
    per = 1.0 / ground.spacing
    i0, i1 = math.floor((y0 - ground.y0) * per + 0.5), math.floor((y1 - ground.y0) * per + 0.5)
    j0, j1 = math.floor((x0 - ground.x0) * per + 0.5), math.floor((x1 - ground.x0) * per + 0.5)
    if not ground.wrap:
        i0, i1, j0, j1 = max(i0, 0), min(i1, ground.ny - 1), max(j0, 0), min(j1, ground.nx - 1)
    return i0, i1, j0, j1


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
    for k in range(len(faces)):
        a, b, c = world[faces[k, 0]], world[faces[k, 1]], world[faces[k, 2]]
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if area < 0.0 and min(a[2], b[2], c[2]) < highest:
            x0, x1 = min(x0, a[0], b[0], c[0]), max(x1, a[0], b[0], c[0])
            y0, y1 = min(y0, a[1], b[1], c[1]), max(y1, a[1], b[1], c[1])
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
            node, hits, x, y, z, weight = ground.nodes[index], 0.0, 0.0, 0.0, 0.0, 0.0
            (slope_x, slope_y), middle = tilt(ground, i0 + i, j0 + j), 0.5 * (samples - 1)
            for top in levels(node, step):
                for a in range(i * samples, (i + 1) * samples):
                    for b in range(j * samples, (j + 1) * samples):
                        rise = fine * (slope_x * (b - j * samples - middle) + slope_y * (a - i * samples - middle))
                        depth = top + rise - bottom[a, b]
                        if depth > 0.0:
                            hits, z, weight = hits + 1.0, z + bottom[a, b] - rise, weight + depth
                            x, y = x + depth * b, y + depth * a
                if hits > 0.0:
                    break
            if hits > 0.0:
                x, y, z = first_x + fine * x / weight, first_y + fine * y / weight, z / hits
                if z < surface(node, step) + (STEEP_GAP * spacing if node["contact"] == step - 1.0 else 0.0):
                    end = touch_node(patches, node, index, x, y, z, hits / (samples * samples), step, end)
                elif z < node["undeformed"]:
                    shelter(node, step)
    return end - start


@kernel(error_model="numpy", allocates=False)
def find_by_samples(
    ground: Ground, shape: np.void, box: tuple[float, float, float, float], patches: Patches, start: int, step: float
) -> int:
    """As `find`, at several points of each cell in a rectangle (first x, last x, first y, last y) [m]."""
    kind, position, mat, spacing = shape["kind"], shape["position"], shape["rotation"], ground.spacing
    size, d = (shape["size"][0], shape["size"][1], shape["size"][2]), (mat[6], mat[7], mat[8])
    i0, i1, j0, j1 = cells(ground, box[0], box[1], box[2], box[3])
    across = max(min(box[1] - box[0], box[3] - box[2]), 1e-9)
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
    middle = 0.5 * (samples - 1)
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            index = node_at(i, j, ground.ny, ground.nx, ground.wrap)
            if index < 0:
                continue
            node, share, x, y, z, weight = ground.nodes[index], 0.0, 0.0, 0.0, 0.0, 0.0
            first, second = levels(node, step)
            slope_x, slope_y = tilt(ground, i, j)
            if kind == SPHERE:
                # The lowest point above the cell.
                ox = max(abs(ground.x0 + j * spacing - position[0]) - 0.5 * spacing, 0.0)
                oy = max(abs(ground.y0 + i * spacing - position[1]) - 0.5 * spacing, 0.0)
                low = position[2] - math.sqrt(max(square - ox * ox - oy * oy, 0.0))
                if low - 0.5 * spacing * (abs(slope_x) + abs(slope_y)) > second:
                    continue
            for attempt in range(1 if first == second else 2):
                top = first if attempt == 0 else second
                for a in range(samples):
                    up = (a - middle) * fine
                    oy = ground.y0 + i * spacing + up - position[1]
                    for b in range(samples):
                        right = (b - middle) * fine
                        ox, oz = ground.x0 + j * spacing + right - position[0], -position[2]
                        if kind == SPHERE:
                            inside = square - ox * ox - oy * oy
                            low = position[2] - math.sqrt(max(inside, 0.0))
                            covered = covered_fraction(size[0] - math.sqrt(ox * ox + oy * oy), fine)
                        else:
                            p = (
                                mat[0] * ox + mat[3] * oy + mat[6] * oz,
                                mat[1] * ox + mat[4] * oy + mat[7] * oz,
                                mat[2] * ox + mat[5] * oy + mat[8] * oz,
                            )
                            low, covered = lowest(kind, size, p, d, fine)
                        # The ground between nodes is a slope.
                        low -= slope_x * right + slope_y * up
                        depth = top - low
                        if covered > 0.0 and depth > 0.0:
                            share, z, weight = share + covered, z + covered * low, weight + covered * depth
                            x, y = x + covered * depth * ox, y + covered * depth * oy
                if share > 0.0:
                    break
            if share > 0.0:
                x, y, z = position[0] + x / weight, position[1] + y / weight, z / share
                if z < surface(node, step) + (STEEP_GAP * spacing if node["contact"] == step - 1.0 else 0.0):
                    end = touch_node(patches, node, index, x, y, z, share / (samples * samples), step, end)
                elif z < node["undeformed"]:
                    shelter(node, step)
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


@kernel(error_model="numpy", allocates=False)
def find_by_rows(
    ground: Ground, shape: np.void, rx: float, ry: float, patches: Patches, start: int, step: float
) -> int:
    """As `find`, for a box that lies flat, or a wheel or track that stands upright."""
    kind, position, mat, spacing = shape["kind"], shape["position"], shape["rotation"], ground.spacing
    size = (shape["size"][0], shape["size"][1], shape["size"][2])
    i0, i1, j0, j1 = window(ground, position[0] - rx, position[0] + rx, position[1] - ry, position[1] + ry)
    columns = len(patches.row_z)
    count, end = min(j1 - j0 + 1, columns), start
    if count < 1:
        return 0
    d = (mat[6], mat[7], mat[8])
    e = (mat[0] * spacing, mat[1] * spacing, mat[2] * spacing)
    # The third axis of a prism is the one along which it is extruded. A wheel is a track of length 0.
    track = kind == TRACK
    half, radius, wide = size if track else (0.0, size[0], size[1])
    prism_d, prism_e = ((d[0], d[2], d[1]), (e[0], e[2], e[1])) if track else (d, e)
    # A multiple of four columns, which vector instructions compute together, if there is room.
    padded = min((count + 3) // 4 * 4, columns)
    low, covered = patches.row_z[:padded], patches.row_covered[:padded]
    for i in range(i0, i1 + 1):
        ox, oy, oz = ground.x0 + j0 * spacing - position[0], ground.y0 + i * spacing - position[1], -position[2]
        p = (
            mat[0] * ox + mat[3] * oy + mat[6] * oz,
            mat[1] * ox + mat[4] * oy + mat[7] * oz,
            mat[2] * ox + mat[5] * oy + mat[8] * oz,
        )
        if kind == BOX:
            box_row(size, p, d, e, spacing, low, covered)
        else:
            prism_p = (p[0], p[2], p[1]) if track else p
            prism_row(half, radius, wide, prism_p, prism_d, prism_e, spacing, low, covered)
        end = touch_row(ground, i, j0, count, step, patches, end)
    return end - start


@kernel(error_model="numpy", allocates=False)
def find(ground: Ground, shape: np.void, mesh: Mesh | None, patches: Patches, start: int, step: float) -> int:
    """Find the nodes that a shape touches.

    Args:
        ground: Touched nodes are marked.
        shape: Record of `sandlot.physics.soil.contacts.SOIL_SHAPE`.
        mesh: Points and faces, if any shape is a mesh.
        patches: Receives the nodes, and the first four fields of their records.
        start: First free place in ``patches``.
        step: Number of the step.

    Returns:
        The number of touched nodes.
    """
    kind, position, mat, size = shape["kind"], shape["position"], shape["rotation"], shape["size"]
    highest = ground.queue["highest"] + RELEASE_GAP
    # Numba compiles the search of meshes only if there are some, as long as this is a condition of its own.
    if mesh is not None:  # noqa: SIM102
        if kind == MESH:
            return find_mesh(ground, shape, mesh, patches, start, step)
    three = (size[0], size[1], size[2])
    if position[2] - half_extent(kind, three, mat[6], mat[7], mat[8]) > highest:
        return 0
    rx, ry = half_extent(kind, three, mat[0], mat[1], mat[2]), half_extent(kind, three, mat[3], mat[4], mat[5])
    flat = kind == BOX and abs(mat[6]) < STEEP and abs(mat[7]) < STEEP
    wheel = kind == CYLINDER and abs(mat[8]) < STEEP
    if wheel:
        # On hard ground its contact is no longer than a few cells, which takes several points.
        depth = ground.queue["highest"] - position[2] + size[0]
        wheel = depth * (2.0 * size[0] - depth) > (SHORT_CONTACT * ground.spacing) ** 2
    if flat or wheel or (kind == TRACK and abs(mat[7]) < STEEP and abs(mat[8]) > STEEP):
        return find_by_rows(ground, shape, rx, ry, patches, start, step)
    low, high = -1.0, 1.0
    if kind == SPHERE and position[2] > highest:
        # Only its lower cap can touch the ground.
        rx = ry = math.sqrt(max(size[0] * size[0] - (position[2] - highest) ** 2, 0.0))
    if kind in (CAPSULE, CYLINDER) and abs(mat[8]) * size[1] > 1e-9:
        # Only the part of its axis can that is no higher than the highest node and the radius.
        until = (highest + size[0] - position[2]) / (mat[8] * size[1])
        low, high = (low, min(high, until)) if mat[8] > 0.0 else (max(low, until), high)
        rx, ry = min(rx, size[0]), min(ry, size[0])
    along_x, along_y = mat[2] * size[1], mat[5] * size[1]
    if kind != CAPSULE and kind != CYLINDER:
        along_x = along_y = 0.0
    elif abs(mat[8]) * size[1] <= 1e-9:
        rx, ry = rx - abs(along_x), ry - abs(along_y)
    box = (
        position[0] + min(low * along_x, high * along_x) - rx,
        position[0] + max(low * along_x, high * along_x) + rx,
        position[1] + min(low * along_y, high * along_y) - ry,
        position[1] + max(low * along_y, high * along_y) + ry,
    )
    if low > high:
        return 0
    count = find_by_samples(ground, shape, box, patches, start, step)
    if kind in (SPHERE, CAPSULE) or (kind == CYLINDER and abs(mat[8]) < STEEP):
        centre_contact(ground, shape, patches, start, start + count)
    return count


@kernel(error_model="numpy", allocates=False)
def drop_covered(shapes: NDArray[np.void], patches: Patches) -> int:
    """Remove the nodes that a lower shape touches from the patches; returns the number of nodes that are left."""
    end = 0
    for k in range(len(shapes)):
        shape, first = shapes[k], end
        for m in range(shape["patch_start"], shape["patch_end"]):
            if patches.indices[m] >= 0:
                if end < m:
                    patches.indices[end] = patches.indices[m]
                    source, target = patches.contact[m], patches.contact[end]
                    target["x"], target["y"], target["z"] = source["x"], source["y"], source["z"]
                    target["covered"] = source["covered"]
                end += 1
        shape["patch_start"], shape["patch_end"] = first, end
    return end
