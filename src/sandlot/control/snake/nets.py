"""Neural networks as controllers: small recurrent nets that give the target angles of a swimming snake's joints.

`sandlot.models.nets` computes them, and describes their inputs and outputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from sandlot.control.controller import Controller, Observation
from sandlot.control.snake.steering import OBSERVED
from sandlot.errors import SandlotError
from sandlot.models.nets import Nets, activate
from sandlot.physics.swimming.nets import CLOCK, EXTRA_INPUTS, ONE
from sandlot.robots.snake import Snake
from sandlot.settings import Settings, nearest
from sandlot.typing import Array, IntArray


@dataclass(frozen=True, eq=False)
class Net:
    """One net, and the frequency of its clock input.

    Attributes:
        joints: Number of outputs, which are the first nodes.
        frequency: Frequency of the clock input [Hz].
        first_link: (nodes + 1,) index of the first link into each node.
        source: (links,) where a link comes from: the index of an input, or the number of inputs plus that of a node.
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
        """Number of hidden nodes."""
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
    """Concatenate nets into the arrays that the kernel takes."""
    nodes = np.cumsum([0, *(net.bias.size for net in nets)])
    links = np.cumsum([0, *(net.source.size for net in nets)])
    first_link = [net.first_link[:-1] + start for net, start in zip(nets, links[:-1], strict=True)]
    return Nets(
        nodes,
        np.concatenate([*first_link, links[-1:]]),
        *(np.concatenate([getattr(net, name) for net in nets]) for name in Nets._fields[2:]),
    )


def unpack(nets: Nets, index: int, joints: int, frequency: float) -> Net:
    """One of the packed nets."""
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


class NetController(Controller):
    """A net as a controller of the water world."""

    def __init__(self, net: Net, snake: Snake) -> None:
        """With a net, and the body it drives.

        Raises:
            SandlotError: If the net is for another number of joints.
        """
        if net.joints != snake.joints:
            raise SandlotError(f"a net for {net.joints} joints cannot drive {snake.joints}")
        self.net, self.snake, self._nets = net, snake, pack([net])
        self._sums = np.zeros(net.bias.size)

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes: all nodes are 0."""
        if members is None:
            self._values = np.zeros((len(seeds), self.net.joints + EXTRA_INPUTS + self.net.bias.size))
        else:
            self._values[members] = 0.0

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Array:
        """Target angles of the joints at the next command: (n, joints) [rad]."""
        which = range(len(self._values)) if members is None else members
        return np.stack([self._activate(self._values[k], seen) for k, seen in zip(which, observations, strict=True)])

    def _activate(self, values: Array, observation: Array) -> Array:
        net, joints = self.net, self.net.joints
        inputs = joints + EXTRA_INPUTS
        values[:joints] = observation[OBSERVED : OBSERVED + joints]
        values[joints + CLOCK], values[joints + ONE] = np.sin(2.0 * np.pi * net.frequency * observation[0]), 1.0
        activate(self._nets, 0, values, self._sums)
        return (2.0 * values[inputs : inputs + joints] - 1.0) * self.snake.max_angle


class NodeCard(Settings):
    """A node of a net in a file."""

    name: str
    bias: float = 0.0
    response: float = 1.0


class Connection(Settings):
    """A link of a net in a file; ``source`` and ``target`` are names."""

    source: str
    target: str
    weight: float


class NetCard(Settings):
    """A net in a file.

    Attributes:
        kind: Always ``net``.
        links: Number of links of the body it is for.
        joints: Number of joints of that body.
        frequency: Frequency of the clock input [Hz].
        inputs: Names of the inputs: joint angles [rad], ``sin(2 pi frequency t)``, and 1.
        outputs: Names of the outputs, one for each joint; 0 to 1 spans its range.
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
    """The card of a net."""
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
    """The net of a card, which a person may have edited.

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
    """Names of the inputs and of the outputs."""
    angles, outputs = (tuple(f"{word} {j}" for j in range(joints)) for word in ("angle", "joint"))
    return (*angles, "clock", "one"), outputs
