"""The shapes on soil: records for kernels, and how they are made from a MuJoCo model."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from sandlot.physics import shapes
from sandlot.physics.attachment import LOAD, SHAPE, Track, shape_records
from sandlot.physics.geoms import choose_geoms
from sandlot.physics.soil.balance import TREE, Joints
from sandlot.physics.soil.batch import BATCH, BATCH_SIZE
from sandlot.physics.soil.ground import aligned
from sandlot.physics.soil.parts import COMPONENTS
from sandlot.physics.soil.patch import PATCH_NODE
from sandlot.physics.soil.rims import RIM_NODE
from sandlot.physics.soil.search.hulls import convex_hull, face_normals
from sandlot.physics.soil.search.meshes import Mesh
from sandlot.physics.soil.search.nodes import CELLS, Patches
from sandlot.physics.soil.search.samples import MAX_SAMPLES
from sandlot.physics.soil.sizes import check_sizes, drop_small
from sandlot.typing import Array, IntArray

SOIL_SHAPE = [
    *SHAPE,
    ("points_start", np.int64),
    ("points_end", np.int64),
    ("faces_start", np.int64),
    ("faces_end", np.int64),
    ("box", np.float64, 6),
    ("samples", np.int64),
    ("radius", np.float64),
    ("mass", np.float64),
    ("inertia", np.float64),
    ("tree", np.int64),
    ("tree_dof", np.int64),
    ("columns", np.int64),
    ("moving", np.int64),
    ("patch_start", np.int64),
    ("patch_end", np.int64),
    ("batch_start", np.int64),
    ("batch_end", np.int64),
    ("edge_start", np.int64),
    ("edge_end", np.int64),
]
"""A shape on soil: what `SHAPE` has; where the points and faces of a mesh are in `Mesh`, centre and half sides of a box
around it in its frame [m], and at how many points across a cell it is searched; radius of a sphere around it [m]; mass
[kg] and mean moment of inertia [kg*m^2] of its body; its kinematic tree, and the first degree of freedom of that; how
many degrees of freedom move it or its belt, and how many of these its body; where its patch is in `Contacts.patches`,
in `Contacts.batches`, and the edge of its patch in `Contacts.edge`."""

SOIL_LOAD = [
    *LOAD,
    ("belt_force", np.float64),
    ("tangent", np.float64, (COMPONENTS, COMPONENTS)),
    ("velocity", np.float64, COMPONENTS),
    ("room", np.float64, COMPONENTS),
    ("centre", np.float64, 3),
    ("rest", np.float64),
    ("damping", np.float64),
    ("displaced", np.float64),
    ("displaced_x", np.float64),
    ("displaced_y", np.float64),
    ("elastic_energy", np.float64),
    ("energy_before", np.float64),
    ("energy_debt", np.float64),
]
"""What soil does to a shape in a step: what `LOAD` has; force along the belt [N]; how much force, torque and belt force
it loses by a velocity, the velocity for which the force is right, and room for another one, as in
`sandlot.physics.soil.parts`; centre of mass of its body [m]; ``rest`` as in `sandlot.physics.soil.stress.Response`;
rate at which all motion of its body is damped [1/s]; displaced soil as a height of one cell [m], and its first moments
in x and y [m^2]; elastic energy that the soil stores now, and stored in the step before [J]; and energy that the soil
gave though it had not stored it, and has yet to take back [J]."""

KINDS = (shapes.SPHERE, shapes.CAPSULE, shapes.ELLIPSOID, shapes.CYLINDER, shapes.BOX, shapes.MESH)
"""Kinds of geoms that soil can touch."""
MESH_SAMPLES = 12
"""A mesh is searched at this many points across, if that takes no more than `MAX_SAMPLES` across a cell."""
COUNTERS = np.dtype([("step", np.float64), ("rim", np.float64), ("held", np.int64), ("shapes", np.int64)])
"""Steps and rims since soil was attached; in the last step, nodes that were touched or sheltered, and shapes that
touched any."""


class Contacts(NamedTuple):
    """The shapes on soil and working memory, for kernels.

    There are few arrays in here on purpose: Numba passes each as seven words, and LLVM no longer optimises tuples of
    more than about a hundred.

    Attributes:
        shapes: (shapes,) of SOIL_SHAPE.
        loads: (shapes,) of SOIL_LOAD.
        counters: Record of COUNTERS.
        touched: (shapes,) first the numbers of the shapes that touch the ground.
        mesh: Points and faces of meshes, if there are any.
        patches: Contact patches of this step.
        edge: (room,) nodes at the edges of the patches.
        before: (2 * room,) nodes that were touched or sheltered in the step before.
        rim: (n,) of RIM_NODE, room for a rim.
        batches: (room,) of BATCH, the nodes of all patches.
        joints: Degrees of freedom of the bodies.
    """

    shapes: NDArray[np.void]
    loads: NDArray[np.void]
    counters: Any
    touched: IntArray
    mesh: Mesh | None
    patches: Patches
    edge: IntArray
    before: IntArray
    rim: NDArray[np.void]
    batches: NDArray[np.void]
    joints: Joints


def new_contacts(
    model: mujoco.MjModel,
    geoms: Sequence[str | int] | None,
    tracks: Sequence[Track],
    spacing: float,
    nodes: int,
    kinds: int = 1,
) -> Contacts:
    """The shapes of a model that touch soil.

    Args:
        model: MuJoCo's model.
        geoms: As for `sandlot.physics.attachment.shape_records`; if not given, without geoms that are too small.
        tracks: As there.
        spacing: Distance of nodes [m].
        nodes: Number of nodes of the ground.
        kinds: Number of kinds of soil.

    Raises:
        ModelError: If a shape is too small for the spacing, and as `shape_records`.
        SettingError: As `shape_records`.
    """
    chosen = choose_geoms(model, geoms, len(tracks))
    if geoms is None:
        chosen = drop_small(model, chosen, len(tracks), spacing)
    records = shape_records(SOIL_SHAPE, model, chosen, tracks, KINDS, "soil")
    check_sizes(model, records, spacing)
    mesh = _add_meshes(model, records, spacing)
    _add_masses(model, records)
    is_track, radii = records["kind"] == shapes.TRACK, model.geom_rbound[records["geom"]]
    records["radius"] = np.where(is_track, records["size"].sum(axis=1), radii)
    across = (2.0 * records["radius"] / spacing + 3.0).astype(np.int64)
    room, columns = int(np.sum(across**2)), int(across.max()) + 3
    patches = Patches(
        indices=np.zeros(room, np.int64),
        contact=aligned(PATCH_NODE, room),
        owner=np.zeros(nodes, np.int64),
        cells=aligned(CELLS, 1)[0],
        row_z=np.zeros(columns),
        row_covered=np.zeros(columns),
    )
    return Contacts(
        shapes=records,
        loads=np.zeros(len(records), SOIL_LOAD),
        counters=np.zeros(1, COUNTERS)[0],
        touched=np.zeros(len(records), np.int64),
        mesh=mesh,
        patches=patches,
        edge=np.zeros(room, np.int64),
        before=np.zeros(2 * room, np.int64),
        rim=np.zeros(4 * int(across.max()) ** 2, RIM_NODE),
        batches=aligned(BATCH, int(np.sum(across**2 // BATCH_SIZE + np.minimum(across**2, kinds)))),
        joints=new_joints(model, records),
    )


def _add_meshes(model: mujoco.MjModel, records: NDArray[np.void], spacing: float) -> Mesh | None:
    """Collect the convex hulls of all meshes, if there are any, and tell the shapes where theirs are."""
    if not (records["kind"] == shapes.MESH).any():
        return None
    points, faces, hulls, room = [np.zeros((0, 3))], [np.zeros((0, 3), np.uint32)], {}, 0
    for k in np.flatnonzero(records["kind"] == shapes.MESH):
        shape, which = records[k], int(model.geom_dataid[records[k]["geom"]])
        if which not in hulls:
            found = convex_hull(model, which)
            hulls[which] = (sum(map(len, points)), sum(map(len, faces)), *found)
            points.append(found[0])
            faces.append(found[1])
        shape["points_start"], shape["faces_start"], corners, triangles = hulls[which]
        shape["points_end"] = shape["points_start"] + len(corners)
        shape["faces_end"] = shape["faces_start"] + len(triangles)
        low, high = corners.min(axis=0), corners.max(axis=0)
        shape["box"] = [*(0.5 * (low + high)), *(0.5 * (high - low))]
        across = np.sort(high - low)[1]
        shape["samples"] = np.clip(np.ceil(MESH_SAMPLES * spacing / max(across, 1e-9)), 1, MAX_SAMPLES)
        wide = (np.linalg.norm(high - low) / spacing + 4.0) * shape["samples"]
        room = max(room, int(wide * (wide + shapes.LANES)) + 1)
    world, low = np.zeros((max(map(len, points)), 3)), np.zeros((max(map(len, faces)), 3), np.uint32)
    normals = [face_normals(*each) for each in zip(points, faces, strict=True)]
    return Mesh(np.concatenate(points), np.concatenate(faces), np.concatenate(normals), world, low, np.zeros(room))


def _add_masses(model: mujoco.MjModel, records: NDArray[np.void]) -> None:
    """Set the masses of all shapes. Welded bodies move together, and some of them may have no mass of their own."""
    for shape in records:
        welded = model.body_weldid == model.body_weldid[shape["body"]]
        shape["mass"] = max(model.body_mass[welded].sum(), 1e-9)
        shape["inertia"] = model.body_inertia[welded].mean(axis=1).sum()


def _chain(model: mujoco.MjModel, body: int) -> list[int]:
    """The degrees of freedom that move a body, from the root of its tree on."""
    while body > 0 and model.body_dofnum[body] == 0:
        body = int(model.body_parentid[body])
    dof = int(model.body_dofadr[body] + model.body_dofnum[body]) - 1 if body > 0 else -1
    found = []
    while dof >= 0:
        found.append(dof)
        dof = int(model.dof_parentid[dof])
    return found[::-1]


def _damping(model: mujoco.MjModel) -> Array:
    """Damping of all degrees of freedom that MuJoCo integrates implicitly: of joints, and of servos by their gains."""
    found: Array = model.dof_damping.copy()
    if model.opt.integrator != mujoco.mjtIntegrator.mjINT_EULER:
        affine = model.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE
        for k in np.flatnonzero(affine & (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT)):
            dof = model.jnt_dofadr[model.actuator_trnid[k, 0]]
            found[dof] += max(-model.actuator_biasprm[k, 2], 0.0) * model.actuator_gear[k, 0] ** 2
    return found


def new_joints(model: mujoco.MjModel, records: NDArray[np.void]) -> Joints:
    """The degrees of freedom that move shapes, which are told how many move them, and which tree is theirs."""
    trees = np.zeros(max(model.ntree, 1), TREE)
    trees["first"][: model.ntree], trees["count"][: model.ntree] = model.tree_dofadr, model.tree_dofnum
    # MuJoCo stores only the diagonal of the mass matrix for bodies whose axes are independent.
    trees["coupled"] = 1
    chains = []
    for shape in records:
        moving, dof = _chain(model, int(shape["body"])), int(shape["dof"])
        belt = _chain(model, int(model.dof_bodyid[dof])) if dof >= 0 else []
        belt = belt[: belt.index(dof) + 1] if belt else []
        aside = [*moving, *([dof] if dof not in moving else [])] if belt else moving
        chain = belt if belt[: len(moving)] == moving else aside
        shape["columns"], shape["moving"] = len(chain), len(moving)
        tree = int(model.dof_treeid[chain[0]]) if chain else -1
        shape["tree"], shape["tree_dof"] = tree, model.tree_dofadr[tree] if chain else -1
        row_lengths = [int(model.M_rownnz[each]) for each in chain]
        if chain and row_lengths != list(range(1, len(chain) + 1)):
            trees["coupled"][tree] = 0
        chains.append(chain)
    columns, most = max(map(len, chains)), int(trees["count"].max())
    width = -(-columns // shapes.LANES) * shapes.LANES
    dofs = np.zeros((len(records), columns), np.int64)
    for row, chain in zip(dofs, chains, strict=True):
        row[: len(chain)] = chain
    return Joints(
        trees=trees,
        dofs=dofs,
        damping=_damping(model),
        jacobians=np.zeros((len(records), COMPONENTS, width)),
        mass=np.zeros((most, most)),
        matrix=np.zeros((most, most)),
        tangent=np.zeros((most, most)),
        half=np.zeros((COMPONENTS, width)),
        product=np.zeros((columns, width)),
        sums=np.zeros((COMPONENTS, COMPONENTS)),
        vectors=np.zeros((6, most)),
    )
