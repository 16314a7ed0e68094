"""One step of the planar model: three rigid parts on two driven axles, with driven belts, against the ground.

The coordinates are the mass centre and the angles of the three parts, so that translation and rotation are decoupled:
the inertia is a mass and a symmetric 3 x 3 matrix. A step is first-order. Contacts, axle servos and belt motors are
solved together for the velocities after the step (`sandlot.physics.climbing.solve`); then positions follow.
"""

import math
from typing import Any

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.climbing.constants import Constants, constants
from sandlot.physics.climbing.contacts import GAP, MARGIN, NORMAL_X, NORMAL_Z, POINT_X, POINT_Z, find
from sandlot.physics.climbing.ground import Ground
from sandlot.physics.climbing.robot import BACK, BELTS, BODY, CONTACTS, FRONT, MIDDLE, MISSED, PENETRATION, SPEED, X, Z
from sandlot.physics.climbing.solve import BIAS, GRIP, NORMAL, PART, PULL, PUSH, ROWS, TANGENT, VELOCITIES, solve
from sandlot.typing import Array, BoolArray, IntArray

GRAVITY = 9.81
"""[m/s^2]"""
RECOVER = 0.2
"""Share of a penetration beyond `SLOP` that a step removes."""
SLOP = 0.0003
"""Penetration that is left alone, so that contacts stay [m]."""
SMALL = 0.01
"""Square of the largest angle for which four terms of a series are exact to 1e-11 [rad^2]."""
MAX_RECOVERY = 0.3
"""Largest speed at which penetration is removed [m/s]."""


@kernel(error_model="numpy", nogil=True)
def advance(
    robots: Any,
    ground: Ground,
    state: Array,
    labels: IntArray,
    impulses: Array,
    targets: Array,
    running: BoolArray,
    first: int,
    last: int,
    steps: int,
    step: float,
) -> None:
    """Simulate a stretch of robots from one command to the next.

    Args:
        robots: (robots,) records of `ROBOT`.
        ground: Of all robots.
        state: (robots, columns), changed in place.
        labels: (robots, contacts) features that touched at the last step, -1 for none; changed in place.
        impulses: (robots, contacts, 2) their normal and tangential impulses [N*s]; changed in place.
        targets: (robots, 3) front and rear axle angle [rad], belt speed [m/s].
        running: (robots,) the others stay as they are.
        first: First robot.
        last: One after the last robot.
        steps: Number of steps.
        step: Of each [s].
    """
    found, marks = np.empty((CONTACTS, 5)), np.empty((CONTACTS, 2), np.int64)
    rows, velocities, turns = np.empty((CONTACTS, ROWS)), np.empty(VELOCITIES), np.empty(6)
    for k in range(first, last):
        if not running[k]:
            continue
        state[k, PENETRATION] = 0.0
        fixed = constants(robots[k], step)
        for part in range(3):
            turns[2 * part], turns[2 * part + 1] = math.cos(state[k, BODY + part]), math.sin(state[k, BODY + part])
        for _ in range(steps):
            _step(
                robots[k],
                fixed,
                ground.segments[k],
                ground.cells[k],
                ground.extent[k],
                state[k],
                labels[k],
                impulses[k],
                targets[k],
                step,
                found,
                marks,
                rows,
                velocities,
                turns,
            )
        _find_middle(fixed, state[k], turns)


@kernel(error_model="numpy", allocates=False)
def _step(
    robot: Any,
    fixed: Constants,
    segments: Array,
    cells: IntArray,
    extent: Array,
    state: Array,
    labels: IntArray,
    impulses: Array,
    targets: Array,
    step: float,
    found: Array,
    marks: IntArray,
    rows: Array,
    v: Array,
    turns: Array,
) -> None:
    span, hip, straight = robot.half_span, robot.hip, robot.straight
    gf, gk = fixed.gf, fixed.gk
    c0, s0, c1, s1, c2, s2 = turns[0], turns[1], turns[2], turns[3], turns[4], turns[5]
    # Middle of the body, and the axles.
    hx, hz = c0 * fixed.gx - s0 * fixed.gz, s0 * fixed.gx + c0 * fixed.gz
    mx, mz = state[X] - hx - gf * c1 + gk * c2, state[Z] - hz - gf * s1 + gk * s2
    fx, fz = c0 * span - s0 * hip, s0 * span + c0 * hip
    kx, kz = -c0 * span - s0 * hip, -s0 * span + c0 * hip

    # No point moves further in this step: mass centre, body, and the faster of the tracks.
    w0, w1, w2 = state[SPEED + BODY], state[SPEED + FRONT], state[SPEED + BACK]
    turning = abs(w0) * (span + straight) + max(abs(w1), abs(w2)) * 2.0 * robot.reach
    margin = MARGIN + step * (abs(state[SPEED + X]) + abs(state[SPEED + Z]) + turning)
    count = find(
        segments,
        cells,
        extent,
        (mx + fx, mz + fz, robot.wheel, c1, s1, robot.reach, robot.tip),
        margin,
        0,
        found,
        marks,
        0,
    )
    count = find(
        segments,
        cells,
        extent,
        (mx + kx, mz + kz, robot.wheel, -c2, -s2, robot.reach, robot.tip),
        margin,
        1,
        found,
        marks,
        count,
    )
    count = find(
        segments,
        cells,
        extent,
        (mx - straight * c0, mz - straight * s0, robot.radius, c0, s0, 2.0 * straight, robot.radius),
        margin,
        2,
        found,
        marks,
        count,
    )

    if count > CONTACTS:
        state[MISSED] += count - CONTACTS
        count = CONTACTS

    # Inertia of the three rates.
    ufx, ufz = c0 * fixed.front_x - s0 * fixed.front_z, s0 * fixed.front_x + c0 * fixed.front_z
    ukx, ukz = c0 * fixed.back_x - s0 * fixed.back_z, s0 * fixed.back_x + c0 * fixed.back_z
    motor, a00, a11, a22 = robot.axle_inertia, fixed.body, fixed.front, fixed.back
    a01, a02 = ufx * c1 + ufz * s1 - motor, ukx * c2 + ukz * s2 - motor
    a12 = fixed.tracks * (c1 * c2 + s1 * s2)
    # Forces of inertia: x perpendicular to y is x across y.
    cf, ck, cfk = ufx * s1 - ufz * c1, ukx * s2 - ukz * c2, fixed.tracks * (c1 * s2 - s1 * c2)
    f0 = w1 * w1 * cf + w2 * w2 * ck
    f1 = -w0 * w0 * cf + w2 * w2 * cfk
    f2 = -w0 * w0 * ck - w1 * w1 * cfk
    # Its inverse.
    i00, i01, i02 = a11 * a22 - a12 * a12, a02 * a12 - a01 * a22, a01 * a12 - a02 * a11
    scale = 1.0 / (a00 * i00 + a01 * i01 + a02 * i02)
    i11, i12, i22 = a00 * a22 - a02 * a02, a01 * a02 - a00 * a12, a00 * a11 - a01 * a01
    i00, i01, i02, i11, i12, i22 = (i00 * scale, i01 * scale, i02 * scale, i11 * scale, i12 * scale, i22 * scale)

    # Velocities without contacts and motors.
    v[0], v[1] = state[SPEED + X], state[SPEED + Z] - step * GRAVITY
    v[2] = w0 + step * (i00 * f0 + i01 * f1 + i02 * f2)
    v[3] = w1 + step * (i01 * f0 + i11 * f1 + i12 * f2)
    v[4] = w2 + step * (i02 * f0 + i12 * f1 + i22 * f2)
    v[5], v[6] = state[BELTS], state[BELTS + 1]

    # Rows of the contacts: velocity of the touching point along normal and tangent by each coordinate.
    inverse, belt = fixed.per_mass, fixed.per_belt
    for n in range(count):
        part = marks[n, 0]
        x, z = found[n, POINT_X], found[n, POINT_Z]
        # Moved by the rates: (-rz, rx) times the rate, r from the centre of that rotation.
        r0x, r0z, r1x, r1z, r2x, r2z = -hx, -hz, -gf * c1, -gf * s1, gk * c2, gk * s2
        if part == 0:
            r0x, r0z, r1x, r1z = r0x + fx, r0z + fz, r1x + x - mx - fx, r1z + z - mz - fz
        elif part == 1:
            r0x, r0z, r2x, r2z = r0x + kx, r0z + kz, r2x + x - mx - kx, r2z + z - mz - kz
        else:
            r0x, r0z = r0x + x - mx, r0z + z - mz
        nx, nz, gap = found[n, NORMAL_X], found[n, NORMAL_Z], found[n, GAP]
        state[PENETRATION] = max(state[PENETRATION], -gap)
        rows[n, BIAS] = -gap / step if gap > 0.0 else min(RECOVER * max(-gap - SLOP, 0.0) / step, MAX_RECOVERY)
        rows[n, GRIP] = robot.belly_grip if part == 2 else robot.grip
        for way in range(2):
            ux, uz = (nx, nz) if way == 0 else (nz, -nx)
            j0, j1, j2 = uz * r0x - ux * r0z, uz * r1x - ux * r1z, uz * r2x - ux * r2z
            k0, k1, k2 = i00 * j0 + i01 * j1 + i02 * j2, i01 * j0 + i11 * j1 + i12 * j2, i02 * j0 + i12 * j1 + i22 * j2
            at = NORMAL if way == 0 else TANGENT
            rows[n, at], rows[n, at + 1], rows[n, at + 2], rows[n, at + 3], rows[n, at + 4] = ux, uz, j0, j1, j2
            rows[n, at + 5], rows[n, at + 6], rows[n, at + 7] = k0, k1, k2
            stiffness = inverse + j0 * k0 + j1 * k1 + j2 * k2
            if way == 1 and part != 2:
                stiffness += belt
            rows[n, at + 8] = 1.0 / stiffness
        rows[n, PART] = part
        rows[n, PUSH], rows[n, PULL] = 0.0, 0.0
        name = label(part, marks[n, 1])
        for m in range(CONTACTS):
            if labels[m] < 0:
                break
            if labels[m] == name:
                rows[n, PUSH], rows[n, PULL] = impulses[m, 0], impulses[m, 1]
                break

    solve(robot, fixed, rows, count, v, (i00, i01, i02, i11, i12, i22), state, targets, step)

    for n in range(count):
        labels[n] = label(marks[n, 0], marks[n, 1])
        impulses[n, 0], impulses[n, 1] = rows[n, PUSH], rows[n, PULL]
    if count < CONTACTS:
        labels[count] = -1
    for m in range(5):
        state[SPEED + m] = v[m]
        state[m] += step * v[m]
    state[BELTS], state[BELTS + 1] = v[5], v[6]
    for part in range(3):
        _turn(turns, 2 * part, step * v[2 + part])


@kernel(error_model="numpy", allocates=False, inline="always")
def label(part: int, feature: int) -> int:
    """A number for the contact of a part with a feature of the ground; no other contact has it."""
    return 3 * feature + part


@kernel(error_model="numpy", allocates=False, inline="always")
def _turn(turns: Array, at: int, angle: float) -> None:
    """Turn a cosine and a sine on by a small angle [rad]: its series is much faster than the functions."""
    square = angle * angle
    if square < SMALL:
        c = 1.0 - square * (1.0 / 2.0 - square * (1.0 / 24.0 - square / 720.0))
        s = angle * (1.0 - square * (1.0 / 6.0 - square * (1.0 / 120.0 - square / 5040.0)))
    else:
        c, s = math.cos(angle), math.sin(angle)
    turns[at], turns[at + 1] = c * turns[at] - s * turns[at + 1], s * turns[at] + c * turns[at + 1]


@kernel(error_model="numpy", allocates=False)
def _find_middle(fixed: Constants, state: Array, turns: Array) -> None:
    """Write where the middle of the body is, and how fast: the mass centre minus its place in the robot."""
    c0, s0, c1, s1, c2, s2 = turns[0], turns[1], turns[2], turns[3], turns[4], turns[5]
    w0, w1, w2 = state[SPEED + BODY], state[SPEED + FRONT], state[SPEED + BACK]
    hx, hz = c0 * fixed.gx - s0 * fixed.gz, s0 * fixed.gx + c0 * fixed.gz
    state[MIDDLE] = state[X] - hx - fixed.gf * c1 + fixed.gk * c2
    state[MIDDLE + 1] = state[Z] - hz - fixed.gf * s1 + fixed.gk * s2
    state[MIDDLE + 2] = state[SPEED + X] + w0 * hz + w1 * fixed.gf * s1 - w2 * fixed.gk * s2
    state[MIDDLE + 3] = state[SPEED + Z] - w0 * hx - w1 * fixed.gf * c1 + w2 * fixed.gk * c2
