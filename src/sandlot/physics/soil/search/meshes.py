"""The nodes under the convex hull of a mesh, each searched at several points of its cell."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import lowest_mesh, whole_vectors
from sandlot.physics.soil.ground import Ground
from sandlot.physics.soil.search.bounds import Rectangle, add_side, around_box
from sandlot.physics.soil.search.cells import Block, add_points, clear_sums, look_higher, look_up, touch_cells
from sandlot.physics.soil.search.nodes import BLOCK_SIZE, RELEASE_GAP, Patches, cells, highest_near
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
    faces: NDArray[np.uint32]
    normals: Array
    world: Array
    low: NDArray[np.uint32]
    bottom: Array


@kernel(error_model="numpy", allocates=False)
def place(mesh: Mesh, shape: np.void, highest: float) -> tuple[float, Rectangle]:
    """Place the points of a mesh in the world.

    Args:
        mesh: Its ``world`` receives them.
        shape: Record of `sandlot.physics.soil.contacts.SOIL_SHAPE`.
        highest: [m]

    Returns:
        The height of the lowest point [m], and the rectangle around those below ``highest``.
    """
    points, world = mesh.points[shape["points_start"] : shape["points_end"]], mesh.world
    position, mat = shape["position"], shape["rotation"]
    z0, x0, x1, y0, y1 = np.inf, np.inf, -np.inf, np.inf, -np.inf
    for k in range(len(points)):
        a, b, c = points[k, 0], points[k, 1], points[k, 2]
        x = position[0] + mat[0] * a + mat[1] * b + mat[2] * c
        y = position[1] + mat[3] * a + mat[4] * b + mat[5] * c
        z = position[2] + mat[6] * a + mat[7] * b + mat[8] * c
        world[k, 0], world[k, 1], world[k, 2] = x, y, z
        low = z < highest
        z0, x0, x1 = min(z0, z), min(x0, x if low else x0), max(x1, x if low else x1)
        y0, y1 = min(y0, y if low else y0), max(y1, y if low else y1)
    return z0, (x0, x1, y0, y1)


@kernel(error_model="numpy", allocates=False)
def low_faces(mesh: Mesh, shape: np.void, highest: float) -> int:
    """Collect the faces that look down and are in part below a height [m].

    Args:
        mesh: As `place` leaves it; its ``low`` receives the faces.
        shape: Record of `sandlot.physics.soil.contacts.SOIL_SHAPE`.
        highest: [m]

    Returns:
        The number of these faces.
    """
    faces = mesh.faces[shape["faces_start"] : shape["faces_end"]]
    normals = mesh.normals[shape["faces_start"] : shape["faces_end"]]
    few, world, low, mat = 0, mesh.world, mesh.low, shape["rotation"]
    for k in range(len(faces)):
        a, b, c = faces[k, 0], faces[k, 1], faces[k, 2]
        down = normals[k, 0] * mat[6] + normals[k, 1] * mat[7] + normals[k, 2] * mat[8] < 0.0
        # No branch: the processor cannot predict which faces look down.
        low[few, 0], low[few, 1], low[few, 2] = a, b, c
        few += down & ((world[a, 2] < highest) | (world[b, 2] < highest) | (world[c, 2] < highest))
    return few


@kernel(error_model="numpy", allocates=False)
def add_sides(around: Rectangle, world: Array, faces: NDArray[np.uint32], highest: float) -> Rectangle:
    """Make a rectangle around all corners below a height [m] large enough for the parts of faces below it."""
    for k in range(len(faces)):
        a, b, c = world[faces[k, 0]], world[faces[k, 1]], world[faces[k, 2]]
        if max(a[2], b[2], c[2]) >= highest:
            one, two, three = (a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2])
            around = add_side(around, one, two, highest)
            around = add_side(around, two, three, highest)
            around = add_side(around, three, one, highest)
    return around


@kernel(error_model="numpy", allocates=False)
def search(cells: np.void, count: int, bottom: Array, block: Block, samples: int, fine: float) -> None:
    """Search cells at several points each.

    Args:
        cells: Record of CELLS, as `look_up` leaves it; its sums are set.
        count: Number of cells.
        bottom: (n, m) lowest points of the mesh [m], from the first point of the first cell on.
        block: Among all cells below the mesh, that of these cells.
        samples: Number of points across a cell.
        fine: Distance of points [m].
    """
    i0, j0, _, columns = block
    width, middle, flat = bottom.shape[1], 0.5 * (samples - 1), bottom.reshape(bottom.size)
    for k in range(count):
        i = cells["number"][k] // columns
        j = cells["number"][k] - i * columns
        cells["place"][k] = ((i0 + i) * width + j0 + j) * samples
    clear_sums(cells, count)
    for k in range(whole_vectors(count)):
        cells["covered"][k] = 1.0
    for a in range(samples):
        for b in range(samples):
            for k in range(count):
                # Numba looks whether an index is negative, unless it is unsigned.
                cells["low"][k] = flat[np.uint64(cells["place"][k] + a * width + b)]
            add_points(cells, count, (b - middle) * fine, (a - middle) * fine)


@kernel(error_model="numpy", allocates=False)
def find_mesh(ground: Ground, shape: np.void, mesh: Mesh, patches: Patches, start: int, step: float) -> int:
    """As `find`, for the convex hull of a mesh."""
    highest, box, position, mat = (
        ground.queue["highest"] + RELEASE_GAP,
        shape["box"],
        shape["position"],
        shape["rotation"],
    )
    x, y, z0 = position[0], position[1], position[2]
    for k in range(3):
        x, y, z0 = x + mat[k] * box[k], y + mat[3 + k] * box[k], z0 + mat[6 + k] * box[k]
    centre = (x, y, z0)
    for k in range(3):
        z0 -= abs(mat[6 + k]) * box[3 + k]
    if z0 > highest:
        return 0
    around = around_box(centre, mat, box[3:], highest)
    if around[0] > around[1]:
        return 0
    # The bound for all of the ground may be far above the nodes near the mesh.
    highest = min(highest_near(ground, around), highest)
    if z0 > highest:
        return 0
    z0, around = place(mesh, shape, highest)
    if z0 > highest:
        return 0
    few = low_faces(mesh, shape, highest)
    if few == 0:
        return 0
    around = add_sides(around, mesh.world, mesh.low[:few], highest)
    i0, i1, j0, j1 = cells(ground, *around)
    count, end, spacing, samples = j1 - j0 + 1, start, ground.spacing, shape["samples"]
    rows, width = i1 - i0 + 1, whole_vectors(count * samples)
    room = rows * samples * width
    if rows < 1 or count < 1 or room > len(mesh.bottom):
        return 0
    fine = spacing / samples
    first_x, first_y = ground.x0 + (j0 - 0.5) * spacing + 0.5 * fine, ground.y0 + (i0 - 0.5) * spacing + 0.5 * fine
    bottom = mesh.bottom[:room].reshape(rows * samples, width)
    lowest_mesh(mesh.world, mesh.low[:few], first_x, first_y, fine, bottom)
    columns = min(count, BLOCK_SIZE)
    tall = BLOCK_SIZE // columns
    for i in range(0, rows, tall):
        for j in range(0, count, columns):
            high, wide = min(rows - i, tall), min(count - j, columns)
            some = look_up(ground, patches, (i0 + i, j0 + j, high, wide), z0, step)
            if some > 0:
                search(patches.cells, some, bottom, (i, j, high, wide), samples, fine)
                if look_higher(patches.cells, some):
                    search(patches.cells, some, bottom, (i, j, high, wide), samples, fine)
                end = touch_cells(ground, patches, some, samples * samples, step, end)
    return end - start
