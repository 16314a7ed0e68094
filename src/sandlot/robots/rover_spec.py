"""A rover as a MuJoCo model of its own, to be attached to a larger one."""

import itertools
from typing import Any

import mujoco
import numpy as np

from sandlot.robots.rover_layout import Layout, Wheel
from sandlot.robots.rover_shapes import belt_size
from sandlot.robots.rover_steering import Steering
from sandlot.robots.solids import Solid
from sandlot.robots.urdf_elements import Joint
from sandlot.typing import Array

_SOLIDS = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "mesh": mujoco.mjtGeom.mjGEOM_MESH,
}
STEERING_ERROR, STEERING_TIME = 0.05, 0.02
"""Of the servos that steer: the error of the angle at full torque [rad], and their time constant [s]."""


def rover_spec(layout: Layout, step: float) -> Any:
    """Make the ``MjSpec`` of a rover; ``step`` is the time step of the physics [s]."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    wheels = {wheel.part: wheel for wheel in layout.wheels}
    bodies: list[Any] = []
    for k, part in enumerate(layout.parts):
        above = bodies[part.parent] if part.joint else spec.worldbody
        body = above.add_body(name=part.name, pos=part.position, quat=quaternion(part.rotation))
        body.explicitinertial, body.mass, body.ipos = True, part.inertial.mass, part.inertial.centre
        inertia = part.inertial.inertia
        body.fullinertia = [*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        bodies.append(body)
        if part.joint is None:
            body.add_freejoint(name="free")
        else:
            inertia_about = float(part.joint.axis @ inertia @ part.joint.axis)
            _add_hinge(spec, body, part.joint, wheels.get(k), inertia_about, step)
        for number, shape in enumerate(part.collision):
            name, group = f"{part.name} {number}", 3 if part.visual else 0
            _add_geom(spec, body, shape, name=name, contype=1, conaffinity=1, group=group)
        for shape in part.visual:
            _add_geom(spec, body, shape, contype=0, conaffinity=0, group=2)
    if layout.steering:
        _add_steering(spec, bodies, layout.steering)
    for side, belt in enumerate(layout.belts):
        box = bodies[belt.parent].add_geom(name=f"{belt.side} belt", type=_SOLIDS["box"], group=3)
        box.size = belt_size(layout, side)
        box.pos, box.quat = belt.position, quaternion(belt.rotation)
        for wheel in belt.followers:
            same = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT)
            same.name1, same.name2 = wheel.joint.name, belt.driver.joint.name
            same.data = [0.0, belt.driver.radius / wheel.radius, *[0.0] * (len(same.data) - 2)]
            same.solref, same.solimp[:3] = [2.0 * step, 1.0], [0.99, 0.999, 0.001]
    for one, two in itertools.combinations(layout.parts, 2):
        spec.add_exclude(bodyname1=one.name, bodyname2=two.name)
    return spec


def _add_hinge(spec: Any, body: Any, joint: Joint, wheel: Wheel | None, inertia: float, step: float) -> None:
    """Add a joint, and its motor if it is of a powered wheel with this inertia about its axle [kg*m^2]."""
    hinge = body.add_joint(name=joint.name, type=mujoco.mjtJoint.mjJNT_HINGE)
    hinge.axis = joint.axis if wheel is None else wheel.hinge
    if joint.limits is not None and wheel is None:
        hinge.range, hinge.limited = joint.limits, mujoco.mjtLimited.mjLIMITED_TRUE
    if wheel is not None and wheel.motor is not None:
        torque, top_speed = wheel.motor.torque, wheel.motor.top_speed
        hinge.armature = wheel.motor.armature
        motor = spec.add_actuator(name=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=joint.name)
        motor.set_to_velocity(wheel.motor.gain(inertia, step))
        motor.forcelimited, motor.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, [-torque, torque]
        motor.ctrllimited, motor.ctrlrange = mujoco.mjtLimited.mjLIMITED_TRUE, [-top_speed, top_speed]


def _add_steering(spec: Any, bodies: list[Any], steering: Steering) -> None:
    """Add angle servos without overshoot, which are stiff enough to hold a wheel that is pushed sideways."""
    for name, part, torque in zip(steering.joints, steering.parts, steering.torque, strict=True):
        stiffness = torque / STEERING_ERROR
        (hinge,) = bodies[part].joints
        hinge.armature = stiffness * STEERING_TIME**2
        motor = spec.add_actuator(name=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=name)
        motor.set_to_position(kp=stiffness, kv=2.5 * stiffness * STEERING_TIME)
        motor.forcelimited, motor.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, [-torque, torque]


def _add_geom(spec: Any, body: Any, shape: Solid, **options: Any) -> None:
    geom = body.add_geom(type=_SOLIDS[shape.kind], pos=shape.position, quat=quaternion(shape.rotation), **options)
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


def quaternion(rotation: Array) -> Array:
    """A rotation (3, 3) as (4,) w, x, y, z."""
    found = np.empty(4)
    mujoco.mju_mat2Quat(found, np.ascontiguousarray(rotation).ravel())
    return found
