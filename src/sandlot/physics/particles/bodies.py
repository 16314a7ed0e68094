"""What particles and the bodies of a MuJoCo model do to each other.

A body has shapes, which are its geoms or tracks. A particle feels a shape as it feels another particle; the shape's
body gets the opposite force where they touch, and the dof that drives a track the part along its belt.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.particles.contacts import collide, move, relax, respond
from sandlot.physics.particles.distance import to_shape
from sandlot.physics.particles.neighbours import attend, cell_of, wake
from sandlot.physics.particles.state import (
    AFTER,
    ASLEEP,
    AWAKE,
    GRIPS,
    INNER,
    SKIN,
    STEP,
    F,
    Law,
    Single,
    State,
    T,
    V,
    W,
    X,
)
from sandlot.physics.shapes import TRACK, reach
from sandlot.typing import Array, IntArray

BODY, ROOT, DOF, KIND = range(4)
"""Where `Shapes.ids` has a shape's body, the root of that body's tree, the dof that drives its belt or -1, its kind."""
NEAR = 0.5
"""Who is nearer than this to a shape that moves is awake [radius]."""


class Shapes(NamedTuple):
    """What particles can touch, beside each other.

    Attributes:
        ids: (m, 4) BODY, ROOT, DOF and KIND.
        size: (m, 3) as `to_shape` wants it [m].
        place: (m, 12) position [m] and rotation, row by row, in the body's frame.
        softness: (m,) of contacts with it: 1 as with particles, less for light bodies, which would be thrown about.
        rest: (m, 13) position, rotation and travel of the belt [m], when it last moved by more than the tolerance.
        wrench: (m, 7) force [N] and torque about the body's centre of mass [N*m] on it in the last steps, and torque on
            the dof that drives its belt [N*m].
    """

    ids: NDArray[np.int64]
    size: Array
    place: Array
    softness: Array
    rest: Array
    wrench: Array


class Bodies(NamedTuple):
    """What the kernels need of MuJoCo's data; arrays as there, with the same names."""

    xpos: Array
    xmat: Array
    xipos: Array
    cvel: Array
    subtree_com: Array
    qvel: Array
    xfrc_applied: Array
    qfrc_applied: Array


@kernel(**INNER)
def pose(shapes: Shapes, bodies: Bodies, m: int, position: Array, rotation: Array) -> None:
    """Write where a shape is in the world: (3,) [m] and (9,), row by row."""
    body, place = shapes.ids[m, BODY], shapes.place[m]
    mat = bodies.xmat[body]
    for r in range(3):
        position[r] = bodies.xpos[body, r]
        for k in range(3):
            position[r] += mat[3 * r + k] * place[k]
            rotation[3 * r + k] = 0.0
            for q in range(3):
                rotation[3 * r + k] += mat[3 * r + q] * place[3 + 3 * q + k]


@kernel(**INNER)
def moved(shapes: Shapes, m: int, position: Array, rotation: Array, travel: float, tolerance: float) -> bool:
    """Whether a shape, or its belt, is somewhere else than when it last moved; then that is now."""
    rest = shapes.rest[m]
    shift = turn = 0.0
    for k in range(3):
        shift += (position[k] - rest[k]) ** 2
    for k in range(9):
        turn += (rotation[k] - rest[3 + k]) ** 2
    extent = max(shapes.size[m, 0], shapes.size[m, 1], shapes.size[m, 2])
    rest[12] += abs(travel)
    # Not a number is motion, too.
    if math.sqrt(shift) + extent * math.sqrt(turn) + rest[12] <= tolerance:
        return False
    for k in range(3):
        rest[k] = position[k]
    for k in range(9):
        rest[3 + k] = rotation[k]
    rest[12] = 0.0
    return True


@kernel(**INNER)
def hold(grip: IntArray, springs: Single, i: int, m: int, step: int) -> int:
    """The slot in which a particle remembers its contact with a shape: a fresh one if there was none a step ago."""
    slot = 0
    for s in range(GRIPS):
        if grip[i, s, 0] == m:
            slot = s
            break
        if grip[i, s, 1] < grip[i, slot, 1]:
            slot = s
    if grip[i, slot, 0] != m or grip[i, slot, 1] < step - 1:
        relax(springs, i, slot)
    grip[i, slot, 0], grip[i, slot, 1] = m, step
    return slot


@kernel(**INNER)
def touch(
    law: Law,
    state: State,
    shapes: Shapes,
    bodies: Bodies,
    m: int,
    i: int,
    away: float,
    n: Array,
    belt: Array,
    share: float,
    dt: float,
) -> None:
    """Add to the forces on a particle and a body those of their contact.

    Args:
        law: How hard, how rough.
        state: Of the particles.
        shapes: All.
        bodies: All.
        m: Which shape.
        i: Which particle.
        away: From its centre to the shape [m].
        n: (3,) unit vector from the shape to the particle.
        belt: (3,) unit vector along which the belt runs there; zero if none does.
        share: Of the force on the body that is to count.
        dt: Time step [s].
    """
    one, body, dof = state.motion[i], shapes.ids[m, BODY], shapes.ids[m, DOF]
    px, py, pz = one[X] - away * n[0], one[X + 1] - away * n[1], one[X + 2] - away * n[2]
    com, twist = bodies.subtree_com[shapes.ids[m, ROOT]], bodies.cvel[body]
    rx, ry, rz = px - com[0], py - com[1], pz - com[2]
    ax, ay, az = twist[0], twist[1], twist[2]
    run = bodies.qvel[dof] * shapes.size[m, 1] if dof >= 0 else 0.0
    wx, wy, wz = one[W], one[W + 1], one[W + 2]
    vx = one[V] - away * (wy * n[2] - wz * n[1]) - twist[3] - (ay * rz - az * ry) - run * belt[0]
    vy = one[V + 1] - away * (wz * n[0] - wx * n[2]) - twist[4] - (az * rx - ax * rz) - run * belt[1]
    vz = one[V + 2] - away * (wx * n[1] - wy * n[0]) - twist[5] - (ax * ry - ay * rx) - run * belt[2]
    s = hold(state.grip, state.grip_spring, i, m, state.tally[STEP])
    fx, fy, fz, qx, qy, qz = respond(
        law,
        shapes.softness[m],
        law.radius - away,
        n[0],
        n[1],
        n[2],
        vx,
        vy,
        vz,
        wx - ax,
        wy - ay,
        wz - az,
        state.grip_spring,
        i,
        s,
        1.0,
        dt,
    )
    if state.links[i, ASLEEP] == 0:
        one[F], one[F + 1], one[F + 2] = one[F] + fx, one[F + 1] + fy, one[F + 2] + fz
        one[T] += qx - away * (n[1] * fz - n[2] * fy)
        one[T + 1] += qy - away * (n[2] * fx - n[0] * fz)
        one[T + 2] += qz - away * (n[0] * fy - n[1] * fx)
    wrench, centre = shapes.wrench[m], bodies.xipos[body]
    rx, ry, rz = px - centre[0], py - centre[1], pz - centre[2]
    wrench[0], wrench[1], wrench[2] = wrench[0] - share * fx, wrench[1] - share * fy, wrench[2] - share * fz
    wrench[3] -= share * (qx + ry * fz - rz * fy)
    wrench[4] -= share * (qy + rz * fx - rx * fz)
    wrench[5] -= share * (qz + rx * fy - ry * fx)
    wrench[6] -= share * (fx * belt[0] + fy * belt[1] + fz * belt[2]) * shapes.size[m, 1]


@kernel(**{**INNER, "allocates": True})
def press(law: Law, state: State, shapes: Shapes, bodies: Bodies, share: float, dt: float) -> None:
    """Add to the forces on particles and bodies those between them, and wake who is near a shape that moves."""
    cell, links = (2.0 + SKIN) * law.radius, state.links
    position, rotation, half, local, n, belt = (
        np.empty(3),
        np.empty(9),
        np.empty(3),
        np.empty(3),
        np.empty(3),
        np.zeros(3),
    )
    # Anchors, by which the grid is sorted, may lag behind by half a skin.
    margin = law.radius * (1.0 + NEAR + 0.5 * SKIN)
    for m in range(len(shapes.ids)):
        kind, dof, size = shapes.ids[m, KIND], shapes.ids[m, DOF], shapes.size[m]
        pose(shapes, bodies, m, position, rotation)
        sides = (size[0], size[1], size[2])
        run = bodies.qvel[dof] * size[1] * dt if dof >= 0 else 0.0
        moves = moved(shapes, m, position, rotation, run, law.tolerance)
        for k in range(3):
            half[k] = reach(kind, sides, rotation[3 * k], rotation[3 * k + 1], rotation[3 * k + 2]) + margin
        x, y, z = position[0], position[1], position[2]
        low = cell_of(state.head, state.box, cell, x - half[0], y - half[1], z - half[2])
        high = cell_of(state.head, state.box, cell, x + half[0], y + half[1], z + half[2])
        for c in range(low[0], high[0] + 1):
            for b in range(low[1], high[1] + 1):
                for a in range(low[2], high[2] + 1):
                    i = state.head[c, b, a]
                    while i >= 0:
                        dx, dy, dz = state.motion[i, X] - x, state.motion[i, X + 1] - y, state.motion[i, X + 2] - z
                        for k in range(3):
                            local[k] = rotation[k] * dx + rotation[3 + k] * dy + rotation[6 + k] * dz
                        away, lx, ly, lz = to_shape(kind, size, local[0], local[1], local[2])
                        if moves and away < law.radius * (1.0 + NEAR):
                            wake(state, i)
                        if away < law.radius:
                            for k in range(3):
                                n[k] = rotation[3 * k] * lx + rotation[3 * k + 1] * ly + rotation[3 * k + 2] * lz
                            flat = math.sqrt(lx * lx + lz * lz)
                            along = 1.0 / flat if kind == TRACK and flat > 1e-9 else 0.0
                            for k in range(3):
                                belt[k] = along * (rotation[3 * k] * lz - rotation[3 * k + 2] * lx)
                            touch(law, state, shapes, bodies, m, i, away, n, belt, share, dt)
                        i = links[i, AFTER]


@kernel(error_model="numpy", nogil=True)
def advance(
    law: Law, state: State, shapes: Shapes, bodies: Bodies, dt: float, first: int, steps: int, many: int
) -> int:
    """Let particles go on by some steps, while bodies stay where they are, until many of them are awake.

    The mean of the forces on bodies over these steps is added to ``xfrc_applied`` and ``qfrc_applied`` after the last.

    Args:
        law: How hard, how rough.
        state: Of the particles.
        shapes: What else they can touch.
        bodies: Whose shapes these are.
        dt: Length of a step [s].
        first: How many steps were made before.
        steps: How many there are to be.
        many: A step in which so many are awake is not made here.

    Returns:
        How many steps are made.
    """
    if first == 0:
        for m in range(len(shapes.ids)):
            for k in range(7):
                shapes.wrench[m, k] = 0.0
    for step in range(first, steps):
        if state.tally[AWAKE] >= many:
            return step
        attend(law, state, dt)
        press(law, state, shapes, bodies, 1.0 / steps, dt)
        collide(law, state, state.awake, 0, state.tally[AWAKE], dt)
        move(law, state, state.awake, 0, state.tally[AWAKE], dt)
        state.tally[STEP] += 1
    for m in range(len(shapes.ids)):
        for k in range(6):
            bodies.xfrc_applied[shapes.ids[m, BODY], k] += shapes.wrench[m, k]
        if shapes.ids[m, DOF] >= 0:
            bodies.qfrc_applied[shapes.ids[m, DOF]] += shapes.wrench[m, 6]
    return steps
