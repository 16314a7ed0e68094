"""The rigid parts of a robot on soil: how they move, and how the soil under them acts on the robot's joints.

A part's velocity has seven components: those of its centre of mass, those of its rotation, and the speed of its belt,
if it has one. The soil's force has as many. A Jacobian maps the velocities of the robot's degrees of freedom to them.
"""

import math

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.mujoco_bridge import Dynamics, Simulation
from sandlot.physics.shapes import whole_vectors
from sandlot.physics.soil.motion import Motion, velocity_at
from sandlot.typing import Array, IntArray

COMPONENTS = 7
"""Of the velocity of a part: 3 of its centre [m/s], 3 of its rotation [rad/s], and the speed of its belt [m/s]."""


@kernel(error_model="numpy", allocates=False)
def body_motion(shape: np.void, simulation: Simulation) -> Motion:
    """How the body and the belt of a shape move now."""
    body, dof = shape["body"], shape["dof"]
    twist, about, centre = simulation.cvel[body], simulation.subtree_com[shape["root"]], simulation.xipos[body]
    x, y, z = centre[0] - about[0], centre[1] - about[1], centre[2] - about[2]
    w = (twist[0], twist[1], twist[2])
    return Motion(
        (twist[3] + w[1] * z - w[2] * y, twist[4] + w[2] * x - w[0] * z, twist[5] + w[0] * y - w[1] * x),
        w,
        (centre[0], centre[1], centre[2]),
        simulation.qvel[dof] * shape["size"][1] if dof >= 0 else 0.0,
    )


@kernel(error_model="numpy", allocates=False)
def motion_of(velocity: Array, centre: Array) -> Motion:
    """The motion of a part with a velocity (7,) and a centre (3,) [m]."""
    return Motion(
        (velocity[0], velocity[1], velocity[2]),
        (velocity[3], velocity[4], velocity[5]),
        (centre[0], centre[1], centre[2]),
        velocity[6],
    )


@kernel(error_model="numpy", allocates=False)
def move_ahead(shape: np.void, motion: Motion, dt: float) -> None:
    """Move the pose of a shape to where the motion of its body takes it in a time [s]."""
    position, rotation, (w_x, w_y, w_z) = shape["position"], shape["rotation"], motion.angular
    v_x, v_y, v_z = velocity_at(motion, position[0], position[1], position[2])
    position[0] += dt * v_x
    position[1] += dt * v_y
    position[2] += dt * v_z
    # Rodrigues' formula.
    speed = math.sqrt(w_x * w_x + w_y * w_y + w_z * w_z)
    first = math.sin(speed * dt) / speed if speed > 1e-9 else dt
    second = (1.0 - math.cos(speed * dt)) / (speed * speed) if speed > 1e-9 else 0.5 * dt * dt
    for k in range(3):
        x, y, z = rotation[k], rotation[3 + k], rotation[6 + k]
        a, b, c = w_y * z - w_z * y, w_z * x - w_x * z, w_x * y - w_y * x
        rotation[k] = x + first * a + second * (w_y * c - w_z * b)
        rotation[3 + k] = y + first * b + second * (w_z * a - w_x * c)
        rotation[6 + k] = z + first * c + second * (w_x * b - w_y * a)


@kernel(error_model="numpy", allocates=False)
def jacobian(shape: np.void, dofs: IntArray, simulation: Simulation, dynamics: Dynamics, found: Array) -> None:
    """The Jacobian of a part.

    Args:
        shape: Record of `sandlot.physics.soil.contacts.SOIL_SHAPE`.
        dofs: Degrees of freedom that move the part or its belt.
        simulation: Arrays of the simulation.
        dynamics: How forces accelerate it.
        found: (7, columns) receives it.
    """
    about, centre = simulation.subtree_com[shape["root"]], simulation.xipos[shape["body"]]
    x, y, z = centre[0] - about[0], centre[1] - about[1], centre[2] - about[2]
    for k in range(len(dofs)):
        dof = dofs[k]
        axis = dynamics.cdof[dof]
        # The last columns may be those of a belt, which do not move the body.
        moves = 1.0 if k < shape["moving"] else 0.0
        w_x, w_y, w_z = moves * axis[0], moves * axis[1], moves * axis[2]
        found[0, k] = moves * axis[3] + w_y * z - w_z * y
        found[1, k] = moves * axis[4] + w_z * x - w_x * z
        found[2, k] = moves * axis[5] + w_x * y - w_y * x
        found[3, k], found[4, k], found[5, k] = w_x, w_y, w_z
        found[6, k] = shape["size"][1] if dof == shape["dof"] else 0.0


@kernel(error_model="numpy", allocates=False)
def part_velocity(dofs: IntArray, part: Array, velocity: Array, first: int, found: Array) -> None:
    """The velocity of a part.

    Args:
        dofs: Degrees of freedom that move it.
        part: (7, columns) its Jacobian.
        velocity: Of degrees of freedom, from number ``first`` on.
        first: Number of the first of them.
        found: (7,) receives it.
    """
    x = y = z = w_x = w_y = w_z = belt = 0.0
    for k in range(len(dofs)):
        v = velocity[dofs[k] - first]
        x, y, z = x + part[0, k] * v, y + part[1, k] * v, z + part[2, k] * v
        w_x, w_y, w_z = w_x + part[3, k] * v, w_y + part[4, k] * v, w_z + part[5, k] * v
        belt += part[6, k] * v
    found[0], found[1], found[2], found[3], found[4], found[5], found[6] = x, y, z, w_x, w_y, w_z, belt


@kernel(error_model="numpy", allocates=False)
def tangent_product(load: np.void, velocity: Array, row: int) -> float:
    """A component of the force that a part loses by a change of its velocity (7,)."""
    total = 0.0
    for k in range(COMPONENTS):
        total += load["tangent"][row, k] * velocity[k]
    return total


@kernel(error_model="numpy", allocates=False)
def wrench_row(load: np.void, row: int) -> float:
    """A component of the force on a part, in the order of the velocity's."""
    if row < 3:
        return load["force"][row]
    return load["torque"][row - 3] if row < 6 else load["belt_force"]


@kernel(error_model="numpy", allocates=False)
def lose(load: np.void, change: Array) -> None:
    """Subtract from the force on a part what it loses by a change of its velocity (7,)."""
    for k in range(3):
        load["force"][k] -= tangent_product(load, change, k)
        load["torque"][k] -= tangent_product(load, change, 3 + k)
    load["belt_force"] -= tangent_product(load, change, 6)


@kernel(error_model="numpy", allocates=False, inline="always")
def seven(row: Array) -> tuple[float, float, float, float, float, float, float]:
    """The components of a velocity or force."""
    return row[0], row[1], row[2], row[3], row[4], row[5], row[6]


@kernel(error_model="numpy", allocates=False)
def joint_tangent(tangent: Array, part: Array, columns: int, half: Array, found: Array) -> None:
    """The derivative of a part's forces on its degrees of freedom by their velocities, as a positive matrix.

    Loops over whole rows compile to vector instructions.

    Args:
        tangent: (7, 7) derivative of the force on the part by its velocity.
        part: (7, n) the part's Jacobian.
        columns: Number of its columns that count.
        half: (7, n) room for the product of both.
        found: (columns, n) receives the lower triangle, and some places beside it.
    """
    width = part.shape[1]
    for row in range(COMPONENTS):
        x, y, z, w_x, w_y, w_z, belt = seven(tangent[row])
        for a in range(width):
            linear = x * part[0, a] + y * part[1, a] + z * part[2, a]
            half[row, a] = linear + w_x * part[3, a] + w_y * part[4, a] + w_z * part[5, a] + belt * part[6, a]
    for a in range(columns):
        x, y, z, w_x, w_y, w_z, belt = seven(half[:, a])
        for b in range(whole_vectors(a + 1)):
            linear = x * part[0, b] + y * part[1, b] + z * part[2, b]
            found[a, b] = linear + w_x * part[3, b] + w_y * part[4, b] + w_z * part[5, b] + belt * part[6, b]
