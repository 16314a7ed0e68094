"""A genetic algorithm on DEAP's operators, with the two sets of settings that the source uses.

The whole population is evaluated by one call, so that the simulation behind it can be batched.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from sandlot.extras import need
from sandlot.kernels.randomness import children
from sandlot.learning.population import find_exploded, refuse_if_all, seeded
from sandlot.settings import Settings
from sandlot.typing import Array, IntArray

if TYPE_CHECKING:
    from sandlot.learning.individuals import Individual

Evaluate = Callable[[Array], Array]
"""Genes (individuals, genes) in, fitness (individuals,) out, to be maximised; NaN if the simulation exploded."""


@dataclass(frozen=True)
class History:
    """Results of a search, by generation.

    Attributes:
        best: (generations,) fitness of the best individual.
        mean: (generations,) fitness of all individuals that did not explode.
        genes: (generations, genes) of the best individual.
        evaluations: (generations,) since the start.
        exploded: (generations,) number of individuals that exploded.
    """

    best: Array
    mean: Array
    genes: Array
    evaluations: IntArray
    exploded: IntArray

    @property
    def champion(self) -> Array:
        """Genes of the best individual of all generations: (genes,)."""
        return self.genes[int(np.argmax(self.best))]


class Genetic(Settings):
    """How a population is selected, crossed and mutated.

    Attributes:
        population: Number of individuals.
        generations: Number of generations, including the random first one.
        tournament: Size of a tournament, drawn with replacement; the best becomes a parent.
        crossover: ``one-point`` swaps the genes behind a random point, ``blend`` is simulated binary crossover.
        crossover_rate: Probability that two parents are crossed.
        mutation: ``uniform`` draws a new value from the gene's range, ``polynomial`` changes the gene a little.
        mutation_rate: Probability that a gene is mutated.
        crowding: Of simulated binary crossover and polynomial mutation: the higher, the more children are like parents.
    """

    population: int = Field(120, ge=2, le=100_000)
    generations: int = Field(1000, ge=1, le=1_000_000)
    tournament: int = Field(3, ge=1, le=100_000)
    crossover: Literal["one-point", "blend"] = "blend"
    crossover_rate: float = Field(0.9, ge=0.0, le=1.0)
    mutation: Literal["uniform", "polynomial"] = "polynomial"
    mutation_rate: float = Field(1.0 / 3.0, ge=0.0, le=1.0)
    crowding: float = Field(20.0, ge=0.0)


JOINT_BY_JOINT = Genetic(
    tournament=2, crossover="one-point", crossover_rate=1.0, mutation="uniform", mutation_rate=0.01
)
"""Settings of section 7.1, for 21 genes."""

SHARED = Genetic()
"""Settings of section 7.7, for 3 genes. Its mutation probability of a third is taken to be per gene."""


def evolve(
    evaluate: Evaluate,
    low: Sequence[float],
    high: Sequence[float],
    genetic: Genetic,
    seed: np.random.SeedSequence,
    progress: Callable[[int], None] = lambda generation: None,
) -> History:
    """Evolve a population.

    Args:
        evaluate: Called once for each generation, with its new individuals.
        low: Minimum of every gene.
        high: Maximum of every gene.
        genetic: The algorithm's settings.
        seed: The same seed gives the same search.
        progress: Called with the number of finished generations.

    Raises:
        SandlotError: If a fitness is infinite, or a whole generation explodes.
    """
    need("deap", "evolve")
    from sandlot.learning.individuals import Individual

    first, rest = children(seed, 2)
    low, high = [float(x) for x in low], [float(x) for x in high]
    genes = np.random.default_rng(first).uniform(low, high, (genetic.population, len(low)))
    individuals = [Individual(row) for row in genes.tolist()]
    best, mean, leaders, counts, losses = [], [], [], [], []
    evaluations = 0
    with seeded(rest):
        for generation in range(genetic.generations):
            if generation > 0:
                individuals = _offspring(individuals, low, high, genetic)
            fresh = [each for each in individuals if not each.fitness.valid]
            if fresh:
                scores = evaluate(np.array(fresh))
                scores = np.where(find_exploded(scores, generation), -np.inf, scores)
                for each, score in zip(fresh, scores.tolist(), strict=True):
                    each.fitness.values = (score,)
            evaluations += len(fresh)
            fitness = np.array([each.fitness.values[0] for each in individuals])
            exploded = np.isinf(fitness)
            refuse_if_all(exploded, generation)
            leader = int(np.argmax(fitness))
            best.append(fitness[leader])
            mean.append(fitness[~exploded].mean())
            leaders.append(list(individuals[leader]))
            counts.append(evaluations)
            losses.append(exploded.sum())
            progress(generation + 1)
    return History(*(np.array(each) for each in (best, mean, leaders, counts, losses)))


def _offspring(
    parents: "list[Individual]", low: list[float], high: list[float], genetic: Genetic
) -> "list[Individual]":
    """The next generation."""
    from deap import tools

    from sandlot.learning.individuals import Individual

    selected = tools.selTournament(parents, len(parents), genetic.tournament)
    children_: list[Individual] = []
    for parent in selected:
        child = Individual(parent)
        child.fitness.values = parent.fitness.values
        children_.append(child)
    for one, other in zip(children_[::2], children_[1::2], strict=False):
        if random.random() < genetic.crossover_rate:
            if genetic.crossover == "blend":
                tools.cxSimulatedBinaryBounded(one, other, genetic.crowding, low, high)
            else:
                tools.cxOnePoint(one, other)
            del one.fitness.values, other.fitness.values
    for child in children_:
        before = list(child)
        if genetic.mutation == "polynomial":
            tools.mutPolynomialBounded(child, genetic.crowding, low, high, genetic.mutation_rate)
        else:
            for k in range(len(child)):
                if random.random() < genetic.mutation_rate:
                    child[k] = random.uniform(low[k], high[k])
        if child != before and child.fitness.valid:
            del child.fitness.values
    return children_
