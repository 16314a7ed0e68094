"""Nets that swim: small recurrent neural networks, each driving a body inside the compiled simulation.

A net takes the angles of the joints, a clock and a constant 1, and says where the joints should be. All its nodes are
computed at once from the values of the command before, as in neat-python's ``RecurrentNetwork``: every link has a delay
of one command, except those from inputs. So links may form loops, and the order of nodes does not matter. Unlike there,
a node without links gives ``sigmoid(bias)``, not 0, which would bend a joint as far as it goes.

Nets of different sizes lie one after the other in flat arrays (`Nets`).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.lanes import ANGLE, FIXED, JOINT_ROWS, LANES, LINK_ROWS, SCRATCH_ROWS, TARGET, go_on
from sandlot.physics.water import load, save

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

CLOCK, ONE = 0, 1
EXTRA_INPUTS = 2
"""Inputs after the angles: the clock, and 1."""

STEEP = 5.0
"""Slope of neat-python's sigmoid; its argument, so scaled, is kept within `FLAT`."""
FLAT = 60.0


class Nets(NamedTuple):
    """Nets, one after the other; a net's first nodes are its outputs.

    Attributes:
        first_node: (nets + 1,) where the nodes of each net begin.
        first_link: (nodes + 1,) where the links into each node begin.
        source: (links,) what a link comes from: an input of its net, or the number of inputs plus a node of its net.
        weight: (links,)
        bias: (nodes,) added to the sum of a node's links.
        response: (nodes,) by which that sum is multiplied.
    """

    first_node: Whole
    first_link: Whole
    source: Whole
    weight: Array
    bias: Array
    response: Array


@kernel(inline="always")
def _sigmoid(x: float) -> float:
    """Neat-python's, to 1e-13, with an exp that vectorises: a Taylor series at x / 256, squared eight times."""
    z = -STEEP * x
    z = z if z < FLAT else FLAT
    z = z if z > -FLAT else -FLAT
    z *= 1.0 / 256.0
    e = 1.0 + z * (1.0 + z * (1 / 2 + z * (1 / 6 + z * (1 / 24 + z * (1 / 120 + z * (1 / 720 + z * (1 / 5040)))))))
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    return 1.0 / (1.0 + e)


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def activate(
    first_link: Whole, source: Whole, weight: Array, bias: Array, response: Array, values: Array, sums: Array
) -> None:
    """One net goes on by one command.

    Args:
        first_link: (nodes + 1,), as in `Nets`, as are the next four, for this net alone.
        source: (links,)
        weight: (links,)
        bias: (nodes,)
        response: (nodes,)
        values: (inputs + nodes,) with the inputs of now and the nodes of the command before; changed in place.
        sums: (nodes,) scratch.
    """
    nodes = bias.size
    inputs = values.size - nodes
    for node in range(nodes):
        total = 0.0
        for link in range(first_link[node], first_link[node + 1]):
            total += values[source[link]] * weight[link]
        sums[node] = bias[node] + response[node] * total
    for node in range(nodes):
        values[inputs + node] = _sigmoid(sums[node])


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
