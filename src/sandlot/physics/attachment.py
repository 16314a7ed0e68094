"""What soil and particles know of the MuJoCo model on them: the shapes that touch the ground, and the forces on these.

A shape is a geom, or a track, which MuJoCo does not have. Soil and particles add fields of their own to the records
`SHAPE` and `LOAD`; the kernels here use the common ones.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from sandlot.errors import ModelError, SettingError
from sandlot.kernels import kernel
from sandlot.physics import shapes
from sandlot.physics.geoms import choose_geoms, geom_name
from sandlot.physics.mujoco_bridge import Simulation
from sandlot.typing import Array

Fields = list[tuple[Any, ...]]
"""Fields of a NumPy record: name, type and shape."""

SHAPE: Fields = [
    ("kind", np.int64),
    ("body", np.int64),
    ("root", np.int64),
    ("dof", np.int64),
    ("geom", np.int64),
    ("size", np.float64, 3),
    ("local_position", np.float64, 3),
    ("local_rotation", np.float64, 9),
    ("position", np.float64, 3),
    ("rotation", np.float64, 9),
]
"""A shape: its kind and size as in `sandlot.physics.shapes`, its body, the root of the body's kinematic tree, the
degree of freedom that drives its belt (-1 for none), and its geom. If ``geom`` is -1, the pose comes from the body and
the local pose in the body's frame. ``position`` [m] and ``rotation`` (row by row) are the current pose in the world."""

LOAD: Fields = [("force", np.float64, 3), ("torque", np.float64, 3), ("drive_torque", np.float64)]
"""What the ground does to a shape: force [N], torque about the centre of mass of its body [N*m], and torque on the
degree of freedom that drives its belt [N*m]."""


@dataclass(frozen=True, eq=False)
class Track:
    """A belt around two pulleys, fixed to a body: a stadium, seen from the side.

    Attributes:
        body: Number of the body in MuJoCo.
        position: (3,) centre of the track in the body's frame [m].
        rotation: (3, 3) from the track's axes (x along the belt, y along the axles, z up) to the body's.
        half_length: Half the distance between the axles [m].
        radius: Radius of the pulleys, including the belt [m].
        half_width: Half the width of the belt [m].
        dof: The degree of freedom that drives the belt: its speed [rad/s] times the radius is the belt speed, which
            drives forward where it is positive.
    """

    body: int
    position: NDArray[np.float64]
    rotation: NDArray[np.float64]
    half_length: float
    radius: float
    half_width: float
    dof: int

    @property
    def size(self) -> Array:
        """(3,) as `sandlot.physics.shapes` orders it [m]."""
        return np.array([self.half_length, self.radius, self.half_width])


@kernel(error_model="numpy", allocates=False)
def update_pose(shape: np.void, simulation: Simulation) -> None:
    """Update the world pose of a shape from the simulation."""
    body, geom, position, rotation = shape["body"], shape["geom"], shape["position"], shape["rotation"]
    if geom >= 0:
        for k in range(3):
            position[k] = simulation.geom_xpos[geom, k]
        for k in range(9):
            rotation[k] = simulation.geom_xmat[geom, k]
        return
    local_position, local_rotation, xmat = shape["local_position"], shape["local_rotation"], simulation.xmat[body]
    for row in range(3):
        position[row] = simulation.xpos[body, row]
        for k in range(3):
            position[row] += xmat[3 * row + k] * local_position[k]
            rotation[3 * row + k] = 0.0
            for m in range(3):
                rotation[3 * row + k] += xmat[3 * row + m] * local_rotation[3 * m + k]


@kernel(error_model="numpy", allocates=False)
def apply_load(record: np.void, load: np.void, simulation: Simulation) -> None:
    """Add the load on a shape to the applied forces of a simulation."""
    body, dof, force, torque = record["body"], record["dof"], load["force"], load["torque"]
    for m in range(3):
        simulation.xfrc_applied[body, m] += force[m]
        simulation.xfrc_applied[body, 3 + m] += torque[m]
    if dof >= 0:
        simulation.qfrc_applied[dof] += load["drive_torque"]


def shape_records(
    fields: Fields,
    model: mujoco.MjModel,
    geoms: Sequence[str | int] | None,
    tracks: Sequence[Track],
    kinds: Collection[int],
    ground: str,
) -> NDArray[np.void]:
    """Records of the geoms and tracks that touch the ground, geoms first; fields beyond `SHAPE` are zero.

    Args:
        fields: `SHAPE` and what the ground adds to it.
        model: MuJoCo's model.
        geoms: As for `sandlot.physics.geoms.choose_geoms`.
        tracks: Belts that touch the ground as well.
        kinds: Kinds of geoms that this ground supports.
        ground: Name of the ground, for messages.

    Raises:
        ModelError: If the model or one of its geoms cannot be used with this ground.
        SettingError: If there is no such geom, or a track is impossible.
    """
    check_integrator(model)
    chosen = choose_geoms(model, geoms, len(tracks))
    records = np.zeros(len(chosen) + len(tracks), np.dtype(fields))
    for record, geom in zip(records, chosen, strict=False):
        kind, body = int(model.geom_type[geom]), int(model.geom_bodyid[geom])
        if kind not in kinds:
            allowed = ", ".join(shapes.NAMES[each] for each in kinds)
            raise ModelError(f"{geom_name(model, geom)} has a shape that {ground} cannot touch; allowed: {allowed}")
        record["kind"], record["body"], record["dof"], record["geom"] = kind, body, -1, geom
        record["size"] = model.geom_size[geom]
        record["local_position"] = model.geom_pos[geom]
        mujoco.mju_quat2Mat(record["local_rotation"], model.geom_quat[geom])
    for record, track in zip(records[len(chosen) :], tracks, strict=True):
        _check_track(model, track)
        record["kind"], record["body"], record["dof"], record["geom"] = shapes.TRACK, track.body, track.dof, -1
        record["size"] = track.size
        record["local_position"], record["local_rotation"] = track.position, np.ravel(track.rotation)
    records["root"] = model.body_rootid[records["body"]]
    return records


def shape_name(model: mujoco.MjModel, shape: np.void) -> str:
    """How messages call a shape."""
    geom = int(shape["geom"])
    return f"track on body {shape['body']}" if geom < 0 else geom_name(model, geom)


def check_integrator(model: mujoco.MjModel) -> None:
    """Refuse an integrator that makes several steps in one.

    Raises:
        ModelError: If the model has such an integrator.
    """
    if model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
        raise ModelError("ground cannot be used with the integrator RK4; allowed: Euler, implicit, implicitfast")


def check_data(model: mujoco.MjModel | None, data: mujoco.MjData, ground: str) -> None:
    """Refuse a simulation of another model than the attached one, and an integrator that was set since.

    Raises:
        ModelError: If the simulation is of another model, no model is attached, or the integrator is RK4.
    """
    if model is None:
        raise ModelError(f"{ground} attached to no model; use attach first")
    if data.model is not model:
        raise ModelError(f"this data is of another model than the one that {ground} attached to; attach that one")
    check_integrator(model)


def _check_track(model: mujoco.MjModel, track: Track) -> None:
    """Refuse a track on a body or a degree of freedom that the model does not have, or of an impossible size."""
    for name, value, count in (("body", track.body, model.nbody), ("dof", track.dof, model.nv)):
        if not 0 <= value < count:
            raise SettingError(f"track with {name}={value}: the model has none; allowed: 0 to {count - 1}")
    for name in ("half_length", "radius", "half_width"):
        if not 0.0 < getattr(track, name) < np.inf:
            raise SettingError(f"track with {name}={getattr(track, name):g}; allowed: above 0")
