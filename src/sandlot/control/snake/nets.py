"""Nets as controllers: small recurrent neural networks that tell a swimming snake's joints where to be.

How a net is computed, and what its inputs and outputs are, says `sandlot.models.nets`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from sandlot.control.snake.steering import OBSERVED
from sandlot.errors import SandlotError
from sandlot.models.nets import Nets, activate
from sandlot.physics.swimming.nets import CLOCK, EXTRA_INPUTS, ONE
from sandlot.robots.snake import Snake
from sandlot.settings import Settings, nearest
from sandlot.typing import Array, IntArray


@dataclass(frozen=True, eq=False)
class Net:
    """One net, and the frequency of its clock.

    Attributes:
        joints: As many as it has outputs, which are its first nodes.
        frequency: Of the clock [Hz].
        first_link: (nodes + 1,) where the links into each node begin.
        source: (links,) what a link comes from: an input, or the number of inputs plus a node.
        weight: (links,)
        bias: (nodes,)
        response: (nodes,)
    """

    joints: int
    frequency: float
    first_link: IntArray
    source: IntArray
    weight: Array
    bias: Array
    response: Array

    @property
    def hidden(self) -> int:
        """How many nodes are neither inputs nor outputs."""
        return self.bias.size - self.joints

    @property
    def target(self) -> IntArray:
        """The node that each link leads to: (links,)."""
        return np.repeat(np.arange(self.bias.size), np.diff(self.first_link))


def make_net(
    joints: int, frequency: float, source: ArrayLike, target: ArrayLike, weight: ArrayLike, bias: Array, response: Array
) -> Net:
    """A net from links in any order: ``source``, ``target`` and ``weight`` (links,), as in `Net`."""
    targets = np.asarray(target, np.int64)
    order = np.argsort(targets, kind="stable")
    first_link = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=bias.size))])
    sources, weights = np.asarray(source, np.int64)[order], np.asarray(weight, np.float64)[order]
    return Net(joints, frequency, first_link, sources, weights, bias, response)


def pack(nets: Sequence[Net]) -> Nets:
    """Nets as the kernel takes them, one after the other."""
    nodes = np.cumsum([0, *(net.bias.size for net in nets)])
    links = np.cumsum([0, *(net.source.size for net in nets)])
    first_link = [net.first_link[:-1] + start for net, start in zip(nets, links[:-1], strict=True)]
    return Nets(
        nodes,
        np.concatenate([*first_link, links[-1:]]),
        *(np.concatenate([getattr(net, name) for net in nets]) for name in Nets._fields[2:]),
    )


def unpack(nets: Nets, index: int, joints: int, frequency: float) -> Net:
    """One of many."""
    start, end = nets.first_node[index : index + 2]
    first, last = nets.first_link[[start, end]]
    links, nodes = slice(first, last), slice(start, end)
    return Net(
        joints,
        frequency,
        nets.first_link[start : end + 1] - first,
        nets.source[links].copy(),
        nets.weight[links].copy(),
        nets.bias[nodes].copy(),
        nets.response[nodes].copy(),
    )


class NetController:
    """Observation of the water world in, action out. The net starts anew whenever the time is 0."""

    def __init__(self, net: Net, snake: Snake) -> None:
        """A net, and the body it is to drive.

        Raises:
            SandlotError: If the net is for another number of joints.
        """
        if net.joints != snake.joints:
            raise SandlotError(f"a net for {net.joints} joints cannot drive {snake.joints}")
        self.net, self.snake = net, snake
        self._values = np.zeros(net.joints + EXTRA_INPUTS + net.bias.size)
        self._sums = np.zeros(net.bias.size)

    def __call__(self, observation: Array) -> Array:
        """Where the joints should be at the next command: (joints,) [rad]."""
        net, joints, time = self.net, self.net.joints, observation[0]
        if time == 0.0:
            self._values[:] = 0.0
        values, inputs = self._values, joints + EXTRA_INPUTS
        values[:joints] = observation[OBSERVED : OBSERVED + joints]
        values[joints + CLOCK], values[joints + ONE] = np.sin(2.0 * np.pi * net.frequency * time), 1.0
        activate(net.first_link, net.source, net.weight, net.bias, net.response, values, self._sums)
        return (2.0 * values[inputs : inputs + joints] - 1.0) * self.snake.max_angle


class NodeCard(Settings):
    """A node, in a file."""

    name: str
    bias: float = 0.0
    response: float = 1.0


class Connection(Settings):
    """A link, in a file; ``source`` and ``target`` are names."""

    source: str
    target: str
    weight: float


class NetCard(Settings):
    """A net, in a file.

    Attributes:
        kind: That it is a net.
        links: Of the body it is for.
        joints: Of the body it is for.
        frequency: Of its clock [Hz].
        inputs: Joint angles [rad], ``sin(2 pi frequency t)``, and 1.
        outputs: 0 to 1 for a joint at one end of its range to the other.
        nodes: Outputs first.
        connections: Between inputs and nodes.
    """

    kind: Literal["net"]
    links: int = Field(ge=3)
    joints: int = Field(ge=2)
    frequency: float
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[NodeCard, ...]
    connections: tuple[Connection, ...]


def to_card(net: Net) -> NetCard:
    """A net in words and numbers."""
    inputs, outputs = _names(net.joints)
    nodes = [*outputs, *(f"hidden {k}" for k in range(net.hidden))]
    names = [*inputs, *nodes]
    links = zip(net.source.tolist(), net.target.tolist(), net.weight.tolist(), strict=True)
    neurons = zip(nodes, net.bias.tolist(), net.response.tolist(), strict=True)
    return NetCard(
        kind="net",
        links=net.joints + 1,
        joints=net.joints,
        frequency=net.frequency,
        inputs=inputs,
        outputs=outputs,
        nodes=tuple(NodeCard(name=name, bias=bias, response=response) for name, bias, response in neurons),
        connections=tuple(Connection(source=names[i], target=nodes[k], weight=weight) for i, k, weight in links),
    )


def from_card(card: NetCard) -> Net:
    """A net from what `to_card` made, perhaps edited by hand.

    Raises:
        SandlotError: One line that says what does not fit.
    """
    inputs, outputs = _names(card.joints)
    nodes = tuple(node.name for node in card.nodes)
    for what, given, wanted in (
        ("links", card.links, card.joints + 1),
        ("inputs", card.inputs, inputs),
        ("outputs", card.outputs, outputs),
        ("the first nodes", nodes[: card.joints], outputs),
    ):
        if given != wanted:
            raise SandlotError(f"{what} of a net for {card.joints} joints must be {wanted}, not {given}")
    places = {name: k for k, name in enumerate((*inputs, *nodes))}
    if len(places) < len(inputs) + len(nodes):
        raise SandlotError("the names of a net's inputs and nodes must all differ")
    for link in card.connections:
        for end, known in ((link.source, places), (link.target, nodes)):
            if end not in known:
                raise SandlotError(f"a connection of the net names {end!r}; {nearest(end, list(known))}")
    return make_net(
        card.joints,
        card.frequency,
        [places[link.source] for link in card.connections],
        [places[link.target] - len(inputs) for link in card.connections],
        [link.weight for link in card.connections],
        np.array([node.bias for node in card.nodes]),
        np.array([node.response for node in card.nodes]),
    )


def _names(joints: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the inputs and of the outputs."""
    angles, outputs = (tuple(f"{word} {j}" for j in range(joints)) for word in ("angle", "joint"))
    return (*angles, "clock", "one"), outputs
