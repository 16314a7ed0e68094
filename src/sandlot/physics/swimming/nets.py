"""Nets that swim: each net drives a body inside the compiled simulation.

A net takes the angles of the joints, a clock and a constant 1, and gives the joints' next target angles.
"""

from typing import Any

import numpy as np

from sandlot.kernels import kernel
from sandlot.models.nets import Nets, activate
from sandlot.physics.swimming.lanes import ANGLE, FIXED, JOINT_ROWS, LANES, LINK_ROWS, SCRATCH_ROWS, TARGET, go_on
from sandlot.physics.swimming.water import load, save
from sandlot.typing import Array

CLOCK, ONE = 0, 1
EXTRA_INPUTS = 2
"""Inputs after the angles: the clock, and 1."""


@kernel(nogil=True)
def swim_nets(body: Any, state: Array, nets: Nets, frequencies: Array, commands: int) -> None:
    """Let every body be driven by its own net, from the present on; nets start with all nodes at 0.

    At every command a net gets the angles of the joints [rad], ``sin(2 pi frequency t)`` with the time since the start,
    and 1. Its outputs, 0 to 1, are stretched to the joints' range, so that 0.5 is straight.

    Args:
        body: A record of `SWIMMER`.
        state: (rows, bodies), changed in place.
        nets: `Nets`, one for each body.
        frequencies: (bodies,) of the clocks [Hz].
        commands: How many.
    """
    joint_count, furthest = body.links - 1, body.max_angle
    inputs = joint_count + EXTRA_INPUTS
    first_node, first_link, source, weight, bias, response = nets
    z, w = np.empty(FIXED * LANES), np.empty(SCRATCH_ROWS * LANES)
    joints, links = np.empty(joint_count * JOINT_ROWS), np.empty(body.links * LINK_ROWS)
    sums = np.empty(bias.size)
    values = np.zeros(bias.size + frequencies.size * inputs)
    # Cosine and sine of the clocks, and of their change with every command.
    turn = 2.0 * np.pi * frequencies * body.interval
    cosine, sine, cosine_turn, sine_turn = np.ones(turn.size), np.zeros(turn.size), np.cos(turn), np.sin(turn)
    for first in range(0, state.shape[1], LANES):
        count = min(LANES, state.shape[1] - first)
        load(state, first, count, z, joints)
        for _ in range(commands):
            for i in range(count):
                b = first + i
                start, end = first_node[b], first_node[b + 1]
                own = values[start + b * inputs : end + (b + 1) * inputs]
                for j in range(joint_count):
                    own[j] = joints[j * JOINT_ROWS + ANGLE + i]
                own[joint_count + CLOCK], own[joint_count + ONE] = sine[b], 1.0
                c, s = cosine[b], sine[b]
                cosine[b], sine[b] = c * cosine_turn[b] - s * sine_turn[b], s * cosine_turn[b] + c * sine_turn[b]
                node_bias, node_response = bias[start:end], response[start:end]
                activate(first_link[start : end + 1], source, weight, node_bias, node_response, own, sums[start:end])
                for j in range(joint_count):
                    joints[j * JOINT_ROWS + TARGET + i] = (2.0 * own[inputs + j] - 1.0) * furthest
            for j in range(joint_count):
                for i in range(count, LANES):
                    o = j * JOINT_ROWS + TARGET
                    joints[o + i] = joints[o + count - 1]
            go_on(body, z, joints, links, w)
        save(state, first, count, z, joints)
