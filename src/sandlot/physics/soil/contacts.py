"""The shapes on soil: records for kernels, and how they are made from a MuJoCo model."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from sandlot.errors import ModelError
from sandlot.physics import shapes
from sandlot.physics.attachment import LOAD, SHAPE, Track, geom_name, shape_records
from sandlot.physics.soil.batch import BATCH
from sandlot.physics.soil.find import Mesh, Patches
from sandlot.physics.soil.ground import aligned
from sandlot.physics.soil.patch import PATCH_NODE
from sandlot.physics.soil.rims import RIM_NODE
from sandlot.typing import Array, IntArray

STABLE_STIFFNESS = 0.5
"""Maximum of elastic stiffness times area times squared time step over effective mass. Explicit steps are unstable at
twice that, if two shapes of a body touch the ground."""

SOIL_SHAPE = [
    *SHAPE,
    ("points_start", np.int64),
    ("points_end", np.int64),
    ("faces_start", np.int64),
    ("faces_end", np.int64),
    ("stiffness", np.float64),
    ("mass", np.float64),
    ("inertia", np.float64),
    ("effective_mass", np.float64),
    ("edge_start", np.int64),
    ("edge_end", np.int64),
]
"""A shape on soil: what `SHAPE` has; where its points and faces are in `Mesh`; elastic stiffness of the soil under it
[Pa/m]; mass [kg] and mean moment of inertia [kg*m^2] of its body; effective mass of the body where the shape touches
the ground [kg]; and where the edge of its patch is in `Contacts.edge`."""

SOIL_LOAD = [
    *LOAD,
    ("belt_force", np.float64),
    ("displaced", np.float64),
    ("displaced_x", np.float64),
    ("displaced_y", np.float64),
    ("elastic_energy", np.float64),
    ("energy_before", np.float64),
    ("energy_debt", np.float64),
]
"""What soil does to a shape in a step: what `LOAD` has; force along the belt [N]; displaced soil as a height of one
cell [m], and its first moments in x and y [m^2]; elastic energy that the soil stores now, and stored in the step before
[J]; and energy that the soil gave though it had not stored it, and has yet to take back [J]."""

COUNTERS = np.dtype([("step", np.float64), ("rim", np.float64), ("touched", np.int64)])
"""Steps and rims since soil was attached, and number of nodes that were touched in the last step."""


class Contacts(NamedTuple):
    """The shapes on soil and working memory, for kernels.

    There are few arrays in here on purpose: Numba passes each as seven words, and LLVM no longer optimises tuples of
    more than about a hundred.

    Attributes:
        shapes: (shapes,) of SOIL_SHAPE.
        loads: (shapes,) of SOIL_LOAD.
        counters: Record of COUNTERS.
        mesh: Points and faces of meshes.
        patches: Contact patches of this step.
        edge: (room,) nodes at the edges of the patches.
        before: (room,) nodes that were touched in the step before.
        rim: (n,) of RIM_NODE, room for a rim.
        batch: (1,) of BATCH, room for some nodes of a patch.
    """

    shapes: NDArray[np.void]
    loads: NDArray[np.void]
    counters: Any
    mesh: Mesh
    patches: Patches
    edge: IntArray
    before: IntArray
    rim: NDArray[np.void]
    batch: NDArray[np.void]


def new_contacts(
    model: mujoco.MjModel,
    geoms: Sequence[str | int] | None,
    tracks: Sequence[Track],
    spacing: float,
    elastic: float,
) -> Contacts:
    """The shapes of a model that touch soil.

    Args:
        model: MuJoCo's model.
        geoms: As for `sandlot.physics.attachment.shape_records`.
        tracks: As there.
        spacing: Distance of nodes [m].
        elastic: Elastic stiffness of the soil [Pa/m].

    Raises:
        ModelError: If a shape is smaller than the spacing, and as `shape_records`.
        SettingError: As `shape_records`.
    """
    kinds = [kind for kind in HALF_WIDTHS if kind != shapes.TRACK]
    records = shape_records(SOIL_SHAPE, model, geoms, tracks, kinds, "soil")
    for record in records:
        _check_size(model, record, spacing)
    mesh = _add_meshes(model, records)
    _add_masses(model, records, elastic)
    is_track = records["kind"] == shapes.TRACK
    extent = np.where(is_track, records["size"].sum(axis=1), model.geom_rbound[records["geom"]])
    across = (2.0 * extent / spacing + 3.0).astype(np.int64)
    room, columns = int(np.sum(across**2)), int(across.max()) + 3
    patches = Patches(np.zeros(room, np.int64), aligned(PATCH_NODE, room), np.zeros(columns), np.zeros(columns))
    return Contacts(
        shapes=records,
        loads=np.zeros(len(records), SOIL_LOAD),
        counters=np.zeros(1, COUNTERS)[0],
        mesh=mesh,
        patches=patches,
        edge=np.zeros(room, np.int64),
        before=np.zeros(room, np.int64),
        rim=np.zeros(4 * int(across.max()) ** 2, RIM_NODE),
        batch=aligned(BATCH, 1),
    )


HALF_WIDTHS: dict[int, Callable[[Array], float]] = {
    shapes.SPHERE: lambda size: size[0],
    shapes.CAPSULE: lambda size: size[0],
    shapes.ELLIPSOID: lambda size: min(size),
    shapes.CYLINDER: lambda size: min(size[:2]),
    shapes.BOX: lambda size: min(size),
    shapes.MESH: lambda size: np.inf,
    shapes.TRACK: lambda size: min(size[1:]),
}
"""Half the smallest width of each kind of shape [m]; for a mesh, the radius of its bounding sphere is used instead."""


def _check_size(model: mujoco.MjModel, shape: np.void, spacing: float) -> None:
    """Refuse a shape that could fall through between the nodes."""
    kind, geom = int(shape["kind"]), int(shape["geom"])
    name = f"track on body {shape['body']}" if geom < 0 else geom_name(model, geom)
    across = 2.0 * (float(model.geom_rbound[geom]) if kind == shapes.MESH else HALF_WIDTHS[kind](shape["size"]))
    if across < spacing:
        raise ModelError(
            f"{name} is {across:.3g} m across, less than the spacing of the ground; "
            f"allowed: spacing of at most {across:.2g}"
        )


def _add_meshes(model: mujoco.MjModel, records: NDArray[np.void]) -> Mesh:
    """Collect the points and faces of all meshes, and tell the shapes where theirs are."""
    points, faces = [np.zeros((0, 3))], [np.zeros((0, 3), np.int32)]
    for shape in records[records["kind"] == shapes.MESH]:
        which = model.geom_dataid[shape["geom"]]
        p, f = model.mesh_vertadr[which], model.mesh_faceadr[which]
        points.append(model.mesh_vert[p : p + model.mesh_vertnum[which]])
        faces.append(model.mesh_face[f : f + model.mesh_facenum[which]])
    for name, arrays in (("points", points), ("faces", faces)):
        ends = np.cumsum([len(array) for array in arrays])
        records[f"{name}_start"][records["kind"] == shapes.MESH] = ends[:-1]
        records[f"{name}_end"][records["kind"] == shapes.MESH] = ends[1:]
    return Mesh(np.concatenate(points).astype(np.float64), np.concatenate(faces).astype(np.int32))


def _contact_area(kind: int, size: Array) -> float:
    """A typical contact area of a shape [m^2]."""
    areas = {
        shapes.SPHERE: size[0] ** 2,
        shapes.BOX: 4.0 * np.prod(np.sort(size)[1:]),
        shapes.TRACK: 4.0 * (size[0] + 0.5 * size[1]) * size[2],
        shapes.CYLINDER: 2.0 * size[0] * size[1],
        shapes.CAPSULE: 2.0 * size[0] * (size[1] + 0.5 * size[0]),
    }
    return max(float(areas.get(kind, np.prod(np.sort(size)[1:]))), 1e-12)


def _add_masses(model: mujoco.MjModel, records: NDArray[np.void], elastic: float) -> None:
    """Set the masses of all shapes, and the elastic stiffness under them.

    The effective mass of a shape is smaller the farther it is from the centre of mass of its body, since a force there
    rotates the body, and the more shapes the body has, since all may push it at the same time. The stiffness is the
    soil's, unless explicit steps would be unstable with it.
    """
    home = mujoco.MjData(model)
    mujoco.mj_kinematics(model, home)
    shapes_per_body = Counter(records["body"].tolist())
    for shape in records:
        body, geom = int(shape["body"]), int(shape["geom"])
        track_centre = home.xpos[body] + home.xmat[body].reshape(3, 3) @ shape["local_position"]
        away = (home.geom_xpos[geom] if geom >= 0 else track_centre) - home.xipos[body]
        translation, rotation = model.body_invweight0[body]
        inverse_mass = max(float(translation + rotation * (away[0] ** 2 + away[1] ** 2)), 1e-12)
        shape["effective_mass"] = 1.0 / (inverse_mass * shapes_per_body[body])
        area, dt = _contact_area(int(shape["kind"]), shape["size"]), model.opt.timestep
        shape["stiffness"] = min(elastic, STABLE_STIFFNESS * shape["effective_mass"] / (area * dt**2))
        # Welded bodies move together, and some of them may have no mass of their own.
        welded = model.body_weldid == model.body_weldid[body]
        shape["mass"] = max(model.body_mass[welded].sum(), 1e-9)
        shape["inertia"] = model.body_inertia[welded].mean(axis=1).sum()
