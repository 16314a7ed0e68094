"""The floor of the container under bodies: a body that pushes all particles aside stands on it.

A body touches the floor at up to four points, the lowest ones in directions that are nearly down. Bodies move with
MuJoCo's steps, which are long for a light body on a stiff spring. So the spring and the dashpot of the floor are as
stiff as such a step allows for the mass of the body. Particles touch the floor as they touch walls.
"""

import math

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.mujoco_bridge import Simulation
from sandlot.physics.particles.law import Law
from sandlot.physics.particles.state import INNER, Container
from sandlot.physics.shapes import BOX, CAPSULE, CYLINDER, ELLIPSOID, TRACK, Three, half_extent

STIFFNESS, DAMPING, DRAG = 0.5, 0.7, 0.3
"""Of the floor under a body: its spring, as a fraction of the body's mass over the square of a step; its dashpot, as a
fraction of the mass over a step; and the dashpot against slow slip, as a fraction of the other one. A stiffer one would
rock narrow bodies with a high centre."""
TILT = 0.01
"""Tangent of the angle between down and the directions in which the lowest points are searched."""


@kernel(**INNER)
def farthest(kind: int, size: Three, x: float, y: float, z: float) -> Three:
    """The point of a shape that is farthest in a direction, both in the shape's own frame [m].

    Args:
        kind: As of `sandlot.physics.particles.distance.to_shape`.
        size: As there [m].
        x: x of the direction.
        y: y of the direction.
        z: z of the direction.
    """
    sx, sy, sz = math.copysign(1.0, x), math.copysign(1.0, y), math.copysign(1.0, z)
    if kind == BOX:
        return sx * size[0], sy * size[1], sz * size[2]
    if kind == TRACK:
        radius = size[1] / max(math.sqrt(x * x + z * z), 1e-12)
        return sx * size[0] + radius * x, sy * size[2], radius * z
    if kind == CYLINDER:
        radius = size[0] / max(math.sqrt(x * x + y * y), 1e-12)
        return radius * x, radius * y, sz * size[1]
    if kind == ELLIPSOID:
        a, b, c = size[0] * size[0] * x, size[1] * size[1] * y, size[2] * size[2] * z
        length = max(math.sqrt(a * x + b * y + c * z), 1e-12)
        return a / length, b / length, c / length
    radius = size[0] / math.sqrt(x * x + y * y + z * z)
    return radius * x, radius * y, radius * z + (sz * size[1] if kind == CAPSULE else 0.0)


@kernel(**INNER)
def stand(law: Law, box: Container, shape: np.void, load: np.void, simulation: Simulation) -> None:
    """Add the forces of the floor on a shape to its load.

    Args:
        law: Properties of contacts, of which the friction counts.
        box: The walls; there is no floor beyond them.
        shape: Record of `sandlot.physics.particles.bodies.PARTICLE_SHAPE`, in its current pose.
        load: Record of LOAD.
        simulation: Arrays of the simulation.
    """
    kind, mat, position, body, dof = shape["kind"], shape["rotation"], shape["position"], shape["body"], shape["dof"]
    size = (shape["size"][0], shape["size"][1], shape["size"][2])
    if position[2] - half_extent(kind, size, mat[6], mat[7], mat[8]) >= 0.0:
        return
    com, twist, centre = simulation.subtree_com[shape["root"]], simulation.cvel[body], simulation.xipos[body]
    # Along the lower run of a belt, which moves backwards where the body is driven forwards.
    speed = simulation.qvel[dof] * size[1] if dof >= 0 else 0.0
    flat = math.sqrt(mat[6] * mat[6] + mat[8] * mat[8])
    along = 1.0 / flat if kind == TRACK and flat > 1e-9 else 0.0
    belt_x, belt_y = along * (mat[2] * mat[6] - mat[0] * mat[8]), along * (mat[5] * mat[6] - mat[3] * mat[8])
    for k in range(4):
        dx, dy = TILT * ((k < 2) - (k >= 2)), TILT * ((k % 2 == 0) - (k % 2 == 1))
        lx, ly, lz = farthest(
            kind,
            size,
            mat[0] * dx + mat[3] * dy - mat[6],
            mat[1] * dx + mat[4] * dy - mat[7],
            mat[2] * dx + mat[5] * dy - mat[8],
        )
        px = position[0] + mat[0] * lx + mat[1] * ly + mat[2] * lz
        py = position[1] + mat[3] * lx + mat[4] * ly + mat[5] * lz
        pz = position[2] + mat[6] * lx + mat[7] * ly + mat[8] * lz
        if pz >= 0.0 or not (box.x_min < px < box.x_max and box.y_min < py < box.y_max):
            continue
        rx, ry, rz = px - com[0], py - com[1], pz - com[2]
        vx = twist[3] + twist[1] * rz - twist[2] * ry + speed * belt_x
        vy = twist[4] + twist[2] * rx - twist[0] * rz + speed * belt_y
        vz = twist[5] + twist[0] * ry - twist[1] * rx
        damping = 0.25 * shape["floor_damping"]
        push = max(-0.25 * shape["floor_stiffness"] * pz - damping * vz, 0.0)
        slip = math.sqrt(vx * vx + vy * vy)
        drag = -min(DRAG * damping, law.friction * push / max(slip, 1e-12))
        fx, fy = drag * vx, drag * vy
        rx, ry, rz = px - centre[0], py - centre[1], pz - centre[2]
        force, torque = load["force"], load["torque"]
        force[0], force[1], force[2] = force[0] + fx, force[1] + fy, force[2] + push
        torque[0] += ry * push - rz * fy
        torque[1] += rz * fx - rx * push
        torque[2] += rx * fy - ry * fx
        load["drive_torque"] += (fx * belt_x + fy * belt_y) * size[1]
