"""NSGA-II (Deb 2002, by DEAP's operators): the Pareto front of several objectives."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from sandlot.extras import need
from sandlot.kernels.randomness import children
from sandlot.learning.population import below, find_exploded, refuse_if_all, seeded
from sandlot.settings import Settings
from sandlot.typing import Array, IntArray

if TYPE_CHECKING:
    from sandlot.learning.individuals import Individual

EvaluateAll = Callable[[Array], Array]
"""Genes (individuals, genes) in, objectives (individuals, objectives) out, all to be maximised; NaN if the simulation
exploded."""


class Pareto(Settings):
    """Settings of the search.

    Attributes:
        population: Number of individuals; a multiple of 4, as DEAP selects them by fours.
        generations: Number of generations, with the random first one.
        crossover_rate: Probability that two parents are crossed.
        crowding: Of simulated binary crossover and polynomial mutation: the higher, the more children are like parents.
    """

    population: int = Field(120, ge=4, le=100_000, multiple_of=4)
    generations: int = Field(250, ge=1, le=1_000_000)
    crossover_rate: float = Field(0.9, ge=0.0, le=1.0)
    crowding: float = Field(20.0, ge=0.0)


@dataclass(frozen=True)
class Front:
    """Individuals that no other dominates, ordered by the first objective.

    Attributes:
        genes: (individuals, genes)
        objectives: (individuals, objectives)
        best: (generations, objectives) maximum of each objective.
        evaluations: (generations,) since the start.
        exploded: (generations,) number of new individuals that exploded; none of them is in the front.
    """

    genes: Array
    objectives: Array
    best: Array
    evaluations: IntArray
    exploded: IntArray


def find_front(
    evaluate: EvaluateAll,
    low: Sequence[float],
    high: Sequence[float],
    pareto: Pareto,
    seed: np.random.SeedSequence,
    progress: Callable[[int], None] = lambda generation: None,
) -> Front:
    """Find the Pareto front.

    Args:
        evaluate: Called once for each generation, with its new individuals.
        low: Minimum of every gene.
        high: Maximum of every gene.
        pareto: The algorithm's settings.
        seed: The same seed gives the same search.
        progress: Called with the number of finished generations.

    Raises:
        SandlotError: If an objective is infinite, or the whole first generation explodes.
    """
    tools = need("deap.tools", "evolve")
    from sandlot.learning.individuals import Fitness, Individual

    first, rest = children(seed, 2)
    low, high = [float(x) for x in low], [float(x) for x in high]
    genes = np.random.default_rng(first).uniform(low, high, (pareto.population, len(low)))
    best, counts, losses = [], [], []
    with seeded(rest):
        individuals: list[Individual] = []
        fresh = [Individual(row) for row in genes.tolist()]
        for generation in range(pareto.generations):
            if generation > 0:
                fresh = _offspring(individuals, low, high, pareto)
            scores = evaluate(np.array(fresh))
            exploded = find_exploded(scores, generation)
            known = np.array([each.fitness.values for each in individuals] + scores[~exploded].tolist())
            if not known.size:
                refuse_if_all(exploded, generation)
            scores = np.where(exploded[:, None], below(known), scores)
            for each, values in zip(fresh, scores.tolist(), strict=True):
                each.fitness = Fitness(tuple(values))
            individuals = tools.selNSGA2(individuals + fresh, pareto.population, nd="log")
            best.append(np.max([each.fitness.values for each in individuals], axis=0))
            counts.append((generation + 1) * pareto.population)
            losses.append(exploded.sum())
            progress(generation + 1)
        front = tools.sortLogNondominated(individuals, len(individuals), first_front_only=True)
    front.sort(key=lambda each: each.fitness.values)
    objectives = np.array([each.fitness.values for each in front])
    return Front(np.array(front), objectives, np.array(best), np.array(counts), np.array(losses))


def _offspring(parents: "list[Individual]", low: list[float], high: list[float], pareto: Pareto) -> "list[Individual]":
    """The next generation, of the same size."""
    from deap import tools

    from sandlot.learning.individuals import Individual

    fresh = [Individual(parent) for parent in tools.selTournamentDCD(parents, len(parents))]
    for one, other in zip(fresh[::2], fresh[1::2], strict=True):
        if random.random() < pareto.crossover_rate:
            tools.cxSimulatedBinaryBounded(one, other, pareto.crowding, low, high)
    for each in fresh:
        tools.mutPolynomialBounded(each, pareto.crowding, low, high, 1.0 / len(low))
    return fresh
