"""The nodes that a shape touches, found in the way that fits the shape."""

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import BOX, CAPSULE, CYLINDER, MESH, SPHERE, STEEP, TRACK, half_extent
from sandlot.physics.soil.ground import Ground
from sandlot.physics.soil.search.bounds import around_low_part
from sandlot.physics.soil.search.meshes import Mesh, find_mesh
from sandlot.physics.soil.search.nodes import RELEASE_GAP, Patches
from sandlot.physics.soil.search.rows import find_by_rows
from sandlot.physics.soil.search.samples import centre_contact, find_by_samples

SHORT_CONTACT = 2.0
"""A wheel whose contact is less than twice this many cells long is searched at several points, too."""


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
    flat = kind == BOX and abs(mat[6]) < STEEP and abs(mat[7]) < STEEP
    wheel = kind == CYLINDER and abs(mat[8]) < STEEP
    if wheel:
        # On hard ground its contact is no longer than a few cells, which takes several points.
        depth = ground.queue["highest"] - position[2] + size[0]
        wheel = depth * (2.0 * size[0] - depth) > (SHORT_CONTACT * ground.spacing) ** 2
    if flat or wheel or (kind == TRACK and abs(mat[7]) < STEEP and abs(mat[8]) > STEEP):
        rx, ry = half_extent(kind, three, mat[0], mat[1], mat[2]), half_extent(kind, three, mat[3], mat[4], mat[5])
        return find_by_rows(ground, shape, rx, ry, patches, start, step)
    around = around_low_part(shape, highest)
    if around[0] > around[1]:
        return 0
    count = find_by_samples(ground, shape, around, patches, start, step)
    if kind in (SPHERE, CAPSULE) or (kind == CYLINDER and abs(mat[8]) < STEEP):
        centre_contact(ground, shape, patches, start, start + count)
    return count


@kernel(error_model="numpy", allocates=False)
def drop_covered(shapes: NDArray[np.void], patches: Patches) -> int:
    """Remove the nodes that a lower shape touches from the patches, which begin with that of the last shape.

    Returns:
        The number of nodes that are left.
    """
    end = 0
    for k in range(len(shapes) - 1, -1, -1):
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
