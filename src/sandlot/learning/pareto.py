"""NSGA-II: with several aims at once, find what nothing else beats in all of them (Deb 2002, by DEAP's operators)."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from deap import tools
from pydantic import Field

from sandlot.kernels.randomness import children
from sandlot.learning.chance import seeded
from sandlot.learning.explosions import below, find_exploded, refuse_if_all
from sandlot.learning.individuals import Fitness, Individual
from sandlot.settings import Settings
from sandlot.typing import Array, IntArray

EvaluateAll = Callable[[Array], Array]
"""Genes (individuals, genes) in, objectives (individuals, objectives) out; more is better in all. Those of one whose
simulation exploded are not numbers."""


class Pareto(Settings):
    """What can be set.

    Attributes:
        population: Individuals; a multiple of 4, as they are selected by fours.
        generations: How many, the random first one included.
        crossover_rate: Chance that two parents are crossed.
        crowding: Of simulated binary crossover and polynomial mutation: the higher, the more children are like parents.
    """

    population: int = Field(120, ge=4, multiple_of=4)
    generations: int = Field(250, ge=1)
    crossover_rate: float = Field(0.9, ge=0.0, le=1.0)
    crowding: float = Field(20.0, ge=0.0)


@dataclass(frozen=True)
class Front:
    """What no other individual beats in all objectives, ordered by the first.

    Attributes:
        genes: (individuals, genes)
        objectives: (individuals, objectives)
        best: (generations, objectives) greatest value of each.
        evaluations: (generations,) so far.
        exploded: (generations,) new individuals that did; none of them is in the front.
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
    """Find the front.

    Args:
        evaluate: Called once for each generation, with its new individuals.
        low: Least value of every gene.
        high: Greatest value of every gene.
        pareto: The algorithm's settings.
        seed: Same seed, same course.
        progress: Called with the number of finished generations.

    Raises:
        SandlotError: If an objective is infinite, or the whole first generation explodes.
    """
    first, rest = children(seed, 2)
    low, high = [float(x) for x in low], [float(x) for x in high]
    genes = np.random.default_rng(first).uniform(low, high, (pareto.population, len(low)))
    best, counts, losses = [], [], []
    with seeded(rest):
        people: list[Individual] = []
        fresh = [Individual(row) for row in genes.tolist()]
        for generation in range(pareto.generations):
            if generation > 0:
                fresh = _offspring(people, low, high, pareto)
            scores = evaluate(np.array(fresh))
            exploded = find_exploded(scores, generation)
            known = np.array([each.fitness.values for each in people] + scores[~exploded].tolist())
            if not known.size:
                refuse_if_all(exploded, generation)
            scores = np.where(exploded[:, None], below(known), scores)
            for each, values in zip(fresh, scores.tolist(), strict=True):
                each.fitness = Fitness(tuple(values))
            people = tools.selNSGA2(people + fresh, pareto.population, nd="log")
            best.append(np.max([each.fitness.values for each in people], axis=0))
            counts.append((generation + 1) * pareto.population)
            losses.append(exploded.sum())
            progress(generation + 1)
        front = tools.sortLogNondominated(people, len(people), first_front_only=True)
    front.sort(key=lambda each: each.fitness.values)
    objectives = np.array([each.fitness.values for each in front])
    return Front(np.array(front), objectives, np.array(best), np.array(counts), np.array(losses))


def _offspring(people: list[Individual], low: list[float], high: list[float], pareto: Pareto) -> list[Individual]:
    """As many as their parents."""
    fresh = [Individual(parent) for parent in tools.selTournamentDCD(people, len(people))]
    for one, other in zip(fresh[::2], fresh[1::2], strict=True):
        if random.random() < pareto.crossover_rate:
            tools.cxSimulatedBinaryBounded(one, other, pareto.crowding, low, high)
    for each in fresh:
        tools.mutPolynomialBounded(each, pareto.crowding, low, high, 1.0 / len(low))
    return fresh
