"""Small recurrent neural networks, compiled.

All nodes of a net are computed at once from the values of the step before, as in neat-python's ``RecurrentNetwork``:
every link has a delay of one step, except those from inputs. So links may form loops, and the order of nodes does not
matter. Unlike in neat-python, a node without links has the value ``sigmoid(bias)``, not 0.

Nets of different sizes lie one after the other in flat arrays (`Nets`).
"""

from typing import NamedTuple

from sandlot.kernels import kernel
from sandlot.typing import Array, IntArray

STEEPNESS = 5.0
"""Factor on the argument of neat-python's sigmoid."""
MAX_ARGUMENT = 60.0
"""The scaled argument is clipped to this, either way."""


class Nets(NamedTuple):
    """Many nets, one after the other; a net's first nodes are its outputs.

    Attributes:
        first_node: (nets + 1,) where the nodes of each net begin.
        first_link: (nodes + 1,) where the links into each node begin.
        source: (links,) where a link comes from, within its net: an input, or the number of inputs plus a node.
        weight: (links,)
        bias: (nodes,) added to the weighted sum of a node's links.
        response: (nodes,) factor on that sum.
    """

    first_node: IntArray
    first_link: IntArray
    source: IntArray
    weight: Array
    bias: Array
    response: Array


@kernel(inline="always")
def _sigmoid(x: float) -> float:
    """Neat-python's sigmoid to 1e-13, with an exp that vectorises: a Taylor series at x / 256, squared eight times."""
    z = -STEEPNESS * x
    z = z if z < MAX_ARGUMENT else MAX_ARGUMENT
    z = z if z > -MAX_ARGUMENT else -MAX_ARGUMENT
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


@kernel(error_model="numpy", nogil=True)
def activate(nets: Nets, net: int, values: Array, sums: Array) -> None:
    """Compute one step of one net.

    Args:
        nets: Of which it is one.
        net: Its index.
        values: (inputs + nodes,) with its present inputs and its nodes of the step before; changed in place.
        sums: (nodes or more,) scratch.
    """
    first, end = nets.first_node[net], nets.first_node[net + 1]
    inputs = values.size - (end - first)
    for node in range(first, end):
        total = 0.0
        for link in range(nets.first_link[node], nets.first_link[node + 1]):
            total += values[nets.source[link]] * nets.weight[link]
        sums[node - first] = nets.bias[node] + nets.response[node] * total
    for node in range(end - first):
        values[inputs + node] = _sigmoid(sums[node])
