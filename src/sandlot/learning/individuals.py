"""Individuals as DEAP's operators want them, without its global ``creator``: classes of our own."""

from collections.abc import Sequence

from deap import base


class Fitness(base.Fitness):
    """One value or several; more is better in all. There are none before the individual is evaluated."""

    weights: tuple[float, ...] = (1.0,)

    def __init__(self, values: tuple[float, ...] = ()) -> None:
        if values:
            self.weights = (1.0,) * len(values)
        super().__init__(values)


class Individual(list[float]):
    """A list of genes with a fitness."""

    def __init__(self, genes: Sequence[float]) -> None:
        super().__init__(genes)
        self.fitness = Fitness()
