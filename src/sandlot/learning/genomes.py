"""The genomes of NEAT: nets for neat-python's reproduction, with crossover and mutation as in MultiNEAT.

A mutation adds a node, adds a link, removes a link or changes weights, never several of these. Genes are immutable, so
that children share them with their parents: copying a genome copies two dictionaries.
"""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import neat
import numpy as np
from neat.graphs import creates_cycle

from sandlot.models.nets import Nets
from sandlot.physics.swimming.nets import EXTRA_INPUTS

if TYPE_CHECKING:
    from sandlot.learning.neat import Neat

Link: TypeAlias = tuple[int, float]
"""Innovation number and weight; with a class instead, a generation takes a third longer."""
MAX_TRIES = 32
"""Draws of a link to add: one that exists already, or is of the wrong kind, is drawn again."""

WEIGHT_COEFFICIENT = 0.5
"""Factor on the differences of weights in the distance of two genomes."""


class Genome(neat.DefaultGenome):
    """A net, the frequency of its clock [Hz], and whether its simulation exploded."""

    nodes: dict[int, Any]
    connections: dict[tuple[int, int], Link]
    frequency: float
    exploded: bool = False
    _crossed: bool

    def configure_new(self, config: Any) -> None:
        """Link every input to every output; neat-python would add loops where loops are allowed."""
        rates: Neat = config.rates
        tracker = config.innovation_tracker
        self.nodes = {key: self.create_node(config, key) for key in config.output_keys}
        for i in config.input_keys:
            for o in config.output_keys:
                number = tracker.get_innovation_number(i, o, "initial_connection")
                self.connections[i, o] = number, random.uniform(-rates.start, rates.start)
        self.frequency = random.uniform(rates.slowest, rates.fastest)

    def configure_crossover(self, genome1: Self, genome2: Self, config: Any) -> None:
        """Make a child of one parent or of two; its frequency is drawn from both parents."""
        better, other = (genome1, genome2) if genome1.fitness > genome2.fitness else (genome2, genome1)
        self.frequency = random.choice((genome1, genome2)).frequency
        self._crossed = random.random() < config.rates.crossover
        if not self._crossed:
            self.nodes, self.connections = dict(genome1.nodes), dict(genome1.connections)
            return
        self.nodes, self.connections = dict(better.nodes), dict(better.connections)
        for key, link in other.connections.items():
            own = self.connections.get(key)
            if own is not None and own[0] == link[0] and random.random() < 0.5:
                self.connections[key] = link

    def mutate(self, config: Any) -> None:
        """Apply one kind of mutation, and perhaps draw a new frequency."""
        rates: Neat = config.rates
        if random.random() < rates.clock_mutation:
            self.frequency = random.uniform(rates.slowest, rates.fastest)
        if self._crossed and random.random() >= rates.mutation:
            return
        kinds = (self.mutate_add_node, self.mutate_add_connection, self._remove_link, self._mutate_weights)
        weights = (rates.add_node, rates.add_link, rates.remove_link, rates.weights)
        random.choices(kinds, weights)[0](config)

    def mutate_add_node(self, config: Any) -> None:
        """Replace a link by two with a node between; neat-python would keep the link, disabled."""
        if not self.connections:
            return
        i, o = random.choice(list(self.connections))
        _, weight = self.connections.pop((i, o))
        node = config.get_new_node_key(self.nodes)
        self.nodes[node] = self.create_node(config, node)
        number = config.innovation_tracker.get_innovation_number
        self.connections[i, node] = number(i, node, "add_node_in"), 1.0
        self.connections[node, o] = number(node, o, "add_node_out"), weight

    def mutate_add_connection(self, config: Any) -> None:
        """Add a link, which closes a loop with probability ``recurrent``; none if `MAX_TRIES` draws fail."""
        rates: Neat = config.rates
        loop = random.random() < rates.recurrent
        nodes = list(self.nodes)
        sources = nodes if loop else [*config.input_keys, *nodes]
        for _ in range(MAX_TRIES):
            key = random.choice(sources), random.choice(nodes)
            if key in self.connections or (key[0] >= 0 and creates_cycle(self.connections, key) != loop):
                continue
            number = config.innovation_tracker.get_innovation_number(*key, "add_connection")
            self.connections[key] = number, random.uniform(-rates.start, rates.start)
            return

    def _remove_link(self, _config: Any) -> None:
        self.mutate_delete_connection()

    def _mutate_weights(self, config: Any) -> None:
        rates: Neat = config.rates
        replaced, shifted = (0.2, 0.7) if random.random() < rates.severe else (0.05, rates.shift_rate)
        limit, shift, replace, draw = rates.limit, rates.shift, rates.replace, random.random
        for key, (innovation, weight) in self.connections.items():
            pick = draw()
            if pick < replaced + shifted:
                weight = replace * (2.0 * draw() - 1.0) if pick < replaced else weight + shift * (2.0 * draw() - 1.0)
                self.connections[key] = innovation, min(max(weight, -limit), limit)

    def distance(self, other: Self, config: Any) -> float:
        """Share of nodes and of links that only one of the two has, plus weight differences, as in neat-python."""
        if config.one_species:
            return 0.0
        difference, shared = 0.0, 0
        for key, (_, weight) in self.connections.items():
            twin = other.connections.get(key)
            if twin is not None:
                shared += 1
                difference += abs(weight - twin[1])
        links, others = len(self.connections), len(other.connections)
        nodes = len(self.nodes.keys() ^ other.nodes.keys()) / max(len(self.nodes), len(other.nodes))
        return nodes + (links + others - 2 * shared + WEIGHT_COEFFICIENT * difference) / max(links, others, 1)


def flatten(genomes: Sequence[Genome], joints: int) -> Nets:
    """Convert genomes for the compiled nets."""
    inputs = joints + EXTRA_INPUTS
    fixed = {-k - 1: k for k in range(inputs)} | {k: inputs + k for k in range(joints)}
    source: list[int] = []
    target: list[int] = []
    weights: list[float] = []
    first_node = [0]
    for genome in genomes:
        start = first_node[-1]
        indices = fixed
        if len(genome.nodes) > joints:
            hidden = [key for key in genome.nodes if key >= joints]
            indices = fixed | dict(zip(hidden, range(inputs + joints, inputs + joints + len(hidden)), strict=True))
        offset = start - inputs
        source += [indices[i] for i, _ in genome.connections]
        target += [indices[o] + offset for _, o in genome.connections]
        weights += [weight for _, weight in genome.connections.values()]
        first_node.append(start + len(genome.nodes))
    nodes = first_node[-1]
    targets = np.array(target, np.int64)
    order = np.argsort(targets, kind="stable")
    first_link = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=nodes))])
    return Nets(
        np.array(first_node),
        first_link,
        np.array(source, np.int64)[order],
        np.array(weights)[order],
        np.zeros(nodes),
        np.ones(nodes),
    )
