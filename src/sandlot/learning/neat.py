"""NEAT: evolution of the structure, the weights and the clock frequency of nets (section 7.2 of the source).

neat-python provides reproduction, species, stagnation and innovation numbers of NEAT (Stanley and Miikkulainen 2002).
The source's table 7.1 has the parameters of another library, MultiNEAT; `Neat` documents each of them. Crossover and
mutation follow MultiNEAT, in `sandlot.learning.genomes.Genome`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from pydantic import Field

from sandlot.control.snake.nets import Net, unpack
from sandlot.extras import need
from sandlot.learning.population import below, find_exploded, refuse_if_all, seeded
from sandlot.models.nets import Nets
from sandlot.physics.swimming.nets import EXTRA_INPUTS
from sandlot.settings import Settings
from sandlot.typing import Array, IntArray

EvaluateNets = Callable[[Nets, Array], Array]
"""Nets and the frequencies of their clocks (nets,) [Hz] in, fitness (nets,) out, to be maximised; NaN if the simulation
exploded."""


class Neat(Settings):
    """Settings; defaults are those of table 7.1, with its names in brackets.

    Each mutation is of one kind, drawn with the rates below. neat-python's sigmoid is 5 times as steep as
    ``1 / (1 + exp(-x))``, MultiNEAT's by default 4.9 times. Nets start with every input linked to every output.

    CompatTresholdModifier, YoungAgeTreshold, OldAgeTreshold, MinSpecies and MaxSpecies are left out: two genomes never
    differ by as much as the threshold of 50, so that all are one species and these have no effect. The seed is left out
    because every replicate has its own. Parameters that the table does not have are MultiNEAT's defaults: a quarter of
    a species become parents, and its best individual is kept unchanged. Matching genes of two parents are drawn from
    either, never averaged.

    Attributes:
        population: Number of individuals.
        generations: Number of generations, with the random first one.
        threshold: Minimum distance of genomes of different species (CompatTreshold).
        stagnation: Generations without progress after which a species dies out (SpeciesMaxStagnation).
        survivors: Share of a species that become parents, with equal probability (RouletteWheelSelection is off).
        crossover: Probability that a child has two parents (CrossoverRate).
        mutation: Probability that a child of two parents is mutated (OverallMutationRate); others always are.
        add_node: Rate of splitting a link (MutateAddNeuronProb).
        add_link: Rate of adding one (MutateAddLinkProb).
        remove_link: Rate of removing one (MutateRemLinkProb).
        weights: Rate of changing weights (MutateWeightsProb).
        recurrent: Probability that an added link closes a loop (RecurrentProb).
        severe: Probability of a severe change of weights: 20% are replaced and 70% shifted, as in MultiNEAT
            (MutateWeightsSevereProb).
        shift_rate: Probability that a weight is shifted otherwise (WeightMutationRate); 5% are then replaced.
        shift: Maximum change of a weight (Weight Mutation Max Power).
        replace: Maximum size of a new weight (WeightReplacementMaxPower), before it is clipped to `limit`.
        limit: Maximum size of a weight (MaxWeight).
        start: Maximum size of a weight in the first generation (RandomizedWeights, randomrange).
        clock_mutation: Probability that a child's clock gets a new frequency.
        slowest: Minimum frequency of a clock [Hz].
        fastest: Maximum frequency of a clock [Hz].
    """

    population: int = Field(120, ge=2, le=100_000)
    generations: int = Field(1000, ge=1, le=1_000_000)
    threshold: float = Field(50.0, gt=0.0)
    stagnation: int = Field(1000, ge=1, le=1_000_000)
    survivors: float = Field(0.25, gt=0.0, le=1.0)
    crossover: float = Field(0.4, ge=0.0, le=1.0)
    mutation: float = Field(0.33, ge=0.0, le=1.0)
    add_node: float = Field(0.4, ge=0.0)
    add_link: float = Field(0.4, ge=0.0)
    remove_link: float = Field(0.05, ge=0.0)
    weights: float = Field(0.9, gt=0.0)
    recurrent: float = Field(0.25, ge=0.0, le=1.0)
    severe: float = Field(0.5, ge=0.0, le=1.0)
    shift_rate: float = Field(0.75, ge=0.0, le=1.0)
    shift: float = Field(10.0, ge=0.0)
    replace: float = Field(50.0, ge=0.0)
    limit: float = Field(20.0, gt=0.0)
    start: float = Field(1.0, ge=0.0)
    clock_mutation: float = Field(0.1, ge=0.0, le=1.0)
    slowest: float = Field(0.01, ge=0.0)
    fastest: float = Field(4.0, gt=0.0)


@dataclass(frozen=True)
class NetHistory:
    """Results of an evolution of nets, by generation.

    Attributes:
        best: (generations,) fitness of the best individual.
        mean: (generations,) fitness of all individuals that did not explode.
        frequencies: (generations,) of the best individual's clock [Hz].
        hidden: (generations,) hidden nodes of the best individual.
        links: (generations,) of the best individual.
        evaluations: (generations,) since the start.
        exploded: (generations,) number of individuals that exploded.
        champion: The best individual of all generations.
    """

    best: Array
    mean: Array
    frequencies: Array
    hidden: IntArray
    links: IntArray
    evaluations: IntArray
    exploded: IntArray
    champion: Net


def evolve_nets(
    evaluate: EvaluateNets,
    joints: int,
    settings: Neat,
    seed: np.random.SeedSequence,
    progress: Callable[[int], None] = lambda generation: None,
) -> NetHistory:
    """Evolve nets.

    Args:
        evaluate: Called once for each generation, with its new individuals.
        joints: Number of outputs; inputs are as many joint angles, the clock, and 1.
        settings: Of the algorithm.
        seed: The same seed gives the same evolution.
        progress: Called with the number of finished generations.

    Raises:
        SandlotError: If a fitness is infinite, or a whole generation explodes.
    """
    neat = need("neat", "evolve")
    from sandlot.learning.genomes import flatten

    config = _config(joints, settings)
    best, mean, frequencies, sizes, counts, losses = [], [], [], [], [], []
    evaluations = 0
    champion: Any = None
    with seeded(seed):
        population = neat.Population(config)
        for generation in range(settings.generations):
            if generation > 0:
                genomes = population.reproduction.reproduce(config, population.species, config.pop_size, generation - 1)
                population.species.speciate(config, genomes, generation - 1)
                population.population = genomes
            everyone = list(population.population.values())
            fresh = [genome for genome in everyone if genome.fitness is None]
            if fresh:
                scores = evaluate(flatten(fresh, joints), np.array([genome.frequency for genome in fresh]))
                exploded = find_exploded(scores, generation)
                for genome, score, lost in zip(fresh, scores.tolist(), exploded.tolist(), strict=True):
                    genome.fitness, genome.exploded = score, lost
            evaluations += len(fresh)
            exploded = np.array([genome.exploded for genome in everyone])
            refuse_if_all(exploded, generation)
            known = np.array([genome.fitness for genome in everyone if not genome.exploded])
            # Reproduction sums fitness, so that exploded genomes need a finite one.
            for genome in everyone:
                if genome.exploded:
                    genome.fitness = float(below(known))
            leader = max(everyone, key=lambda genome: genome.fitness)
            if champion is None or leader.fitness > champion.fitness:
                champion = leader
            best.append(leader.fitness)
            mean.append(float(known.mean()))
            frequencies.append(leader.frequency)
            sizes.append((len(leader.nodes) - joints, len(leader.connections)))
            counts.append(evaluations)
            losses.append(exploded.sum())
            progress(generation + 1)
    hidden, links = np.array(sizes).T
    net = unpack(flatten([champion], joints), 0, joints, champion.frequency)
    fitness, courses = (np.array(best), np.array(mean), np.array(frequencies)), (np.array(counts), np.array(losses))
    return NetHistory(*fitness, hidden, links, *courses, net)


def _config(joints: int, settings: Neat) -> Any:
    """The configuration of neat-python, whose own class can only be read from a file."""
    import neat

    from sandlot.learning.genomes import WEIGHT_COEFFICIENT, Genome

    fixed = {"init_stdev": 0.0, "replace_rate": 0.0, "mutate_rate": 0.0, "mutate_power": 0.0}
    genome: dict[str, Any] = {
        f"{name}_{key}": value
        for name, mean in (("bias", 0.0), ("response", 1.0), ("time_constant", 1.0), ("weight", 0.0))
        for key, value in {**fixed, "init_mean": mean, "max_value": 1.0, "min_value": 0.0}.items()
    }
    for name, value in (("activation", "sigmoid"), ("aggregation", "sum")):
        genome |= {f"{name}_default": value, f"{name}_options": value, f"{name}_mutate_rate": 0.0}
    genome |= {"num_inputs": joints + EXTRA_INPUTS, "num_outputs": joints, "num_hidden": 0, "feed_forward": "false"}
    genome |= {"compatibility_disjoint_coefficient": 1.0, "compatibility_weight_coefficient": WEIGHT_COEFFICIENT}
    genome |= {"conn_add_prob": settings.add_link, "conn_delete_prob": settings.remove_link, "node_delete_prob": 0.0}
    genome |= {"node_add_prob": settings.add_node, "enabled_default": "true", "enabled_mutate_rate": 0.0}
    genome_config = Genome.parse_config(genome)
    genome_config.rates = settings
    # The largest possible distance: 2 each for nodes and links that only one genome has, plus weights. With a larger
    # threshold all genomes are one species.
    genome_config.one_species = settings.threshold > 4.0 + WEIGHT_COEFFICIENT * 2.0 * settings.limit
    parents = {"elitism": 1, "survival_threshold": settings.survivors, "min_species_size": 1}
    progress = {"species_fitness_func": "max", "max_stagnation": settings.stagnation, "species_elitism": 1}
    return SimpleNamespace(
        pop_size=settings.population,
        fitness_criterion="max",
        no_fitness_termination=True,
        seed=None,
        genome_type=Genome,
        genome_config=genome_config,
        species_set_type=neat.DefaultSpeciesSet,
        species_set_config=neat.DefaultSpeciesSet.parse_config({"compatibility_threshold": settings.threshold}),
        stagnation_type=neat.DefaultStagnation,
        stagnation_config=neat.DefaultStagnation.parse_config(progress),
        reproduction_type=neat.DefaultReproduction,
        reproduction_config=neat.DefaultReproduction.parse_config(parents),
    )
