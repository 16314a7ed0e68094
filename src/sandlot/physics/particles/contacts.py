"""What particles do to each other: they push, rub, and resist rolling.

Contacts are soft (Cundall and Strack, 1979): a spring and a dashpot along the normal, and a spring that remembers how
far two surfaces slipped past each other, up to Coulomb's limit. Real grains are not round, so that they do not roll
freely: a third spring remembers how far they rolled, up to a torque of ``rolling`` times normal force and radius (the
elastic-plastic model of Ai et al., 2011). Because springs remember, a heap at rest is truly at rest. A limit holds for
the spring first, and then for spring and dashpot together: so no contact ever gives back more than was put into it.
"""

import math
from typing import TypeAlias

from sandlot.kernels import kernel
from sandlot.physics.particles.state import (
    ASLEEP,
    DEGREE,
    INNER,
    REST,
    STILL,
    WALLS,
    F,
    Law,
    Single,
    State,
    T,
    V,
    W,
    X,
)
from sandlot.typing import Array, IntArray

Six: TypeAlias = tuple[float, float, float, float, float, float]


@kernel(error_model="numpy", inline="always")
def give(k: float, x: float, y: float, z: float, limit: float) -> float:
    """What to multiply a vector with, so that ``k`` times that is not longer than a limit."""
    square = k * k * (x * x + y * y + z * z)
    return limit / math.sqrt(square) if square > limit * limit else 1.0


@kernel(**INNER)
def relax(springs: Single, i: int, s: int) -> None:
    """Let a contact forget: there is none."""
    for k in range(6):
        if springs[i, s, k] != 0.0:  # most are already, and to write is to move memory
            springs[i, s, k] = 0.0


@kernel(forceinline=True, **INNER)
def respond(
    law: Law,
    softness: float,
    overlap: float,
    nx: float,
    ny: float,
    nz: float,
    vx: float,
    vy: float,
    vz: float,
    wx: float,
    wy: float,
    wz: float,
    springs: Single,
    i: int,
    s: int,
    sign: float,
    dt: float,
) -> Six:
    """Force [N] and rolling torque [N*m] on a particle at one contact; its springs are strained.

    Args:
        law: How hard, how rough.
        softness: Stiffness and damping are multiplied by this.
        overlap: How deep the two are in each other [m].
        nx: Unit vector from the other to the particle.
        ny: As before.
        nz: As before.
        vx: Velocity of the particle's surface relative to the other's [m/s].
        vy: As before.
        vz: As before.
        wx: Angular velocity of the particle relative to the other's [rad/s].
        wy: As before.
        wz: As before.
        springs: (n, slots, 6) slip [m] and roll [rad] that contacts remember.
        i: Who keeps those of this contact.
        s: In which slot.
        sign: 1 if the particle itself keeps it, or -1 if the other does.
        dt: Time step [s].
    """
    vn = vx * nx + vy * ny + vz * nz
    push = softness * max(law.stiffness * overlap - law.damping * vn, 0.0)
    if law.friction == 0.0 and law.rolling == 0.0:  # there is nothing to remember, and much less to do
        relax(springs, i, s)
        return push * nx, push * ny, push * nz, 0.0, 0.0, 0.0
    vx, vy, vz = vx - vn * nx, vy - vn * ny, vz - vn * nz
    # The contact may have turned: what was slip is now partly along the normal, and forgotten.
    sx, sy, sz = sign * springs[i, s, 0], sign * springs[i, s, 1], sign * springs[i, s, 2]
    along = sx * nx + sy * ny + sz * nz
    sx, sy, sz = sx - along * nx + vx * dt, sy - along * ny + vy * dt, sz - along * nz + vz * dt
    k, c, limit = softness * law.slip_stiffness, softness * law.slip_damping, law.friction * push
    share = give(k, sx, sy, sz, limit)
    sx, sy, sz = share * sx, share * sy, share * sz
    springs[i, s, 0], springs[i, s, 1], springs[i, s, 2] = sign * sx, sign * sy, sign * sz
    fx, fy, fz = -k * sx - c * vx, -k * sy - c * vy, -k * sz - c * vz
    share = give(1.0, fx, fy, fz, limit)
    fx, fy, fz = share * fx, share * fy, share * fz

    rx, ry, rz = sign * springs[i, s, 3] + wx * dt, sign * springs[i, s, 4] + wy * dt, sign * springs[i, s, 5] + wz * dt
    k, c, limit = softness * law.roll_stiffness, softness * law.roll_damping, law.rolling * law.radius * push
    share = give(k, rx, ry, rz, limit)
    rx, ry, rz = share * rx, share * ry, share * rz
    springs[i, s, 3], springs[i, s, 4], springs[i, s, 5] = sign * rx, sign * ry, sign * rz
    qx, qy, qz = -k * rx - c * wx, -k * ry - c * wy, -k * rz - c * wz
    share = give(1.0, qx, qy, qz, limit)
    qx, qy, qz = share * qx, share * qy, share * qz
    return push * nx + fx, push * ny + fy, push * nz + fz, qx, qy, qz


@kernel(forceinline=True, **INNER)
def meet_particle(
    law: Law, motion: Array, i: int, j: int, moves: bool, springs: Single, k: int, s: int, dt: float
) -> None:
    """Add to the forces on two particles those of their contact.

    Args:
        law: How hard, how rough.
        motion: (n, 16) as `State`'s.
        i: Which.
        j: And which other.
        moves: Whether the other is awake; if not, it does not feel anything.
        springs: (n, slots, 6) as `respond`.
        k: Who keeps those of this contact.
        s: In which slot.
        dt: Time step [s].
    """
    nx, ny, nz = motion[i, X] - motion[j, X], motion[i, X + 1] - motion[j, X + 1], motion[i, X + 2] - motion[j, X + 2]
    square = nx * nx + ny * ny + nz * nz
    if square >= 4.0 * law.radius * law.radius:
        relax(springs, k, s)
        return
    away = max(math.sqrt(square), 1e-6 * law.radius)
    nx, ny, nz = nx / away, ny / away, nz / away
    arm = 0.5 * away
    vx, vy, vz = motion[i, V] - motion[j, V], motion[i, V + 1] - motion[j, V + 1], motion[i, V + 2] - motion[j, V + 2]
    wx, wy, wz = motion[i, W] - motion[j, W], motion[i, W + 1] - motion[j, W + 1], motion[i, W + 2] - motion[j, W + 2]
    sx, sy, sz = motion[i, W] + motion[j, W], motion[i, W + 1] + motion[j, W + 1], motion[i, W + 2] + motion[j, W + 2]
    vx, vy, vz = vx - arm * (sy * nz - sz * ny), vy - arm * (sz * nx - sx * nz), vz - arm * (sx * ny - sy * nx)
    overlap = 2.0 * law.radius - away
    fx, fy, fz, qx, qy, qz = respond(
        law, 1.0, overlap, nx, ny, nz, vx, vy, vz, wx, wy, wz, springs, k, s, 1.0 if k == i else -1.0, dt
    )
    tx, ty, tz = arm * (ny * fz - nz * fy), arm * (nz * fx - nx * fz), arm * (nx * fy - ny * fx)
    motion[i, F], motion[i, F + 1], motion[i, F + 2] = motion[i, F] + fx, motion[i, F + 1] + fy, motion[i, F + 2] + fz
    motion[i, T], motion[i, T + 1], motion[i, T + 2] = (
        motion[i, T] + (qx - tx),
        motion[i, T + 1] + (qy - ty),
        motion[i, T + 2] + (qz - tz),
    )
    if moves:
        motion[j, F], motion[j, F + 1], motion[j, F + 2] = (
            motion[j, F] - fx,
            motion[j, F + 1] - fy,
            motion[j, F + 2] - fz,
        )
        motion[j, T], motion[j, T + 1], motion[j, T + 2] = (
            motion[j, T] - (qx + tx),
            motion[j, T + 1] - (qy + ty),
            motion[j, T + 2] - (qz + tz),
        )


@kernel(**INNER)
def gap_to_wall(box: Array, wall: int, x: float, y: float, z: float) -> float:
    """From a point to a side of the container [m]."""
    if wall == 0:
        return x - box[0]
    if wall == 1:
        return box[1] - x
    if wall == 2:
        return y - box[2]
    return box[3] - y if wall == 3 else z


@kernel(**INNER)
def meet_wall(law: Law, motion: Array, i: int, box: Array, wall: int, springs: Single, s: int, dt: float) -> None:
    """Add to the forces on a particle those of a side of the container; as `meet_particle`."""
    arm = gap_to_wall(box, wall, motion[i, X], motion[i, X + 1], motion[i, X + 2])
    if arm >= law.radius:
        relax(springs, i, s)
        return
    nx = 1.0 if wall == 0 else (-1.0 if wall == 1 else 0.0)
    ny = 1.0 if wall == 2 else (-1.0 if wall == 3 else 0.0)
    nz = 1.0 if wall == WALLS - 1 else 0.0
    wx, wy, wz = motion[i, W], motion[i, W + 1], motion[i, W + 2]
    vx = motion[i, V] - arm * (wy * nz - wz * ny)
    vy = motion[i, V + 1] - arm * (wz * nx - wx * nz)
    vz = motion[i, V + 2] - arm * (wx * ny - wy * nx)
    overlap = law.radius - arm
    fx, fy, fz, qx, qy, qz = respond(law, 1.0, overlap, nx, ny, nz, vx, vy, vz, wx, wy, wz, springs, i, s, 1.0, dt)
    tx, ty, tz = arm * (ny * fz - nz * fy), arm * (nz * fx - nx * fz), arm * (nx * fy - ny * fx)
    motion[i, F], motion[i, F + 1], motion[i, F + 2] = motion[i, F] + fx, motion[i, F + 1] + fy, motion[i, F + 2] + fz
    motion[i, T], motion[i, T + 1], motion[i, T + 2] = (
        motion[i, T] + (qx - tx),
        motion[i, T + 1] + (qy - ty),
        motion[i, T + 2] + (qz - tz),
    )


@kernel(**INNER)
def collide(law: Law, state: State, who: IntArray, first: int, end: int, dt: float) -> None:
    """Add to the forces on ``who[first:end]`` those of their neighbours, each contact once, and of the container.

    A contact of two who are awake is that of the one with the lower number, which adds to the forces on both.
    """
    motion, links, neighbour, spring = state.motion, state.links, state.neighbour, state.spring
    for a in range(first, end):
        i = who[a]
        for s in range(links[i, DEGREE]):
            j = neighbour[i, s, 0]
            if j < 0:
                meet_wall(law, motion, i, state.box, -1 - j, spring, s, dt)
                continue
            moves = links[j, ASLEEP] == 0
            if i < j or not moves:
                keeper, slot = (i, s) if i < j else (j, neighbour[i, s, 1])
                meet_particle(law, motion, i, j, moves, spring, keeper, slot, dt)


@kernel(**INNER)
def follow(law: Law, one: Array, mark: Array, box: Array, dt: float) -> bool:
    """Let a particle follow the forces on it, but never out of the container; whether that is motion to speak of."""
    for k in range(3):
        one[V + k] += dt * one[F + k] / law.mass
        one[W + k] += dt * one[T + k] / law.inertia
        one[F + k] = one[T + k] = 0.0
    one[V + 2] -= dt * law.gravity
    # A tenth of a radius a step: nothing passes through anything.
    speed = math.sqrt(one[V] ** 2 + one[V + 1] ** 2 + one[V + 2] ** 2)
    share = min(1.0, 0.1 * law.radius / (dt * speed + 1e-300))
    square = 0.0
    for k in range(3):
        one[V + k] *= share
        one[X + k] += dt * one[V + k]
        # Springs hold any load that is not absurd; the rest is for those that are.
        low = (box[2 * k] if k < 2 else 0.0) + 0.5 * law.radius
        high = (box[2 * k + 1] if k < 2 else math.inf) - 0.5 * law.radius
        if one[X + k] < low:
            one[X + k], one[V + k] = low, max(one[V + k], 0.0)
        elif one[X + k] > high:
            one[X + k], one[V + k] = high, min(one[V + k], 0.0)
        square += (one[X + k] - mark[REST + k]) ** 2
    return square > law.tolerance * law.tolerance


@kernel(**INNER)
def move(law: Law, state: State, who: IntArray, first: int, end: int, dt: float) -> None:
    """Let ``who[first:end]`` follow the forces on them, and count for how long each has been still."""
    for a in range(first, end):
        i = who[a]
        if follow(law, state.motion[i], state.marks[i], state.box, dt):
            for k in range(3):
                state.marks[i, REST + k] = state.motion[i, X + k]
            state.links[i, STILL] = 0
        else:
            state.links[i, STILL] += 1


@kernel(error_model="numpy", nogil=True)
def energy(law: Law, state: State) -> float:
    """Of all particles [J]: of motion, of height, and what is stored in contacts with each other and the container."""
    total = 0.0
    for i in range(len(state.motion)):
        one = state.motion[i]
        total += law.mass * law.gravity * one[X + 2]
        for k in range(3):
            total += 0.5 * (law.mass * one[V + k] ** 2 + law.inertia * one[W + k] ** 2)
        for s in range(state.links[i, DEGREE]):
            j = state.neighbour[i, s, 0]
            if j >= 0:
                other = state.motion[j]
                square = (one[X] - other[X]) ** 2 + (one[X + 1] - other[X + 1]) ** 2 + (one[X + 2] - other[X + 2]) ** 2
                overlap = 2.0 * law.radius - math.sqrt(square)
            else:
                overlap = law.radius - gap_to_wall(state.box, -1 - j, one[X], one[X + 1], one[X + 2])
            if overlap > 0.0 and (j < 0 or i < j):
                total += 0.5 * law.stiffness * overlap**2
                for k in range(3):
                    slip, roll = float(state.spring[i, s, k]), float(state.spring[i, s, 3 + k])
                    total += 0.5 * (law.slip_stiffness * slip**2 + law.roll_stiffness * roll**2)
    return total
