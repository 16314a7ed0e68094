"""The reduced model of swimming: servos give the shape of the body, so that only position and yaw are unknown.

Strong servos make the joints of a swimming snake follow their commands. Then the shape of its body is a known function
of time, and momentum and angular momentum, changed by drag alone, determine how the whole body moves. There are three
unknowns instead of one for every link. With one step for many bodies at once, this is some fifty times as fast as
rigid-body dynamics.

**Drag** (Draschwandtner 2015, algorithm 6.2): the water resists every face that moves into it with a force against the
face's normal, proportional to its area and to the normal velocity of the link's centre. With ``open`` faces (section
7.4) the faces between links are hidden: of all end faces only the head's front and the tail's rear touch water.

**Servo** (`sandlot.physics.swimming.servo`): a command sets the angle that each joint should have at the next command.
The joint accelerates at a constant rate in between, so that joint rates have no jumps and inverse dynamics gives the
torque (`sandlot.physics.swimming.torques`). If some joint would need more than the torque limit, all accelerations are
scaled by the same factor, the share of the wanted acceleration that the motors can give. If the motors cannot even keep
the present rates, the joints slow down until they can.

**Time step** (`sandlot.physics.swimming.step`): implicit midpoint, with the shape taken at mid-step. It is second
order, stable for any drag, and without drag it keeps momentum exactly.
"""

import math
from typing import Any

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.swimming.lanes import ACC, JOINT_ROWS, LANES, TARGET, allocate, load, save, set_targets
from sandlot.physics.swimming.servo import aim, limit
from sandlot.physics.swimming.step import advance
from sandlot.typing import Array, IntArray

AMPLITUDE, FREQUENCY, PHASE, OFFSET = range(4)
"""Rows of a gait: amplitude [rad], angular frequency [rad/s], phase [rad] and offset [rad] of every joint."""

_AMPLITUDE, _OFFSET, _COS, _SIN, _COS_STEP, _SIN_STEP = (LANES * row for row in range(6))
_WAVE_ROWS = 6 * LANES
"""Lanes of a joint's wave: its amplitude and offset, and cosine and sine of its phase and of a command's change."""


@kernel(nogil=True)
def plan(body: Any, state: Array, targets: Array, accelerations: Array) -> None:
    """Let the servos choose accelerations until the next command, for bodies that are simulated elsewhere.

    Args:
        body: A record of `SWIMMER`.
        state: (rows, bodies); velocities, joint angles and rates are read, last commands and drive are changed.
        targets: (joints, bodies) commanded joint angles at the next command [rad].
        accelerations: (joints, bodies), set [rad/s^2].
    """
    lanes = allocate(body)
    for first in range(0, state.shape[1], LANES):
        count = min(LANES, state.shape[1] - first)
        load(lanes, state, first, count)
        set_targets(lanes, targets, first, count)
        aim(body, lanes)
        limit(body, lanes)
        save(lanes, state, first, count)
        for j in range(body.links - 1):
            for i in range(count):
                accelerations[j, first + i] = lanes.joints[j * JOINT_ROWS + ACC + i]


@kernel(nogil=True)
def command(body: Any, state: Array, targets: Array) -> None:
    """Go from one command to the next.

    Args:
        body: A record of `SWIMMER`.
        state: (rows, bodies), changed in place.
        targets: (joints, bodies) commanded joint angles at the next command [rad].
    """
    lanes = allocate(body)
    for first in range(0, state.shape[1], LANES):
        count = min(LANES, state.shape[1] - first)
        load(lanes, state, first, count)
        set_targets(lanes, targets, first, count)
        advance(body, lanes)
        save(lanes, state, first, count)


@kernel(nogil=True)
def swim(body: Any, state: Array, starts: IntArray, gaits: Array, commands: int) -> None:
    """Let every body follow its own gaits, from its present state on.

    The command of joint j of body b is ``amplitude sin(frequency t - phase) + offset`` with the parameters of the gait
    that began last.

    Args:
        body: A record of `SWIMMER`.
        state: (rows, bodies), changed in place.
        starts: (gaits,) the command at which each gait begins, ascending from 0.
        gaits: (gaits, 4, joints, bodies) amplitude [rad], angular frequency [rad/s], phase [rad], offset [rad].
        commands: Number of commands.
    """
    joint_count, interval = body.links - 1, body.interval
    lanes = allocate(body)
    joints, wave = lanes.joints, np.empty(joint_count * _WAVE_ROWS)
    for first in range(0, state.shape[1], LANES):
        count = min(LANES, state.shape[1] - first)
        load(lanes, state, first, count)
        gait = 0
        for t in range(commands):
            while gait < starts.size and t >= starts[gait]:
                for j in range(joint_count):
                    for i in range(LANES):
                        b = first + min(i, count - 1)
                        change = gaits[gait, FREQUENCY, j, b] * interval
                        angle = (t + 1) * change - gaits[gait, PHASE, j, b]
                        o = j * _WAVE_ROWS + i
                        wave[o + _AMPLITUDE] = gaits[gait, AMPLITUDE, j, b]
                        wave[o + _OFFSET] = gaits[gait, OFFSET, j, b]
                        wave[o + _COS], wave[o + _SIN] = math.cos(angle), math.sin(angle)
                        wave[o + _COS_STEP], wave[o + _SIN_STEP] = math.cos(change), math.sin(change)
                gait += 1
            for j in range(joint_count):
                o = j * _WAVE_ROWS
                for i in range(LANES):
                    c, s = wave[o + _COS + i], wave[o + _SIN + i]
                    joints[j * JOINT_ROWS + TARGET + i] = wave[o + _AMPLITUDE + i] * s + wave[o + _OFFSET + i]
                    dc, ds = wave[o + _COS_STEP + i], wave[o + _SIN_STEP + i]
                    wave[o + _COS + i], wave[o + _SIN + i] = c * dc - s * ds, s * dc + c * ds
            advance(body, lanes)
        save(lanes, state, first, count)
