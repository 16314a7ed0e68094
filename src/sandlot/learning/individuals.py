"""Individuals for DEAP's operators, without DEAP's global ``creator``."""

from collections.abc import Sequence

from deap import base


class Fitness(base.Fitness):
    """One objective or several, all maximised; without values before the individual is evaluated."""

    weights: tuple[float, ...] = (1.0,)

    def __init__(self, values: tuple[float, ...] = ()) -> None:
        if values:
            self.weights = (1.0,) * len(values)
        super().__init__(values)


class Individual(list[float]):
    """A list of genes with a fitness, for DEAP's operators; without DEAP's global ``creator``."""

    def __init__(self, genes: Sequence[float]) -> None:
        super().__init__(genes)
        self.fitness = Fitness()
