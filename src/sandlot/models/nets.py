"""Small recurrent neural networks, compiled.

All nodes of a net are computed at once from the values of the step before, as in neat-python's ``RecurrentNetwork``:
every link has a delay of one step, except those from inputs. So links may form loops, and the order of nodes does not
matter. Unlike there, a node without links gives ``sigmoid(bias)``, not 0.

Nets of different sizes lie one after the other in flat arrays (`Nets`).
"""

from typing import NamedTuple

from sandlot.kernels import kernel
from sandlot.typing import Array, IntArray

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

    first_node: IntArray
    first_link: IntArray
    source: IntArray
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
    first_link: IntArray, source: IntArray, weight: Array, bias: Array, response: Array, values: Array, sums: Array
) -> None:
    """Compute one step of one net.

    Args:
        first_link: (nodes + 1,), as in `Nets`, as are the next four, for this net alone.
        source: (links,)
        weight: (links,)
        bias: (nodes,)
        response: (nodes,)
        values: (inputs + nodes,) with the inputs of now and the nodes of the step before; changed in place.
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
