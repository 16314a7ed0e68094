"""Contacts between particles: they push, rub, and resist rolling.

Contacts are soft (Cundall and Strack, 1979): a spring and a dashpot along the normal, and a spring that remembers how
far two surfaces slipped past each other, up to Coulomb's limit. Real grains are not round, and do not roll freely: a
third spring remembers how far they rolled, up to a torque of ``rolling`` times normal force and radius (the
elastic-plastic model of Ai et al., 2011). Because springs keep their strain, a heap at rest does not creep. The limit
applies to the spring first, and then to spring and dashpot together, so that no contact returns more energy than was
put into it.
"""

import math
from typing import TypeAlias

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.particles.law import Law
from sandlot.physics.particles.state import INNER, WALLS, Container, State
from sandlot.physics.shapes import Three
from sandlot.typing import Array, IntArray

Six: TypeAlias = tuple[float, float, float, float, float, float]


@kernel(error_model="numpy", inline="always")
def limit_factor(k: float, x: float, y: float, z: float, limit: float) -> float:
    """Factor for a vector so that ``k`` times the vector is not longer than a limit."""
    square = k * k * (x * x + y * y + z * z)
    return limit / math.sqrt(square) if square > limit * limit else 1.0


@kernel(**INNER)
def relax(spring: np.void) -> None:
    """Remove the strain of a contact that has ended."""
    slip, roll = spring["slip"], spring["roll"]
    for k in range(3):
        # Most are zero already, and writing costs more than reading.
        if slip[k] != 0.0:
            slip[k] = 0.0
        if roll[k] != 0.0:
            roll[k] = 0.0


@kernel(forceinline=True, **INNER)
def respond(
    law: Law, softness: float, overlap: float, n: Three, v: Three, w: Three, spring: np.void, sign: float, dt: float
) -> Six:
    """Force [N] and rolling torque [N*m] on a particle at one contact; its springs are strained.

    Args:
        law: Properties of contacts.
        softness: Factor of stiffness and damping.
        overlap: Depth of the contact [m].
        n: Unit vector from the other to the particle.
        v: Velocity of the particle's surface relative to the other's [m/s].
        w: Angular velocity of the particle relative to the other's [rad/s].
        spring: Record of SPRING.
        sign: 1 if the particle itself keeps the spring, or -1 if the other does.
        dt: Length of the step [s].
    """
    (nx, ny, nz), (vx, vy, vz), (wx, wy, wz) = n, v, w
    vn = vx * nx + vy * ny + vz * nz
    push = softness * max(law.stiffness * overlap - law.damping * vn, 0.0)
    if law.friction == 0.0 and law.rolling == 0.0:  # without friction there is no strain to keep
        relax(spring)
        return push * nx, push * ny, push * nz, 0.0, 0.0, 0.0
    slip, roll = spring["slip"], spring["roll"]
    vx, vy, vz = vx - vn * nx, vy - vn * ny, vz - vn * nz
    # The contact may have rotated: the part of the slip along the new normal is dropped.
    sx, sy, sz = sign * slip[0], sign * slip[1], sign * slip[2]
    along = sx * nx + sy * ny + sz * nz
    sx, sy, sz = sx - along * nx + vx * dt, sy - along * ny + vy * dt, sz - along * nz + vz * dt
    k, c, limit = softness * law.slip_stiffness, softness * law.slip_damping, law.friction * push
    factor = limit_factor(k, sx, sy, sz, limit)
    sx, sy, sz = factor * sx, factor * sy, factor * sz
    slip[0], slip[1], slip[2] = sign * sx, sign * sy, sign * sz
    fx, fy, fz = -k * sx - c * vx, -k * sy - c * vy, -k * sz - c * vz
    factor = limit_factor(1.0, fx, fy, fz, limit)
    fx, fy, fz = factor * fx, factor * fy, factor * fz

    rx, ry, rz = sign * roll[0] + wx * dt, sign * roll[1] + wy * dt, sign * roll[2] + wz * dt
    k, c, limit = softness * law.roll_stiffness, softness * law.roll_damping, law.rolling * law.radius * push
    factor = limit_factor(k, rx, ry, rz, limit)
    rx, ry, rz = factor * rx, factor * ry, factor * rz
    roll[0], roll[1], roll[2] = sign * rx, sign * ry, sign * rz
    qx, qy, qz = -k * rx - c * wx, -k * ry - c * wy, -k * rz - c * wz
    factor = limit_factor(1.0, qx, qy, qz, limit)
    qx, qy, qz = factor * qx, factor * qy, factor * qz
    return push * nx + fx, push * ny + fy, push * nz + fz, qx, qy, qz


@kernel(forceinline=True, **INNER)
def add(to: Array, x: float, y: float, z: float) -> None:
    """Add a vector to an array (3,)."""
    to[0], to[1], to[2] = to[0] + x, to[1] + y, to[2] + z


@kernel(forceinline=True, **INNER)
def meet_particle(law: Law, one: np.void, other: np.void, moves: bool, spring: np.void, sign: float, dt: float) -> None:
    """Add the forces of a contact to two particles.

    Args:
        law: Properties of contacts.
        one: Record of PARTICLE.
        other: Record of PARTICLE.
        moves: Whether the other is awake; if not, no forces are added to it.
        spring: Record of SPRING.
        sign: 1 if the first particle keeps the spring, -1 if the other does.
        dt: Length of the step [s].
    """
    p, q = one["position"], other["position"]
    nx, ny, nz = p[0] - q[0], p[1] - q[1], p[2] - q[2]
    square = nx * nx + ny * ny + nz * nz
    if square >= 4.0 * law.radius * law.radius:
        relax(spring)
        return
    away = max(math.sqrt(square), 1e-6 * law.radius)
    nx, ny, nz = nx / away, ny / away, nz / away
    arm = 0.5 * away
    a, b = one["spin"], other["spin"]
    p, q = one["velocity"], other["velocity"]
    vx, vy, vz = p[0] - q[0], p[1] - q[1], p[2] - q[2]
    w = (a[0] - b[0], a[1] - b[1], a[2] - b[2])
    sx, sy, sz = a[0] + b[0], a[1] + b[1], a[2] + b[2]
    v = (vx - arm * (sy * nz - sz * ny), vy - arm * (sz * nx - sx * nz), vz - arm * (sx * ny - sy * nx))
    overlap = 2.0 * law.radius - away
    fx, fy, fz, qx, qy, qz = respond(law, 1.0, overlap, (nx, ny, nz), v, w, spring, sign, dt)
    tx, ty, tz = arm * (ny * fz - nz * fy), arm * (nz * fx - nx * fz), arm * (nx * fy - ny * fx)
    add(one["force"], fx, fy, fz)
    add(one["torque"], qx - tx, qy - ty, qz - tz)
    if moves:
        add(other["force"], -fx, -fy, -fz)
        add(other["torque"], -(qx + tx), -(qy + ty), -(qz + tz))


@kernel(**INNER)
def gap_to_wall(box: Container, wall: int, x: float, y: float, z: float) -> float:
    """Distance of a point from a side of the container [m]."""
    if wall == 0:
        return x - box.x_min
    if wall == 1:
        return box.x_max - x
    if wall == 2:
        return y - box.y_min
    return box.y_max - y if wall == 3 else z


@kernel(**INNER)
def meet_wall(law: Law, one: np.void, box: Container, wall: int, spring: np.void, dt: float) -> None:
    """Add the forces of a side of the container to a particle; as `meet_particle`."""
    position, velocity, spin = one["position"], one["velocity"], one["spin"]
    arm = gap_to_wall(box, wall, position[0], position[1], position[2])
    if arm >= law.radius:
        relax(spring)
        return
    nx = 1.0 if wall == 0 else (-1.0 if wall == 1 else 0.0)
    ny = 1.0 if wall == 2 else (-1.0 if wall == 3 else 0.0)
    nz = 1.0 if wall == WALLS - 1 else 0.0
    wx, wy, wz = spin[0], spin[1], spin[2]
    v = (
        velocity[0] - arm * (wy * nz - wz * ny),
        velocity[1] - arm * (wz * nx - wx * nz),
        velocity[2] - arm * (wx * ny - wy * nx),
    )
    overlap = law.radius - arm
    fx, fy, fz, qx, qy, qz = respond(law, 1.0, overlap, (nx, ny, nz), v, (wx, wy, wz), spring, 1.0, dt)
    tx, ty, tz = arm * (ny * fz - nz * fy), arm * (nz * fx - nx * fz), arm * (nx * fy - ny * fx)
    add(one["force"], fx, fy, fz)
    add(one["torque"], qx - tx, qy - ty, qz - tz)


@kernel(**INNER)
def collide(law: Law, state: State, who: IntArray, first: int, end: int, dt: float) -> None:
    """Add the forces of neighbours and of the container to the particles ``who[first:end]``.

    Each contact counts once: the particle with the lower number adds the forces to both, if both are awake.
    """
    motion, links, neighbours, springs = state.motion, state.links, state.neighbours, state.springs
    for a in range(first, end):
        i = who[a]
        for s in range(links[i]["neighbours"]):
            j = neighbours[i, s]["other"]
            if j < 0:
                meet_wall(law, motion[i], state.box, -1 - j, springs[i, s], dt)
                continue
            moves = links[j]["asleep"] == 0
            if i < j or not moves:
                keeper, slot = (i, s) if i < j else (j, neighbours[i, s]["slot"])
                sign = 1.0 if keeper == i else -1.0
                meet_particle(law, motion[i], motion[j], moves, springs[keeper, slot], sign, dt)


@kernel(**INNER)
def integrate(law: Law, one: np.void, rest: Array, box: Container, dt: float) -> bool:
    """Integrate the forces on a particle for a step, but keep it in the container; returns whether it has moved.

    Args:
        law: Properties of particles.
        one: Record of PARTICLE.
        rest: (3,) where it was when it last moved [m].
        box: The walls.
        dt: Length of the step [s].
    """
    position, velocity, spin, force, torque = one["position"], one["velocity"], one["spin"], one["force"], one["torque"]
    for k in range(3):
        velocity[k] += dt * force[k] / law.mass
        spin[k] += dt * torque[k] / law.inertia
        force[k] = torque[k] = 0.0
    velocity[2] -= dt * law.gravity
    # At most a tenth of a radius per step, so that nothing passes through anything.
    speed = math.sqrt(velocity[0] ** 2 + velocity[1] ** 2 + velocity[2] ** 2)
    factor = min(1.0, 0.1 * law.radius / (dt * speed + 1e-300))
    square = 0.0
    lows, highs = (box.x_min, box.y_min, 0.0), (box.x_max, box.y_max, math.inf)
    for k in range(3):
        velocity[k] *= factor
        position[k] += dt * velocity[k]
        # The springs hold any reasonable load; these limits hold the others.
        low, high = lows[k] + 0.5 * law.radius, highs[k] - 0.5 * law.radius
        if position[k] < low:
            position[k], velocity[k] = low, max(velocity[k], 0.0)
        elif position[k] > high:
            position[k], velocity[k] = high, min(velocity[k], 0.0)
        square += (position[k] - rest[k]) ** 2
    return square > law.tolerance * law.tolerance


@kernel(**INNER)
def move(law: Law, state: State, who: IntArray, first: int, end: int, dt: float) -> None:
    """Move the particles ``who[first:end]`` by the forces on them, and count the steps for which each is still."""
    for a in range(first, end):
        i = who[a]
        rest = state.marks[i]["rest"]
        if integrate(law, state.motion[i], rest, state.box, dt):
            for k in range(3):
                rest[k] = state.motion[i]["position"][k]
            state.links[i]["still"] = 0
        else:
            state.links[i]["still"] += 1


@kernel(error_model="numpy", nogil=True)
def energy(law: Law, state: State) -> float:
    """Energy of all particles [J]: kinetic, potential, and elastic in contacts with each other and the container."""
    total = 0.0
    for i in range(len(state.motion)):
        one = state.motion[i]
        position, velocity, spin = one["position"], one["velocity"], one["spin"]
        total += law.mass * law.gravity * position[2]
        for k in range(3):
            total += 0.5 * (law.mass * velocity[k] ** 2 + law.inertia * spin[k] ** 2)
        for s in range(state.links[i]["neighbours"]):
            j = state.neighbours[i, s]["other"]
            if j >= 0:
                other = state.motion[j]["position"]
                square = (position[0] - other[0]) ** 2 + (position[1] - other[1]) ** 2 + (position[2] - other[2]) ** 2
                overlap = 2.0 * law.radius - math.sqrt(square)
            else:
                overlap = law.radius - gap_to_wall(state.box, -1 - j, position[0], position[1], position[2])
            if overlap > 0.0 and (j < 0 or i < j):
                total += 0.5 * law.stiffness * overlap**2
                for k in range(3):
                    slip, roll = float(state.springs[i, s]["slip"][k]), float(state.springs[i, s]["roll"][k])
                    total += 0.5 * (law.slip_stiffness * slip**2 + law.roll_stiffness * roll**2)
    return total
