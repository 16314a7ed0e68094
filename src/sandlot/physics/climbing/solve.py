"""Contacts and motors, solved together: velocities after a step and the impulses that make them so.

Projected Gauss-Seidel on velocities. A contact pushes so that its gap does not close, with friction up to its
coefficient times that push, against the slip of the belt. A motor pulls its rate towards the wanted one, as a damper,
up to its limit. Impulses start from those of the last step.
"""

from typing import Any

from sandlot.kernels import kernel
from sandlot.physics.climbing.constants import Constants
from sandlot.physics.climbing.robot import BACK, BODY, FRONT, MOTORS
from sandlot.typing import Array

BIAS, GRIP, PUSH, PULL, PART = range(5)
"""Columns of a contact: least velocity along the normal after the step [m/s], friction coefficient, normal and
tangential impulse [N*s], and number of the part: 0 front tracks, 1 rear tracks, 2 body."""
NORMAL, TANGENT = 5, 14
"""First columns of the normal and of the tangent: direction x and z, velocity by each of the three rates, change of the
rates by a unit impulse, and impulse that changes this velocity by one."""
ROWS = 23
VELOCITIES = 7
"""Of the mass centre (2), the three rates, and both belts."""
SWEEPS = 30
"""At most so many."""
FULL, RELAXED = 8, 0.6
"""After so many sweeps contacts change by only this share. A track that slips in a corner presses wall and ground in
turns: each one's friction changes the other's push, and whole changes would alternate for ever."""
LEVER = 5.0
"""An impulse of torque counts this many times as much [1/m]."""
TOLERANCE = 1e-3
"""Sweeps end when no impulse changes by more than this [N*s]."""


@kernel(error_model="numpy", allocates=False)
def solve(
    robot: Any,
    fixed: Constants,
    rows: Array,
    count: int,
    v: Array,
    inverse: Any,
    state: Array,
    targets: Array,
    step: float,
) -> None:
    """Find impulses and velocities.

    Args:
        robot: A record of `ROBOT`.
        fixed: Its constants.
        rows: (contacts, `ROWS`) with impulses to start from; they are replaced by those found.
        count: How many contacts there are.
        v: (`VELOCITIES`,) without contacts and motors; replaced by those with them.
        inverse: Of the matrix of rates, its six different entries.
        state: Of the robot; forces of its motors are read to start from, and replaced.
        targets: (3,) axle angles [rad] and belt speed [m/s].
        step: [s]
    """
    im, ib, (i00, i01, i02, i11, i12, i22) = fixed.per_mass, fixed.per_belt, inverse
    # Axle servos: the wanted rate, and how their impulse changes the three rates.
    top, limit, soft = robot.axle_speed, fixed.axle_limit, fixed.axle_soft
    want1 = min(max(robot.axle_gain * (targets[0] - state[FRONT] + state[BODY]), -top), top)
    want2 = min(max(robot.axle_gain * (targets[1] - state[BACK] + state[BODY]), -top), top)
    d10, d11, d12 = i01 - i00, i11 - i01, i12 - i02
    d20, d21, d22 = i02 - i00, i12 - i01, i22 - i02
    m1, m2 = 1.0 / (d11 - d10 + soft), 1.0 / (d22 - d20 + soft)
    # Belt motors: their limits depend on their speed.
    want, soft_belt, mb = targets[2], fixed.belt_soft, fixed.belt_mass
    low3, high3 = -fixed.belt_limit - fixed.belt_slope * v[5], fixed.belt_limit - fixed.belt_slope * v[5]
    low4, high4 = -fixed.belt_limit - fixed.belt_slope * v[6], fixed.belt_limit - fixed.belt_slope * v[6]

    # In local variables, which stay in registers.
    v0, v1, v2, v3, v4, v5, v6 = v[0], v[1], v[2], v[3], v[4], v[5], v[6]
    t1, t2 = state[MOTORS] * step, state[MOTORS + 1] * step
    t3 = min(max(state[MOTORS + 2] * step, low3), high3)
    t4 = min(max(state[MOTORS + 3] * step, low4), high4)
    v2 += d10 * t1 + d20 * t2
    v3 += d11 * t1 + d21 * t2
    v4 += d12 * t1 + d22 * t2
    v5 += ib * t3
    v6 += ib * t4
    for n in range(count):
        push, pull = rows[n, PUSH], rows[n, PULL]
        v0 += im * (rows[n, NORMAL] * push + rows[n, TANGENT] * pull)
        v1 += im * (rows[n, NORMAL + 1] * push + rows[n, TANGENT + 1] * pull)
        v2 += rows[n, NORMAL + 5] * push + rows[n, TANGENT + 5] * pull
        v3 += rows[n, NORMAL + 6] * push + rows[n, TANGENT + 6] * pull
        v4 += rows[n, NORMAL + 7] * push + rows[n, TANGENT + 7] * pull
        if rows[n, PART] == 0.0:
            v5 -= ib * pull
        elif rows[n, PART] == 1.0:
            v6 -= ib * pull

    for sweep in range(SWEEPS):
        share = 1.0 if sweep < FULL else RELAXED
        new = min(max(t1 - m1 * (v3 - v2 - want1 + soft * t1), -limit), limit)
        change, t1 = new - t1, new
        v2 += d10 * change
        v3 += d11 * change
        v4 += d12 * change
        most = abs(change) * LEVER
        new = min(max(t2 - m2 * (v4 - v2 - want2 + soft * t2), -limit), limit)
        change, t2 = new - t2, new
        v2 += d20 * change
        v3 += d21 * change
        v4 += d22 * change
        most = max(most, abs(change) * LEVER)
        new = min(max(t3 - mb * (v5 - want + soft_belt * t3), low3), high3)
        v5 += ib * (new - t3)
        most, t3 = max(most, abs(new - t3)), new
        new = min(max(t4 - mb * (v6 - want + soft_belt * t4), low4), high4)
        v6 += ib * (new - t4)
        most, t4 = max(most, abs(new - t4)), new
        for n in range(count):
            ux, uz, part, before = rows[n, NORMAL], rows[n, NORMAL + 1], rows[n, PART], rows[n, PUSH]
            speed = ux * v0 + uz * v1 + rows[n, NORMAL + 2] * v2 + rows[n, NORMAL + 3] * v3 + rows[n, NORMAL + 4] * v4
            push = max(before - share * rows[n, NORMAL + 8] * (speed - rows[n, BIAS]), 0.0)
            if push == 0.0 and before == 0.0:
                continue  # it has no friction either
            change = push - before
            rows[n, PUSH] = push
            most = max(most, abs(change))
            v0 += im * ux * change
            v1 += im * uz * change
            v2 += rows[n, NORMAL + 5] * change
            v3 += rows[n, NORMAL + 6] * change
            v4 += rows[n, NORMAL + 7] * change
            # The tangent is the normal turned by a right angle: (uz, -ux).
            slip = uz * v0 - ux * v1 + rows[n, TANGENT + 2] * v2 + rows[n, TANGENT + 3] * v3 + rows[n, TANGENT + 4] * v4
            slip -= v5 if part == 0.0 else (v6 if part == 1.0 else 0.0)
            bound = rows[n, GRIP] * push
            pull = min(max(rows[n, PULL] - share * rows[n, TANGENT + 8] * slip, -bound), bound)
            change = pull - rows[n, PULL]
            rows[n, PULL] = pull
            most = max(most, abs(change))
            v0 += im * uz * change
            v1 -= im * ux * change
            v2 += rows[n, TANGENT + 5] * change
            v3 += rows[n, TANGENT + 6] * change
            v4 += rows[n, TANGENT + 7] * change
            if part == 0.0:
                v5 -= ib * change
            elif part == 1.0:
                v6 -= ib * change
        if most < TOLERANCE:
            break
    v[0], v[1], v[2], v[3], v[4], v[5], v[6] = v0, v1, v2, v3, v4, v5, v6
    state[MOTORS], state[MOTORS + 1], state[MOTORS + 2], state[MOTORS + 3] = t1 / step, t2 / step, t3 / step, t4 / step
