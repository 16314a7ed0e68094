"""A climbing robot and its course as a MuJoCo model.

A track is four geoms: an ellipsoid for each wheel, and a plate for each straight part of the belt. They share one belt
speed as their ``surfacevel``: a rotation of the ellipsoids, a shift of the plates. The planar outline is exactly the
hull of the two wheels. Robot parts touch only the ground.

Wheels are ellipsoids, as wide as their track and as crowned pulleys, because they touch an edge of a step in one point
that moves smoothly. A cylinder touches it along a line, of which MuJoCo keeps one point that jumps from side to side
and rolls the robot; a capsule would be wider than its track by its radius on either side.

Each belt is also a degree of freedom, a slider with the belt's inertia that its motor drives. MuJoCo's surface velocity
has no reaction on such a slider; `sandlot.robots.reference_climbers` adds it.
"""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from sandlot.places.courses import Course
from sandlot.robots.climber import Climber
from sandlot.typing import Array, IntArray

CONTACT_TIME = 0.005
"""Time constant with which contacts end penetration and slip [s]."""
WIDTH = 6.0
"""Half the width of the ground [m]."""
TRACKS = ("front left", "front right", "back left", "back right")
_PLATE = 0.02
"""Thickness of a plate, which reaches inwards from the belt [m]."""


@dataclass(frozen=True, eq=False)
class ClimberModel:
    """A compiled model, and where its belts are.

    Attributes:
        model: One robot on one course.
        belt_geoms: (geoms,) of the belts.
        belt_of: (all geoms,) number in `TRACKS` of each geom's belt, or -1.
        per_speed: (geoms, 6) ``surfacevel`` of each of ``belt_geoms`` at a belt speed of 1 m/s.
    """

    model: mujoco.MjModel
    belt_geoms: IntArray
    belt_of: IntArray
    per_speed: Array


def climber_model(climber: Climber, course: Course, step: float, friction: tuple[float, float]) -> ClimberModel:
    """Make the model.

    Args:
        climber: The robot.
        course: Its ground.
        step: Of the physics [s].
        friction: Coefficient of the left and of the right belts.
    """
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    option = spec.option
    option.timestep, option.integrator = step, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone, option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 20.0
    option.tolerance, option.iterations = 1e-10, 100
    option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE  # to be extended by the belts, as must not be split into islands
    option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET | mujoco.mjtDisableBit.mjDSBL_ISLAND
    _add_ground(spec, course)
    _add_robot(spec, climber, friction)
    _add_belts(spec, climber)
    model = spec.compile()
    names = [model.geom(k).name for k in range(model.ngeom)]
    belt_of = np.array([_belt(name) for name in names])
    geoms = np.flatnonzero(belt_of >= 0)
    per_speed = np.zeros((len(geoms), 6))
    for row, geom in zip(per_speed, geoms, strict=True):
        part = names[geom].rsplit(" ", 1)[1]
        if part in ("top", "bottom"):
            row[0] = 1.0
        else:
            row[5] = 1.0 / (climber.track.wheel if part == "wheel" else climber.track.tip)
    model.flg_surfacevel = 1
    return ClimberModel(model, geoms, belt_of, per_speed)


def _belt(name: str) -> int:
    return next((k for k, track in enumerate(TRACKS) if name.startswith(track)), -1)


def _add_ground(spec: Any, course: Course) -> None:
    for solid in course.solids():
        low, high = solid.min(axis=0), solid.max(axis=0)
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        if np.isclose(np.abs(solid - middle), half).all():
            geom = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, pos=[middle[0], 0.0, middle[1]])
            geom.size = [half[0], WIDTH, half[1]]
        else:
            geom = _add_prism(spec, solid, middle)
        geom.contype, geom.conaffinity = 2, 1
        geom.solref, geom.rgba = [CONTACT_TIME, 1.0], [0.72, 0.66, 0.56, 1.0]


def _add_prism(spec: Any, solid: Array, middle: Array) -> Any:
    mesh = spec.add_mesh(name=f"prism {len(spec.meshes)}")
    flat = solid - middle
    mesh.uservert = np.concatenate([np.insert(flat, 1, y, axis=1) for y in (-WIDTH, WIDTH)]).ravel()
    geom = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, pos=[middle[0], 0.0, middle[1]])
    geom.meshname = mesh.name
    return geom


def _add_robot(spec: Any, climber: Climber, friction: tuple[float, float]) -> None:
    body, axles = spec.worldbody.add_body(name="body"), climber.axles
    body.add_freejoint()
    _set_mass(body, climber.body.mass, climber.body_inertia, 0.0)
    radius, half = 0.5 * climber.body.height, 0.5 * climber.body.width
    straight = 0.5 * climber.body.length - radius
    for end in (-straight, straight):
        round_end = _add_round(body, f"body {end:g}", end, 0.0, climber.body.friction)
        round_end.type, round_end.size = mujoco.mjtGeom.mjGEOM_CAPSULE, [radius, max(half - radius, 1e-3), 0.0]
    box = body.add_geom(name="body box", type=mujoco.mjtGeom.mjGEOM_BOX, size=[max(straight, 1e-3), half, radius])
    _set_contact(box, climber.body.friction)
    for which, way, offset in (("front", 1.0, axles.front_offset), ("back", -1.0, axles.back_offset)):
        pair = body.add_body(name=which, pos=[way * 0.5 * axles.span, 0.0, axles.height])
        pair.add_joint(name=which, axis=[0.0, -1.0, 0.0], armature=axles.inertia)
        inertia = 2.0 * climber.track_inertia + 2.0 * climber.track.mass * offset**2 * np.array([1.0, 0.0, 1.0])
        _set_mass(pair, 2.0 * climber.track.mass, inertia, way * 0.5 * climber.track.reach)
        motor = spec.add_actuator(name=which, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=which)
        motor.set_to_velocity(axles.damping)
        motor.forcelimited, motor.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, [-axles.torque, axles.torque]
        for side, y, coefficient in (("left", offset, friction[0]), ("right", -offset, friction[1])):
            _add_track(pair, f"{which} {side}", way, y, climber, coefficient)


def _add_belts(spec: Any, climber: Climber) -> None:
    for name in TRACKS:
        belt = spec.worldbody.add_body(name=f"{name} belt")
        belt.add_joint(name=f"{name} belt", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1.0, 0.0, 0.0])
        _set_mass(belt, climber.belts.inertia, np.ones(3), 0.0)
        motor = spec.add_actuator(name=f"{name} belt", trntype=mujoco.mjtTrn.mjTRN_JOINT, target=f"{name} belt")
        motor.set_to_velocity(climber.belts.damping)
        motor.forcelimited, motor.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, [-climber.thrust, climber.thrust]


def _set_mass(body: Any, mass: float, inertia: Array, x: float) -> None:
    body.explicitinertial, body.mass, body.ipos, body.inertia = True, mass, [x, 0.0, 0.0], inertia


def _add_track(pair: Any, name: str, way: float, y: float, climber: Climber, friction: float) -> None:
    track = climber.track
    half = 0.5 * track.width
    for part, x, radius in (("wheel", 0.0, track.wheel), ("tip", way * track.reach, track.tip)):
        wheel = _add_round(pair, f"{name} {part}", x, y, friction)
        wheel.type, wheel.size = mujoco.mjtGeom.mjGEOM_ELLIPSOID, [radius, radius, half]
    for part, up in (("bottom", -1.0), ("top", 1.0)):
        out = np.array([way * np.sin(track.taper), 0.0, up * np.cos(track.taper)])
        one, other = track.wheel * out, np.array([way * track.reach, 0.0, 0.0]) + track.tip * out
        plate = pair.add_geom(name=f"{name} {part}", type=mujoco.mjtGeom.mjGEOM_BOX)
        plate.size = [0.5 * np.linalg.norm(other - one), half, 0.5 * _PLATE]
        plate.pos = 0.5 * (one + other) - 0.5 * _PLATE * out + np.array([0.0, y, 0.0])
        along = np.cross([0.0, 1.0, 0.0], out)  # the way the belt moves when it drives forward
        plate.alt.type, plate.alt.xyaxes = mujoco.mjtOrientation.mjORIENTATION_XYAXES, [*along, 0.0, 1.0, 0.0]
        _set_contact(plate, friction)


def _add_round(body: Any, name: str, x: float, y: float, friction: float) -> Any:
    """A round part whose axis points to the left; type and size are still to be set."""
    made = body.add_geom(name=name, pos=[x, y, 0.0])
    made.alt.type, made.alt.zaxis = mujoco.mjtOrientation.mjORIENTATION_ZAXIS, [0.0, 1.0, 0.0]
    _set_contact(made, friction)
    return made


def _set_contact(geom: Any, friction: float) -> None:
    geom.contype, geom.conaffinity, geom.condim, geom.priority = 1, 2, 3, 1
    geom.friction, geom.solref = [friction, 0.0, 0.0], [CONTACT_TIME, 1.0]
    geom.solimp[:3] = [0.95, 0.99, 0.001]
