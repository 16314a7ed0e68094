"""Bodies driven by recurrent nets inside the compiled simulation.

A net takes the joint angles, a clock and a constant 1, and gives the joints' next target angles.
"""

from typing import Any

import numpy as np

from sandlot.kernels import kernel
from sandlot.models.nets import Nets, activate
from sandlot.physics.swimming.lanes import ANGLE, BLOCK, LANES, TARGET, allocate, load, save
from sandlot.physics.swimming.sweeps import advance
from sandlot.typing import Array

CLOCK, ONE = 0, 1
EXTRA_INPUTS = 2
"""Inputs after the angles: the clock, and 1."""


@kernel(nogil=True)
def swim_nets(body: Any, state: Array, nets: Nets, frequencies: Array, commands: int) -> None:
    """Let every body be driven by its own net, from its present state on; nets start with all nodes at 0.

    At every command the inputs of a net are the joint angles [rad], ``sin(2 pi frequency t)`` with the time since the
    start, and 1. Its outputs, 0 to 1, are scaled to the joints' range, so that 0.5 is straight.

    Args:
        body: A record of `SWIMMER`.
        state: (rows, bodies), changed in place.
        nets: One net for each body.
        frequencies: (bodies,) of the clocks [Hz].
        commands: Number of commands.
    """
    joint_count, max_angle = body.links - 1, body.max_angle
    inputs = joint_count + EXTRA_INPUTS
    lanes = allocate(body)
    links = lanes.links
    values, sums = np.zeros(nets.bias.size + frequencies.size * inputs), np.empty(nets.bias.size)
    # Cosine and sine of the clocks' phases, and of the change of a phase with every command.
    change = 2.0 * np.pi * frequencies * body.interval
    cosine, sine, cosine_step, sine_step = np.ones(change.size), np.zeros(change.size), np.cos(change), np.sin(change)
    for first in range(0, state.shape[1], LANES):
        count = min(LANES, state.shape[1] - first)
        load(body, lanes, state, first, count)
        for _ in range(commands):
            for i in range(count):
                b = first + i
                own = values[nets.first_node[b] + b * inputs : nets.first_node[b + 1] + (b + 1) * inputs]
                for j in range(joint_count):
                    own[j] = links[(j + 1) * BLOCK + ANGLE + i]
                own[joint_count + CLOCK], own[joint_count + ONE] = sine[b], 1.0
                c, s = cosine[b], sine[b]
                cosine[b], sine[b] = c * cosine_step[b] - s * sine_step[b], s * cosine_step[b] + c * sine_step[b]
                activate(nets, b, own, sums)
                for j in range(joint_count):
                    links[(j + 1) * BLOCK + TARGET + i] = (2.0 * own[inputs + j] - 1.0) * max_angle
            for j in range(joint_count):
                for i in range(count, LANES):
                    o = (j + 1) * BLOCK + TARGET
                    links[o + i] = links[o + count - 1]
            advance(body, lanes)
        save(body, lanes, state, first, count)
