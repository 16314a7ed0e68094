"""What evolves in NEAT: nets as neat-python's reproduction wants them, crossed and mutated as by MultiNEAT.

One kind of mutation at a time. Genes are never changed, so that children can share them with their parents: most of a
generation is then copied at the speed of a dictionary.
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
"""Innovation number and weight; a class of its own would make breeding a generation a third slower."""
TRIES = 32
"""How often an added link is drawn again, if there is one already or it is of the other kind."""

WEIGHT_SHARE = 0.5
"""Of differences of weights in the distance of two genomes."""


class Genome(neat.DefaultGenome):
    """A net and the frequency of its clock [Hz]; ``exploded`` if the simulation with it did."""

    nodes: dict[int, Any]
    connections: dict[tuple[int, int], Link]
    frequency: float
    exploded: bool = False
    _crossed: bool

    def configure_new(self, config: Any) -> None:
        """Every input is linked to every output; neat-python would add loops as soon as loops are allowed."""
        chance: Neat = config.chance
        tracker = config.innovation_tracker
        self.nodes = {key: self.create_node(config, key) for key in config.output_keys}
        for i in config.input_keys:
            for o in config.output_keys:
                number = tracker.get_innovation_number(i, o, "initial_connection")
                self.connections[i, o] = number, random.uniform(-chance.start, chance.start)
        self.frequency = random.uniform(chance.slowest, chance.fastest)

    def configure_crossover(self, genome1: Self, genome2: Self, config: Any) -> None:
        """A child of one parent or of two; its frequency is that of either."""
        better, other = (genome1, genome2) if genome1.fitness > genome2.fitness else (genome2, genome1)
        self.frequency = random.choice((genome1, genome2)).frequency
        self._crossed = random.random() < config.chance.crossover
        if not self._crossed:
            self.nodes, self.connections = dict(genome1.nodes), dict(genome1.connections)
            return
        self.nodes, self.connections = dict(better.nodes), dict(better.connections)
        for key, link in other.connections.items():
            own = self.connections.get(key)
            if own is not None and own[0] == link[0] and random.random() < 0.5:
                self.connections[key] = link

    def mutate(self, config: Any) -> None:
        """Change one thing, and perhaps the frequency."""
        chance: Neat = config.chance
        if random.random() < chance.clock_mutation:
            self.frequency = random.uniform(chance.slowest, chance.fastest)
        if self._crossed and random.random() >= chance.mutation:
            return
        kinds = (self.mutate_add_node, self.mutate_add_connection, self._remove_link, self._mutate_weights)
        rates = (chance.add_node, chance.add_link, chance.remove_link, chance.weights)
        random.choices(kinds, rates)[0](config)

    def mutate_add_node(self, config: Any) -> None:
        """Replace a link by two with a node between; neat-python would keep it, disabled."""
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
        """Add a link that closes a loop, or one that does not, whichever is drawn; give up if none is found."""
        chance: Neat = config.chance
        loop = random.random() < chance.recurrent
        nodes = list(self.nodes)
        sources = nodes if loop else [*config.input_keys, *nodes]
        for _ in range(TRIES):
            key = random.choice(sources), random.choice(nodes)
            if key in self.connections or (key[0] >= 0 and creates_cycle(self.connections, key) != loop):
                continue
            number = config.innovation_tracker.get_innovation_number(*key, "add_connection")
            self.connections[key] = number, random.uniform(-chance.start, chance.start)
            return

    def _remove_link(self, _config: Any) -> None:
        self.mutate_delete_connection()

    def _mutate_weights(self, config: Any) -> None:
        chance: Neat = config.chance
        anew, change = (0.2, 0.7) if random.random() < chance.severe else (0.05, chance.shift_rate)
        limit, shift, replace, draw, touched = chance.limit, chance.shift, chance.replace, random.random, anew + change
        for key, (innovation, weight) in self.connections.items():
            pick = draw()
            if pick < touched:
                weight = replace * (2.0 * draw() - 1.0) if pick < anew else weight + shift * (2.0 * draw() - 1.0)
                self.connections[key] = innovation, min(max(weight, -limit), limit)

    def distance(self, other: Self, config: Any) -> float:
        """As neat-python's, where all nodes are alike: share of links and of nodes that only one has, plus weights."""
        if config.one_species:
            return 0.0
        apart, shared = 0.0, 0
        for key, (_, weight) in self.connections.items():
            twin = other.connections.get(key)
            if twin is not None:
                shared += 1
                apart += abs(weight - twin[1])
        links, others = len(self.connections), len(other.connections)
        nodes = len(self.nodes.keys() ^ other.nodes.keys()) / max(len(self.nodes), len(other.nodes))
        return nodes + (links + others - 2 * shared + WEIGHT_SHARE * apart) / max(links, others, 1)


def flatten(genomes: Sequence[Genome], joints: int) -> Nets:
    """Genomes as the kernel takes them."""
    inputs = joints + EXTRA_INPUTS
    pins = {-k - 1: k for k in range(inputs)} | {k: inputs + k for k in range(joints)}
    source: list[int] = []
    target: list[int] = []
    weights: list[float] = []
    first_node = [0]
    for genome in genomes:
        start = first_node[-1]
        places = pins
        if len(genome.nodes) > joints:
            hidden = [key for key in genome.nodes if key >= joints]
            places = pins | dict(zip(hidden, range(inputs + joints, inputs + joints + len(hidden)), strict=True))
        offset = start - inputs
        source += [places[i] for i, _ in genome.connections]
        target += [places[o] + offset for _, o in genome.connections]
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
