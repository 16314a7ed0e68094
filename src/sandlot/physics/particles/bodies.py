"""Contacts between particles and the bodies of a MuJoCo model.

A body has shapes, which are its geoms or tracks. A particle touches a shape as it touches another particle. The shape's
body gets the opposite force at the contact, and the degree of freedom that drives a track gets the part along its belt.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.attachment import LOAD, SHAPE, apply_load, update_pose
from sandlot.physics.mujoco_bridge import Simulation, empty_simulation
from sandlot.physics.particles.contacts import add, collide, move, relax, respond
from sandlot.physics.particles.distance import to_shape
from sandlot.physics.particles.floor import stand
from sandlot.physics.particles.law import Law
from sandlot.physics.particles.neighbours import cell_of, update_neighbours, wake
from sandlot.physics.particles.state import INNER, MAX_SHAPE_CONTACTS, NEIGHBOUR_MARGIN, State
from sandlot.physics.shapes import TRACK, Three, half_extent

WAKE_DISTANCE = 0.5
"""A moving shape wakes particles whose surface is nearer than this [radius]."""

PARTICLE_SHAPE = [
    *SHAPE,
    ("softness", np.float64),
    ("floor_stiffness", np.float64),
    ("floor_damping", np.float64),
    ("rest_position", np.float64, 3),
    ("rest_rotation", np.float64, 9),
    ("rest_travel", np.float64),
]
"""A shape among particles: what `SHAPE` has; the factor of the stiffness of its contacts, less than 1 for light bodies,
which stiff contacts would throw about; stiffness [N/m] and damping [N*s/m] of the floor under it; pose of the shape
when it last moved by more than the tolerance, and the distance that its belt has run since [m]."""


class Bodies(NamedTuple):
    """Bodies that particles can touch, besides other particles.

    Attributes:
        shapes: (m,) of PARTICLE_SHAPE.
        loads: (m,) of LOAD, the mean over the last steps.
        simulation: Arrays of the simulation.
    """

    shapes: NDArray[np.void]
    loads: NDArray[np.void]
    simulation: Simulation


class ShapeContact(NamedTuple):
    """Where a particle touches a shape.

    Attributes:
        particle: Number of the particle.
        shape: Number of the shape.
        away: Distance of the particle's centre from the shape [m].
        normal: Unit vector from the shape to the particle.
        belt: Unit vector along which the belt runs there; zero if there is none.
    """

    particle: int
    shape: int
    away: float
    normal: Three
    belt: Three


def no_bodies() -> Bodies:
    """Nothing to touch."""
    return Bodies(np.zeros(0, PARTICLE_SHAPE), np.zeros(0, LOAD), empty_simulation())


@kernel(**INNER)
def has_moved(shape: np.void, travel: float, tolerance: float) -> bool:
    """Whether a shape or its belt has left its rest pose by more than the tolerance; if so, set a new rest pose.

    Args:
        shape: Record of PARTICLE_SHAPE.
        travel: Distance that its belt has run in this step [m].
        tolerance: [m]
    """
    position, rotation, size = shape["position"], shape["rotation"], shape["size"]
    rest_position, rest_rotation = shape["rest_position"], shape["rest_rotation"]
    shift = turn = 0.0
    for k in range(3):
        shift += (position[k] - rest_position[k]) ** 2
    for k in range(9):
        turn += (rotation[k] - rest_rotation[k]) ** 2
    extent = max(size[0], size[1], size[2])
    shape["rest_travel"] += abs(travel)
    # NaN compares false, so it counts as motion: the rest pose is NaN at first.
    if math.sqrt(shift) + extent * math.sqrt(turn) + shape["rest_travel"] <= tolerance:
        return False
    for k in range(3):
        rest_position[k] = position[k]
    for k in range(9):
        rest_rotation[k] = rotation[k]
    shape["rest_travel"] = 0.0
    return True


@kernel(**INNER)
def contact_slot(contacts: NDArray[np.void], springs: NDArray[np.void], m: int, step: int) -> int:
    """The slot of a particle's contact with shape m; its spring is relaxed if they did not touch a step ago.

    Args:
        contacts: (MAX_SHAPE_CONTACTS,) of SHAPE_CONTACT.
        springs: (MAX_SHAPE_CONTACTS,) of SPRING.
        m: Number of the shape.
        step: Number of the step.
    """
    slot = 0
    for s in range(MAX_SHAPE_CONTACTS):
        if contacts[s]["shape"] == m:
            slot = s
            break
        if contacts[s]["step"] < contacts[slot]["step"]:
            slot = s
    if contacts[slot]["shape"] != m or contacts[slot]["step"] < step - 1:
        relax(springs[slot])
    contacts[slot]["shape"], contacts[slot]["step"] = m, step
    return slot


@kernel(**INNER)
def touch(law: Law, state: State, bodies: Bodies, contact: ShapeContact, share: float, dt: float) -> None:
    """Add the forces of a contact to a particle and a body.

    Args:
        law: Properties of contacts.
        state: State of the particles.
        bodies: What they can touch.
        contact: Where they touch.
        share: Weight of this step in the mean load on the body.
        dt: Length of the step [s].
    """
    i, m, away, n, belt = contact.particle, contact.shape, contact.away, contact.normal, contact.belt
    one, shape, load, simulation = state.motion[i], bodies.shapes[m], bodies.loads[m], bodies.simulation
    position, velocity, spin, body, dof = one["position"], one["velocity"], one["spin"], shape["body"], shape["dof"]
    px, py, pz = position[0] - away * n[0], position[1] - away * n[1], position[2] - away * n[2]
    com, twist = simulation.subtree_com[shape["root"]], simulation.cvel[body]
    rx, ry, rz = px - com[0], py - com[1], pz - com[2]
    ax, ay, az = twist[0], twist[1], twist[2]
    radius = shape["size"][1]
    belt_speed = simulation.qvel[dof] * radius if dof >= 0 else 0.0
    wx, wy, wz = spin[0], spin[1], spin[2]
    v = (
        velocity[0] - away * (wy * n[2] - wz * n[1]) - twist[3] - (ay * rz - az * ry) - belt_speed * belt[0],
        velocity[1] - away * (wz * n[0] - wx * n[2]) - twist[4] - (az * rx - ax * rz) - belt_speed * belt[1],
        velocity[2] - away * (wx * n[1] - wy * n[0]) - twist[5] - (ax * ry - ay * rx) - belt_speed * belt[2],
    )
    springs = state.shape_springs[i]
    slot = contact_slot(state.shape_contacts[i], springs, m, state.counters[0]["step"])
    w, overlap = (wx - ax, wy - ay, wz - az), law.radius - away
    fx, fy, fz, qx, qy, qz = respond(law, shape["softness"], overlap, n, v, w, springs[slot], 1.0, dt)
    if state.links[i]["asleep"] == 0:
        add(one["force"], fx, fy, fz)
        add(
            one["torque"],
            qx - away * (n[1] * fz - n[2] * fy),
            qy - away * (n[2] * fx - n[0] * fz),
            qz - away * (n[0] * fy - n[1] * fx),
        )
    centre = simulation.xipos[body]
    rx, ry, rz = px - centre[0], py - centre[1], pz - centre[2]
    add(load["force"], -(share * fx), -(share * fy), -(share * fz))
    add(
        load["torque"],
        -(share * (qx + ry * fz - rz * fy)),
        -(share * (qy + rz * fx - rx * fz)),
        -(share * (qz + rx * fy - ry * fx)),
    )
    load["drive_torque"] -= share * (fx * belt[0] + fy * belt[1] + fz * belt[2]) * radius


@kernel(**INNER)
def press(law: Law, state: State, bodies: Bodies, share: float, dt: float) -> None:
    """Add the forces between particles and bodies to both, and wake particles near shapes that move."""
    cell = (2.0 + NEIGHBOUR_MARGIN) * law.radius
    # The grid is sorted by anchors, which may be half a margin away from the particles.
    margin = law.radius * (1.0 + WAKE_DISTANCE + 0.5 * NEIGHBOUR_MARGIN)
    for m in range(len(bodies.shapes)):
        shape = bodies.shapes[m]
        kind, dof, size, mat, position = (
            shape["kind"],
            shape["dof"],
            shape["size"],
            shape["rotation"],
            shape["position"],
        )
        update_pose(shape, bodies.simulation)
        sides = (size[0], size[1], size[2])
        travel = bodies.simulation.qvel[dof] * size[1] * dt if dof >= 0 else 0.0
        moves = has_moved(shape, travel, law.tolerance)
        hx = half_extent(kind, sides, mat[0], mat[1], mat[2]) + margin
        hy = half_extent(kind, sides, mat[3], mat[4], mat[5]) + margin
        hz = half_extent(kind, sides, mat[6], mat[7], mat[8]) + margin
        x, y, z = position[0], position[1], position[2]
        low = cell_of(state.cells, state.box, cell, x - hx, y - hy, z - hz)
        high = cell_of(state.cells, state.box, cell, x + hx, y + hy, z + hz)
        for c in range(low[0], high[0] + 1):
            for b in range(low[1], high[1] + 1):
                for a in range(low[2], high[2] + 1):
                    i = state.cells[c, b, a]
                    while i >= 0:
                        p = state.motion[i]["position"]
                        dx, dy, dz = p[0] - x, p[1] - y, p[2] - z
                        away, lx, ly, lz = to_shape(
                            kind,
                            size,
                            mat[0] * dx + mat[3] * dy + mat[6] * dz,
                            mat[1] * dx + mat[4] * dy + mat[7] * dz,
                            mat[2] * dx + mat[5] * dy + mat[8] * dz,
                        )
                        if moves and away < law.radius * (1.0 + WAKE_DISTANCE):
                            wake(state, i)
                        if away < law.radius:
                            normal = (
                                mat[0] * lx + mat[1] * ly + mat[2] * lz,
                                mat[3] * lx + mat[4] * ly + mat[5] * lz,
                                mat[6] * lx + mat[7] * ly + mat[8] * lz,
                            )
                            flat = math.sqrt(lx * lx + lz * lz)
                            along = 1.0 / flat if kind == TRACK and flat > 1e-9 else 0.0
                            belt = (
                                along * (mat[0] * lz - mat[2] * lx),
                                along * (mat[3] * lz - mat[5] * lx),
                                along * (mat[6] * lz - mat[8] * lx),
                            )
                            touch(law, state, bodies, ShapeContact(i, m, away, normal, belt), share, dt)
                        i = state.links[i]["next"]


@kernel(error_model="numpy", nogil=True)
def advance(law: Law, state: State, bodies: Bodies, dt: float, first: int, steps: int, max_awake: int) -> int:
    """Advance particles by some steps, while bodies stay where they are, until many of them are awake.

    After the last step, the mean loads on the bodies are added to the applied forces of the simulation.

    Args:
        law: Properties of particles.
        state: State of the particles.
        bodies: What they can touch.
        dt: Length of a step [s].
        first: Number of steps that were made before.
        steps: Number of all steps.
        max_awake: A step with so many particles awake is not made here.

    Returns:
        The number of steps that are made.
    """
    loads = bodies.loads
    if first == 0:
        for m in range(len(loads)):
            for k in range(3):
                loads[m]["force"][k] = loads[m]["torque"][k] = 0.0
            loads[m]["drive_torque"] = 0.0
            update_pose(bodies.shapes[m], bodies.simulation)
            stand(law, state.box, bodies.shapes[m], loads[m], bodies.simulation)
    for step in range(first, steps):
        if state.counters[0]["awake"] >= max_awake:
            return step
        update_neighbours(law, state, dt)
        press(law, state, bodies, 1.0 / steps, dt)
        collide(law, state, state.awake, 0, state.counters[0]["awake"], dt)
        move(law, state, state.awake, 0, state.counters[0]["awake"], dt)
        state.counters[0]["step"] += 1
    for k in range(len(loads)):
        apply_load(bodies.shapes[k], loads[k], bodies.simulation)
    return steps
