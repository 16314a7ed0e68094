"""Contacts and motors, solved together: velocities after a step and the impulses that make them so.

Projected Gauss-Seidel on velocities. A contact pushes so that its gap does not close, with friction up to its
coefficient times that push, against the slip of the belt. A motor pulls its rate towards the wanted one, as a damper,
up to its limit. Impulses start from those of the last step.
"""

from typing import Any

from sandlot.kernels import kernel
from sandlot.physics.climbing.robot import BACK, BODY, FRONT, MOTORS
from sandlot.typing import Array

BIAS, GRIP, PUSH, PULL = range(4)
"""Columns of a contact: least velocity along the normal after the step [m/s], friction coefficient, normal and
tangential impulse [N*s]."""
BELT = 4
"""Column of the number of the velocity that is the belt's."""
NORMAL, TANGENT = 5, 14
"""First columns of the normal and of the tangent: direction x and z, velocity by each of the three rates, change of the
rates by a unit impulse, and impulse that changes this velocity by one."""
ROWS = 23
VELOCITIES = 8
"""Of the mass centre (2), the three rates, both belts, and one that is always 0: the belt that the body has not."""
SWEEPS = 30
TOLERANCE = 1e-5
"""Sweeps end when no impulse changes by more than this [N*s]."""


@kernel(error_model="numpy", allocates=False)
def solve(
    robot: Any, rows: Array, count: int, v: Array, inverse: Any, state: Array, targets: Array, step: float
) -> None:
    """Find impulses and velocities.

    Args:
        robot: A record of `ROBOT`.
        rows: (contacts, `ROWS`) with impulses to start from; they are replaced by those found.
        count: How many contacts there are.
        v: (`VELOCITIES`,) without contacts and motors; replaced by those with them.
        inverse: One over the mass, over a belt pair's inertia, and of the matrix of rates the six different entries.
        state: Of the robot; forces of its motors are read to start from, and replaced.
        targets: (3,) axle angles [rad] and belt speed [m/s].
        step: [s]
    """
    im, ib, i00, i01, i02, i11, i12, i22 = inverse
    # Axle servos: the wanted rate, and how their impulse changes the three rates.
    top, limit = robot.axle_speed, robot.axle_torque * step
    want1 = min(max(robot.axle_gain * (targets[0] - state[FRONT] + state[BODY]), -top), top)
    want2 = min(max(robot.axle_gain * (targets[1] - state[BACK] + state[BODY]), -top), top)
    d10, d11, d12 = i01 - i00, i11 - i01, i12 - i02
    d20, d21, d22 = i02 - i00, i12 - i01, i22 - i02
    soft = 1.0 / (robot.axle_damping * step)
    m1, m2 = 1.0 / (d11 - d10 + soft), 1.0 / (d22 - d20 + soft)
    # Belt motors: their limits depend on their speed.
    want, slope = targets[2], robot.thrust / robot.belt_speed
    low3, high3 = step * (-robot.thrust - slope * v[5]), step * (robot.thrust - slope * v[5])
    low4, high4 = step * (-robot.thrust - slope * v[6]), step * (robot.thrust - slope * v[6])
    soft_belt = 1.0 / (robot.belt_damping * step)
    mb = 1.0 / (ib + soft_belt)

    t1, t2 = state[MOTORS] * step, state[MOTORS + 1] * step
    t3 = min(max(state[MOTORS + 2] * step, low3), high3)
    t4 = min(max(state[MOTORS + 3] * step, low4), high4)
    v[2] += d10 * t1 + d20 * t2
    v[3] += d11 * t1 + d21 * t2
    v[4] += d12 * t1 + d22 * t2
    v[5] += ib * t3
    v[6] += ib * t4
    for n in range(count):
        _push(rows, n, v, NORMAL, rows[n, PUSH], im)
        _push(rows, n, v, TANGENT, rows[n, PULL], im)
        if rows[n, BELT] < 7.0:
            v[int(rows[n, BELT])] -= ib * rows[n, PULL]

    for _ in range(SWEEPS):
        new = min(max(t1 - m1 * (v[3] - v[2] - want1 + soft * t1), -limit), limit)
        change, t1 = new - t1, new
        v[2] += d10 * change
        v[3] += d11 * change
        v[4] += d12 * change
        most = abs(change)
        new = min(max(t2 - m2 * (v[4] - v[2] - want2 + soft * t2), -limit), limit)
        change, t2 = new - t2, new
        v[2] += d20 * change
        v[3] += d21 * change
        v[4] += d22 * change
        most = max(most, abs(change))
        new = min(max(t3 - mb * (v[5] - want + soft_belt * t3), low3), high3)
        v[5] += ib * (new - t3)
        t3 = new
        new = min(max(t4 - mb * (v[6] - want + soft_belt * t4), low4), high4)
        v[6] += ib * (new - t4)
        t4 = new
        for n in range(count):
            new = max(rows[n, PUSH] - rows[n, NORMAL + 8] * (_speed(rows, n, v, NORMAL) - rows[n, BIAS]), 0.0)
            change = new - rows[n, PUSH]
            rows[n, PUSH] = new
            _push(rows, n, v, NORMAL, change, im)
            most = max(most, abs(change))
            belt = int(rows[n, BELT])
            slip, bound = _speed(rows, n, v, TANGENT) - v[belt], rows[n, GRIP] * new
            new = min(max(rows[n, PULL] - rows[n, TANGENT + 8] * slip, -bound), bound)
            change = new - rows[n, PULL]
            rows[n, PULL] = new
            _push(rows, n, v, TANGENT, change, im)
            if belt < 7:
                v[belt] -= ib * change
            most = max(most, abs(change))
        if most < TOLERANCE:
            break
    state[MOTORS], state[MOTORS + 1], state[MOTORS + 2], state[MOTORS + 3] = t1 / step, t2 / step, t3 / step, t4 / step


@kernel(error_model="numpy", allocates=False, inline="always")
def _speed(rows: Array, n: int, v: Array, at: int) -> float:
    """Velocity of a contact's point along its normal or its tangent [m/s]."""
    line = rows[n, at] * v[0] + rows[n, at + 1] * v[1]
    return line + rows[n, at + 2] * v[2] + rows[n, at + 3] * v[3] + rows[n, at + 4] * v[4]


@kernel(error_model="numpy", allocates=False, inline="always")
def _push(rows: Array, n: int, v: Array, at: int, impulse: float, im: float) -> None:
    """Change the velocities by an impulse along a contact's normal or its tangent [N*s]."""
    v[0] += im * rows[n, at] * impulse
    v[1] += im * rows[n, at + 1] * impulse
    v[2] += rows[n, at + 5] * impulse
    v[3] += rows[n, at + 6] * impulse
    v[4] += rows[n, at + 7] * impulse
