"""The servos: joint accelerations from one command to the next, within the limits of rate, torque and angle."""

from typing import Any

from sandlot.kernels import kernel
from sandlot.physics.swimming.lanes import ACC, ANGLE, HAVE, JOINT_ROWS, LANES, LAST, NEED, RATE, TARGET, Lanes
from sandlot.physics.swimming.rows import DRIVE
from sandlot.physics.swimming.torques import find_torques

GAIN = 0.5
"""Of the position error, per command: each command halves the error."""

YIELD = 0.3
"""Share of its rate that a joint loses with each command while the motors cannot keep the present rates."""

_SHARE = 0
"""Scratch row: share of the wanted accelerations that the motors can give. The rows of `torques` are free again."""


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def aim(body: Any, lanes: Lanes) -> None:
    """Set the acceleration that brings each joint to its commanded angle at the next command."""
    joints = lanes.joints
    interval, max_rate, max_angle = body.interval, body.max_rate, body.max_angle
    for j in range(body.links - 1):
        o = j * JOINT_ROWS
        for i in range(LANES):
            target = joints[o + TARGET + i]
            target = target if target < max_angle else max_angle
            target = target if target > -max_angle else -max_angle
            last = joints[o + LAST + i]
            rate = (target - last) / interval
            rate = rate if rate < max_rate else max_rate
            rate = rate if rate > -max_rate else -max_rate
            joints[o + LAST + i] = last + rate * interval
            rate += GAIN * (last - joints[o + ANGLE + i]) / interval
            rate = rate if rate < max_rate else max_rate
            rate = rate if rate > -max_rate else -max_rate
            joints[o + ACC + i] = (rate - joints[o + RATE + i]) / interval


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def limit(body: Any, lanes: Lanes) -> None:
    """Scale the accelerations of a body so that no joint needs more than its torque limit.

    Where the motors cannot even keep the present rates, all joints of the body slow down by `YIELD`.
    """
    z, joints, _, w = lanes
    joint_count, max_torque, interval, max_angle = body.links - 1, body.max_torque, body.interval, body.max_angle
    find_torques(body, lanes)
    for i in range(LANES):
        w[_SHARE + i] = 1.0
    for j in range(joint_count):
        o = j * JOINT_ROWS
        for i in range(LANES):
            # The share at which |have + share * need| reaches the limit on the side that need points to.
            have, need, share = joints[o + HAVE + i], joints[o + NEED + i], w[_SHARE + i]
            room = max_torque - have if need > 0.0 else max_torque + have
            size = abs(need)
            fits = room / size if room > 0.0 else 0.0
            w[_SHARE + i] = fits if share * size > room else share
    for i in range(LANES):
        z[LANES * DRIVE + i] += w[_SHARE + i]
    for j in range(joint_count):
        o = j * JOINT_ROWS
        for i in range(LANES):
            slower = -YIELD * joints[o + RATE + i] / interval
            joints[o + ACC + i] = slower if w[_SHARE + i] <= 0.0 else joints[o + ACC + i] * w[_SHARE + i]
    for j in range(joint_count):
        o = j * JOINT_ROWS
        for i in range(LANES):
            # Mechanical stops.
            rest = joints[o + ANGLE + i] + joints[o + RATE + i] * interval
            high, low = 2.0 * (max_angle - rest), 2.0 * (-max_angle - rest)
            acc = joints[o + ACC + i] * interval * interval
            acc = acc if acc < high else high
            acc = acc if acc > low else low
            joints[o + ACC + i] = acc / (interval * interval)
