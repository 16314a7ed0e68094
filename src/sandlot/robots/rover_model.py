"""Rovers in MuJoCo: a model of one or several, and how to drive them.

The model has no ground: soil acts on it through forces from elsewhere, which `RoverModel` says where to apply.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from sandlot.errors import SandlotError
from sandlot.geometry.rotations import rotation_matrix
from sandlot.physics.attached import Track
from sandlot.robots.rover import Rover, wheel_speeds
from sandlot.robots.rover_layout import SIDES, Layout, Rolling, Side, understand
from sandlot.robots.urdf import Joint, Shape
from sandlot.typing import Array

GRAVITY = 9.81
"""[m/s^2], downwards."""

BELT_HEIGHT = 0.97
"""Of the box that fills a belt between its wheels, relative to theirs: on flat solids the wheels stand, and feel it."""


@dataclass(frozen=True)
class Wheel:
    """A powered wheel.

    Attributes:
        joint: Its name in the URDF.
        side: Where it is.
        body: Its body.
        qpos: Address of its angle [rad].
        dof: Address of its speed [rad/s]; positive drives forward, whatever the URDF says of its axis.
        actuator: Its motor: wants a speed [rad/s].
    """

    joint: str
    side: Side
    body: int
    qpos: int
    dof: int
    actuator: int


@dataclass(frozen=True, eq=False)
class RoverParts:
    """Where a rover is found in a model.

    Attributes:
        rover: Its settings.
        radius: Of its powered wheels [m].
        base: From its left to its right wheels [m].
        chassis: The body of its chassis, and of all that is fixed to it.
        qpos: Address of its free joint's seven positions (x, y, z, quaternion w, x, y, z).
        dof: Address of its free joint's six speeds (in the world's axes, then about the chassis' own).
        wheels: The powered ones, left then right, from front to back.
        first: Of these the foremost left and the foremost right one, whose speeds stand for those of their sides.
        ground: Geoms that the ground may touch: the chassis, and the wheels unless belts cover them.
        tracks: Left and right; none if it runs on wheels.
        belts: Geoms that let solids touch the tracks between their wheels, in the same order.
    """

    rover: Rover
    radius: float
    base: float
    chassis: int
    qpos: int
    dof: int
    wheels: tuple[Wheel, ...]
    first: tuple[Wheel, Wheel]
    ground: tuple[int, ...]
    tracks: tuple[Track, ...]
    belts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RoverModel:
    """A MuJoCo model and the rovers in it."""

    model: mujoco.MjModel
    rovers: tuple[RoverParts, ...]


def build_model(rovers: Sequence[Rover], poses: ArrayLike, step: float = 0.001, extra_xml: str = "") -> RoverModel:
    """Put rovers, and perhaps solid things, into a MuJoCo model without ground.

    Rovers collide with each other and with solids, but not with themselves. Motors are servos for speed whose torque is
    limited. Wheels under a belt turn together; see `move_belts` for what lies between them.

    Args:
        rovers: One or several.
        poses: (n, 6) where their chassis start: x, y, z [m], roll, pitch, yaw [rad].
        step: Of the physics [s].
        extra_xml: What else there is, as MJCF that could stand inside ``<mujoco>``: for a floor,
            ``<worldbody><geom type="plane" size="1 1 1"/></worldbody>``.

    Raises:
        SandlotError: If a body has no such chassis or wheels, or MuJoCo refuses the model.
    """
    places = np.asarray(poses, np.float64)
    if places.shape != (len(rovers), 6) or not np.isfinite(places).all():
        raise SandlotError(
            f"poses of shape {places.shape} for {len(rovers)} rovers; allowed: for each x, y, z, roll, pitch, yaw"
        )
    if not 0.0 < step <= 0.1:
        raise SandlotError(f"step={step:g} is not possible; allowed: a number above 0 and at most 0.1")
    layouts = [understand(rover) for rover in rovers]
    try:
        spec = mujoco.MjSpec.from_string(f"<mujoco>{extra_xml}</mujoco>")
        spec.option.timestep = step
        spec.option.gravity = [0.0, 0.0, -GRAVITY]
        # Takes the servos' damping at the end of a step.
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        # Pyramids explode where a driven wheel meets a wall without friction, and sink deeper.
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        for k, (layout, place) in enumerate(zip(layouts, places, strict=True)):
            frame = spec.worldbody.add_frame(pos=place[:3], quat=_quaternion(rotation_matrix(*place[3:])))
            spec.attach(_spec(layout, step), prefix=f"rover{k}/", frame=frame)
        model = spec.compile()
    except (ValueError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        raise SandlotError(f"MuJoCo refuses the model: {error}") from None
    model.flg_surfacevel |= any(layout.belts for layout in layouts)
    return RoverModel(model, tuple(_parts(model, f"rover{k}/", layout) for k, layout in enumerate(layouts)))


def drive(rover_model: RoverModel, data: mujoco.MjData, commands: ArrayLike) -> None:
    """Tell all rovers how to move, by writing their motors' ``data.ctrl``.

    Args:
        rover_model: The rovers.
        data: Of their model.
        commands: (n, 2) wanted speed forward [m/s] and rate of turning to the left [rad/s]; `wheel_speeds` says what
            happens if that is too fast.

    Raises:
        SandlotError: If there is not a number for each.
    """
    wanted = np.asarray(commands, np.float64)
    if wanted.shape != (len(rover_model.rovers), 2) or not np.isfinite(wanted).all():
        raise SandlotError(
            f"commands of shape {wanted.shape} for {len(rover_model.rovers)} rovers, or not numbers; "
            "allowed: for each a linear and an angular speed"
        )
    for parts, (linear, angular) in zip(rover_model.rovers, wanted, strict=True):
        speeds = wheel_speeds(linear, angular, parts.base, parts.radius, parts.rover.top_speed)
        for wheel in parts.wheels:
            data.ctrl[wheel.actuator] = speeds[SIDES.index(wheel.side)]


def move_belts(rover_model: RoverModel, data: mujoco.MjData) -> None:
    """Let belts run as fast as their wheels, for solids that touch them between these; call it before every step.

    It writes ``model.geom_surfacevel``, so that a model with tracks serves one ``data`` at a time. Such a solid is
    dragged along, but unlike one under a wheel it does not slow the motor down: MuJoCo knows no reaction to this.
    """
    for parts in rover_model.rovers:
        for track, geom in zip(parts.tracks, parts.belts, strict=True):
            # As if it turned about its middle: that is a belt's speed above and below, and the rest is not tangential.
            rover_model.model.geom_surfacevel[geom, 4] = data.qvel[track.dof]


_SOLIDS = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "mesh": mujoco.mjtGeom.mjGEOM_MESH,
}


def _spec(layout: Layout, step: float) -> Any:
    """A rover as a model of its own, to be attached to another."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    rolling = {wheel.part: wheel for wheel in layout.wheels}
    bodies: list[Any] = []
    for k, part in enumerate(layout.parts):
        above = bodies[part.parent] if part.joint else spec.worldbody
        mass, centre, inertia = part.weight
        body = above.add_body(name=part.name, pos=part.position, quat=_quaternion(part.rotation))
        body.explicitinertial, body.mass, body.ipos = True, mass, centre
        body.fullinertia = [*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        bodies.append(body)
        if part.joint is None:
            body.add_freejoint(name="free")
        else:
            _add_hinge(spec, body, part.joint, rolling.get(k), layout.rover, step)
        for number, shape in enumerate(part.solids):
            name, group = f"{part.name} {number}", 3 if part.looks else 0
            _add_geom(spec, body, shape, name=name, contype=1, conaffinity=1, group=group)
        for shape in part.looks:
            _add_geom(spec, body, shape, contype=0, conaffinity=0, group=2)
    for belt in layout.belts:
        size = [belt.half_length, belt.driver.half_width, BELT_HEIGHT * belt.driver.radius]
        box = bodies[belt.parent].add_geom(name=f"{belt.side} belt", type=_SOLIDS["box"], size=size, group=3)
        box.pos, box.quat = belt.position, _quaternion(belt.rotation)
        for wheel in belt.followers:
            same = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT)
            same.name1, same.name2 = wheel.joint.name, belt.driver.joint.name
            same.data = [0.0, belt.driver.radius / wheel.radius, *[0.0] * (len(same.data) - 2)]
            same.solref, same.solimp[:3] = [2.0 * step, 1.0], [0.99, 0.999, 0.001]
    for one, two in itertools.combinations(layout.parts, 2):
        spec.add_exclude(bodyname1=one.name, bodyname2=two.name)
    return spec


def _add_hinge(spec: Any, body: Any, joint: Joint, wheel: Rolling | None, rover: Rover, step: float) -> None:
    hinge = body.add_joint(name=joint.name, type=mujoco.mjtJoint.mjJNT_HINGE)
    hinge.axis = joint.axis if wheel is None else wheel.hinge
    if joint.limits is not None and wheel is None:
        hinge.range, hinge.limited = joint.limits, mujoco.mjtLimited.mjLIMITED_TRUE
    if joint.powered:
        hinge.armature = rover.armature
        motor = spec.add_actuator(name=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=joint.name)
        # The stiffest servo that cannot overshoot: where nothing else holds the wheel, it takes away the whole error
        # in one step. Stiffer ones chatter between the limits of their torque.
        motor.set_to_velocity(rover.armature / step)
        motor.forcelimited, motor.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, [-rover.torque, rover.torque]
        motor.ctrllimited, motor.ctrlrange = mujoco.mjtLimited.mjLIMITED_TRUE, [-rover.top_speed, rover.top_speed]


def _add_geom(spec: Any, body: Any, shape: Shape, **options: Any) -> None:
    geom = body.add_geom(type=_SOLIDS[shape.kind], pos=shape.position, quat=_quaternion(shape.rotation), **options)
    if shape.kind == "mesh":
        mesh = spec.add_mesh(name=f"mesh {len(spec.meshes)}", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        mesh.uservert, mesh.userface = shape.vertices.ravel(), shape.faces.ravel()
        geom.meshname = mesh.name
    elif shape.kind == "box":
        geom.size = 0.5 * np.array(shape.size)
    elif shape.kind == "cylinder":
        geom.size = [shape.size[0], 0.5 * shape.size[1], 0.0]
    else:
        geom.size = [shape.size[0], 0.0, 0.0]


def _quaternion(rotation: Array) -> Array:
    """(4,) w, x, y, z."""
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(rotation).ravel())
    return quaternion


def _parts(model: mujoco.MjModel, prefix: str, layout: Layout) -> RoverParts:
    """Where a rover ended up in the compiled model."""
    free = model.joint(f"{prefix}free")
    rolling = {wheel.part for wheel in layout.wheels}
    wheels = []
    for wheel in layout.wheels:
        if wheel.joint.powered:
            name = prefix + wheel.joint.name
            joint, motor = model.joint(name), model.actuator(name)
            body = int(model.jnt_bodyid[joint.id])
            wheels.append(
                Wheel(wheel.joint.name, wheel.side, body, int(joint.qposadr[0]), int(joint.dofadr[0]), motor.id)
            )
    ground = [
        model.geom(f"{prefix}{part.name} {number}").id
        for k, part in enumerate(layout.parts)
        if not (layout.belts and k in rolling)
        for number in range(len(part.solids))
    ]
    tracks = [
        Track(
            model.body(prefix + layout.parts[belt.parent].name).id,
            belt.position,
            belt.rotation,
            belt.half_length,
            belt.driver.radius,
            belt.driver.half_width,
            int(model.joint(prefix + belt.driver.joint.name).dofadr[0]),
        )
        for belt in layout.belts
    ]
    belts = [model.geom(f"{prefix}{belt.side} belt").id for belt in layout.belts]
    left, right = (next(wheel for wheel in wheels if wheel.side == side) for side in SIDES)
    chassis = model.body(prefix + layout.parts[0].name).id
    place = int(free.qposadr[0]), int(free.dofadr[0])
    return RoverParts(
        layout.rover,
        layout.radius,
        layout.base,
        chassis,
        *place,
        tuple(wheels),
        (left, right),
        tuple(ground),
        tuple(tracks),
        tuple(belts),
    )
