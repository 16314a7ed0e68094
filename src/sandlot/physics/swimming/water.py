"""Swimming of a chain of links whose shape is given: only position and heading are unknown.

Strong servos make the joints of a swimming snake do what they are told. Then the shape of its body is a known function
of time, and momentum and angular momentum, changed by drag alone, say how the whole body moves. Three unknowns instead
of one for every link: with one step for many bodies at once, this is some fifty times as fast as rigid-body dynamics.

**Drag** (Draschwandtner 2015, algorithm 6.2): every face that moves into the water feels a force against its normal,
proportional to its area and to the normal velocity of the link's centre. With ``open`` faces (section 7.4) the faces
between links are hidden: of all end faces only the head's front and the tail's rear touch water.

**Servo**: at every command a joint is told where to be at the next one. It changes its rate at a constant acceleration
in between, so that rates have no jumps and the torque it needs is known by inverse dynamics. If some joint would need
more than the torque limit, all accelerations shrink by the same factor, the share of what was wanted that the motors
could give; and if the motors cannot even keep up what the joints are doing, these slow down until they can.

**Time step**: implicit midpoint, with the shape taken at mid-step. Drag is linear in the three unknowns, so that each
step is a symmetric 3 x 3 system: second order, stable for any drag, and without drag exact in momentum.
"""

import math
from typing import Any

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.swimming.lanes import (
    ACC,
    ANGLE,
    COS,
    DRIVE,
    FIXED,
    GAIN,
    HEADING,
    HEAT,
    JOINT_ROWS,
    LANES,
    LAST,
    LAST_W,
    LINK_ROWS,
    PX,
    PY,
    RATE,
    SCRATCH_ROWS,
    SIN,
    TARGET,
    YIELD,
    L,
    U,
    V,
    W,
    X,
    Y,
    aim,
    go_on,
    limit_torques,
)
from sandlot.typing import Array, IntArray

__all__ = [
    "COS",
    "DRIVE",
    "FIXED",
    "GAIN",
    "HEADING",
    "HEAT",
    "LAST_W",
    "PX",
    "PY",
    "SIN",
    "SWIMMER",
    "YIELD",
    "L",
    "U",
    "V",
    "W",
    "X",
    "Y",
    "command",
    "plan",
    "rest",
    "swim",
]

SWIMMER = np.dtype(
    [
        ("links", np.int64),
        ("length", np.float64),  # of a link [m]
        ("mass", np.float64),  # of a link [kg]
        ("inertia", np.float64),  # of a link about its centre [kg*m^2]
        ("side_drag", np.float64),  # across a link [N*s/m]
        ("end_drag", np.float64),  # along every link [N*s/m]; 0 with open faces
        ("tip_drag", np.float64),  # along head and tail alone [N*s/m]; 0 without open faces
        ("max_torque", np.float64),  # of a joint [N*m]
        ("max_rate", np.float64),  # of a joint [rad/s]
        ("max_angle", np.float64),  # of a joint, to either side [rad]
        ("interval", np.float64),  # between commands [s]
        ("substeps", np.int64),  # steps between commands
    ]
)
"""What the kernels know of a body and of the water it swims in."""


@kernel(nogil=True)
def load(state: Array, first: int, count: int, z: Array, joints: Array) -> None:
    """Bodies ``first`` to ``first + count`` into the lanes; spare lanes repeat the last."""
    joint_count = (state.shape[0] - FIXED) // 3
    for i in range(LANES):
        b = first + min(i, count - 1)
        for row in range(FIXED):
            z[LANES * row + i] = state[row, b]
        for j in range(joint_count):
            joints[j * JOINT_ROWS + ANGLE + i] = state[FIXED + j, b]
            joints[j * JOINT_ROWS + RATE + i] = state[FIXED + joint_count + j, b]
            joints[j * JOINT_ROWS + LAST + i] = state[FIXED + 2 * joint_count + j, b]


@kernel(nogil=True)
def save(state: Array, first: int, count: int, z: Array, joints: Array) -> None:
    """Bodies from the lanes back to where `load` took them from."""
    joint_count = (state.shape[0] - FIXED) // 3
    for i in range(count):
        b = first + i
        for row in range(FIXED):
            state[row, b] = z[LANES * row + i]
        for j in range(joint_count):
            state[FIXED + j, b] = joints[j * JOINT_ROWS + ANGLE + i]
            state[FIXED + joint_count + j, b] = joints[j * JOINT_ROWS + RATE + i]
            state[FIXED + 2 * joint_count + j, b] = joints[j * JOINT_ROWS + LAST + i]


@kernel(nogil=True)
def _tell(targets: Array, first: int, count: int, joints: Array) -> None:
    for j in range(targets.shape[0]):
        for i in range(LANES):
            joints[j * JOINT_ROWS + TARGET + i] = targets[j, first + min(i, count - 1)]


@kernel(nogil=True)
def plan(body: Any, state: Array, targets: Array, accelerations: Array) -> None:
    """What the servos do until the next command, for bodies that are simulated elsewhere.

    Args:
        body: A record of `SWIMMER`.
        state: (rows, bodies); of it, velocities, joint angles and rates are read, last commands and drive changed.
        targets: (joints, bodies) where every joint should be at the next command [rad].
        accelerations: (joints, bodies), set [rad/s^2].
    """
    z, w = np.empty(FIXED * LANES), np.empty(SCRATCH_ROWS * LANES)
    joints, links = np.empty((body.links - 1) * JOINT_ROWS), np.empty(body.links * LINK_ROWS)
    for first in range(0, state.shape[1], LANES):
        count = min(LANES, state.shape[1] - first)
        load(state, first, count, z, joints)
        _tell(targets, first, count, joints)
        aim(body, joints)
        limit_torques(body, z, joints, links, w)
        save(state, first, count, z, joints)
        for j in range(body.links - 1):
            for i in range(count):
                accelerations[j, first + i] = joints[j * JOINT_ROWS + ACC + i]


@kernel(nogil=True)
def command(body: Any, state: Array, targets: Array) -> None:
    """Go from one command to the next.

    Args:
        body: A record of `SWIMMER`.
        state: (rows, bodies), changed in place.
        targets: (joints, bodies) where every joint should be at the next command [rad].
    """
    z, w = np.empty(FIXED * LANES), np.empty(SCRATCH_ROWS * LANES)
    joints, links = np.empty((body.links - 1) * JOINT_ROWS), np.empty(body.links * LINK_ROWS)
    for first in range(0, state.shape[1], LANES):
        count = min(LANES, state.shape[1] - first)
        load(state, first, count, z, joints)
        _tell(targets, first, count, joints)
        go_on(body, z, joints, links, w)
        save(state, first, count, z, joints)


@kernel(nogil=True)
def swim(body: Any, state: Array, starts: IntArray, gaits: Array, commands: int) -> None:
    """Let every body follow its own gaits, from the present on.

    Joint j of body b is told ``amplitude sin(frequency t - phase) + offset`` with the parameters of the gait that
    began last.

    Args:
        body: A record of `SWIMMER`.
        state: (rows, bodies), changed in place.
        starts: (gaits,) the command at which each gait begins, rising from 0.
        gaits: (gaits, 4, joints, bodies) amplitude [rad], angular frequency [rad/s], phase [rad], offset [rad].
        commands: How many.
    """
    joint_count, interval = body.links - 1, body.interval
    z, w = np.empty(FIXED * LANES), np.empty(SCRATCH_ROWS * LANES)
    joints, links = np.empty(joint_count * JOINT_ROWS), np.empty(body.links * LINK_ROWS)
    # Per joint: amplitude, offset, cosine and sine of the phase, and of its change with every command.
    rows = 6 * LANES
    wave = np.empty(joint_count * rows)
    for first in range(0, state.shape[1], LANES):
        count = min(LANES, state.shape[1] - first)
        load(state, first, count, z, joints)
        gait = 0
        for t in range(commands):
            while gait < starts.size and t >= starts[gait]:
                for j in range(joint_count):
                    for i in range(LANES):
                        b = first + min(i, count - 1)
                        change = gaits[gait, 1, j, b] * interval
                        angle = (t + 1) * change - gaits[gait, 2, j, b]
                        o = j * rows + i
                        wave[o], wave[o + LANES] = gaits[gait, 0, j, b], gaits[gait, 3, j, b]
                        wave[o + 2 * LANES], wave[o + 3 * LANES] = math.cos(angle), math.sin(angle)
                        wave[o + 4 * LANES], wave[o + 5 * LANES] = math.cos(change), math.sin(change)
                gait += 1
            for j in range(joint_count):
                o = j * rows
                for i in range(LANES):
                    c, s = wave[o + 2 * LANES + i], wave[o + 3 * LANES + i]
                    joints[j * JOINT_ROWS + TARGET + i] = wave[o + i] * s + wave[o + LANES + i]
                    dc, ds = wave[o + 4 * LANES + i], wave[o + 5 * LANES + i]
                    wave[o + 2 * LANES + i], wave[o + 3 * LANES + i] = c * dc - s * ds, s * dc + c * ds
            go_on(body, z, joints, links, w)
        save(state, first, count, z, joints)


def rest(joints: int, bodies: int) -> Array:
    """Straight bodies at rest, heading along x: (rows, bodies)."""
    state = np.zeros((FIXED + 3 * joints, bodies))
    state[COS] = 1.0
    return state
