"""The fast model of swimming: a chain of links with motors in its hinges, in water that resists with linear drag.

It is the model of the source, which used the Open Dynamics Engine: velocities of all links, connected by hinges, with
first-order steps in which forces of hinges and motors are implicit. Here the drag is implicit, too, so that light
bodies are stable; and many bodies are stepped at once (`sandlot.physics.swimming.lanes`).

**Drag** (Draschwandtner 2015, algorithm 6.2): the water resists every face that moves into it with a force against the
face's normal, proportional to its area and to the normal velocity of the link's centre. With ``open`` faces (section
7.4) the faces between links are hidden: of all end faces only the head's front and the tail's rear touch water.

**Motors**: a command sets the rate of every motor, in proportion to the error of its joint's angle. The motor gives its
joint that rate until the next command, with a torque up to its maximum (`sandlot.physics.swimming.sweeps`).
"""

import math
from typing import Any

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.swimming.lanes import BLOCK, LANES, TARGET, allocate, load, save, set_targets
from sandlot.physics.swimming.sweeps import advance
from sandlot.typing import Array, IntArray

AMPLITUDE, FREQUENCY, PHASE, OFFSET = range(4)
"""Rows of a gait: amplitude [rad], angular frequency [rad/s], phase [rad] and offset [rad] of every joint."""

_AMPLITUDE, _OFFSET, _COS, _SIN, _COS_STEP, _SIN_STEP = (LANES * row for row in range(6))
_WAVE = 6 * LANES
"""Lanes of a joint's wave: its amplitude and offset, and cosine and sine of its phase and of a command's change."""


@kernel(nogil=True)
def command(body: Any, state: Array, targets: Array) -> None:
    """Go from one command to the next.

    Args:
        body: A record of `SWIMMER`.
        state: (rows, bodies), changed in place.
        targets: (joints, bodies) commanded joint angles [rad].
    """
    lanes = allocate(body)
    for first in range(0, state.shape[1], LANES):
        count = min(LANES, state.shape[1] - first)
        load(body, lanes, state, first, count)
        set_targets(lanes, targets, first, count)
        advance(body, lanes)
        save(body, lanes, state, first, count)


@kernel(nogil=True)
def swim(body: Any, state: Array, starts: IntArray, gaits: Array, commands: int) -> None:
    """Let every body follow its own gaits, from its present state on.

    The command of joint j of body b is ``amplitude sin(frequency t - phase) + offset`` with the parameters of the gait
    that began last, and t the time of the next command.

    Args:
        body: A record of `SWIMMER`.
        state: (rows, bodies), changed in place.
        starts: (gaits,) the command at which each gait begins, ascending from 0.
        gaits: (gaits, 4, joints, bodies) amplitude [rad], angular frequency [rad/s], phase [rad], offset [rad].
        commands: Number of commands.
    """
    joints, interval = body.links - 1, body.interval
    lanes = allocate(body)
    waves = np.empty(joints * _WAVE)
    for first in range(0, state.shape[1], LANES):
        count = min(LANES, state.shape[1] - first)
        load(body, lanes, state, first, count)
        gait = 0
        for t in range(commands):
            while gait < starts.size and t >= starts[gait]:
                for j in range(joints):
                    for i in range(LANES):
                        b = first + min(i, count - 1)
                        change = gaits[gait, FREQUENCY, j, b] * interval
                        angle = (t + 1) * change - gaits[gait, PHASE, j, b]
                        o = j * _WAVE + i
                        waves[o + _AMPLITUDE] = gaits[gait, AMPLITUDE, j, b]
                        waves[o + _OFFSET] = gaits[gait, OFFSET, j, b]
                        waves[o + _COS], waves[o + _SIN] = math.cos(angle), math.sin(angle)
                        waves[o + _COS_STEP], waves[o + _SIN_STEP] = math.cos(change), math.sin(change)
                gait += 1
            for j in range(joints):
                link, wave = lanes.links[(j + 1) * BLOCK : (j + 2) * BLOCK], waves[j * _WAVE : (j + 1) * _WAVE]
                for i in range(LANES):
                    c, s = wave[_COS + i], wave[_SIN + i]
                    link[TARGET + i] = wave[_AMPLITUDE + i] * s + wave[_OFFSET + i]
                    dc, ds = wave[_COS_STEP + i], wave[_SIN_STEP + i]
                    wave[_COS + i], wave[_SIN + i] = c * dc - s * ds, s * dc + c * ds
            advance(body, lanes)
        save(body, lanes, state, first, count)
