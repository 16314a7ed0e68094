"""What all evolutionary searches here share: their random numbers, and how explosions are counted.

An individual whose simulation exploded has the fitness NaN. It loses every selection, is never the best, and is not
part of means; the number of exploded individuals is recorded for each generation.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from sandlot.errors import SandlotError
from sandlot.typing import Array, BoolArray


@contextmanager
def seeded(seed: np.random.SeedSequence) -> Iterator[None]:
    """Seed Python's global generator, from which DEAP and neat-python draw; its state is restored afterwards."""
    before = random.getstate()
    random.seed(int.from_bytes(seed.generate_state(4).tobytes(), "little"))
    try:
        yield
    finally:
        random.setstate(before)


def find_exploded(fitness: Array, generation: int) -> BoolArray:
    """Which individuals have exploded, that is, have a fitness of NaN: (individuals,).

    Args:
        fitness: (individuals,) or (individuals, objectives).
        generation: To which they belong.

    Raises:
        SandlotError: If a fitness is infinite, which is an error of the evaluation.
    """
    rows = np.reshape(fitness, (len(fitness), -1))
    if np.isinf(rows).any():
        raise SandlotError(
            f"a fitness of generation {generation} is infinite; allowed: finite numbers, or NaN for an explosion"
        )
    return np.asarray(np.isnan(rows).any(axis=1))


def refuse_if_all(exploded: BoolArray, generation: int) -> None:
    """Stop a search in which a whole generation exploded.

    Raises:
        SandlotError: If ``exploded`` (individuals,) is true for all.
    """
    if exploded.all():
        raise SandlotError(f"all simulations of generation {generation} exploded, so the search cannot go on")


def below(fitness: Array) -> Array:
    """A fitness that is less than all of these in every objective: () or (objectives,)."""
    least = fitness.min(axis=0)
    return np.asarray(least - 1.0 - np.abs(least))
