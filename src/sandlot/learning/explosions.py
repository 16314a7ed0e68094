"""Individuals whose simulation exploded: they have no fitness, take part in nothing but selection, and lose there.

They are neither the best nor part of a mean; how many there were is told by generation.
"""

import numpy as np

from sandlot.errors import SandlotError
from sandlot.typing import Array, BoolArray


def find_exploded(fitness: Array, generation: int) -> BoolArray:
    """Which individuals have exploded, that is, have a fitness that is not a number: (individuals,).

    Args:
        fitness: (individuals,) or (individuals, objectives).
        generation: Which they belong to.

    Raises:
        SandlotError: If a fitness is infinite, which is a mistake and no explosion.
    """
    rows = np.reshape(fitness, (len(fitness), -1))
    if np.isinf(rows).any():
        raise SandlotError(
            f"generation {generation} has a fitness that is infinite; allowed: numbers, NaN if it exploded"
        )
    return np.asarray(np.isnan(rows).any(axis=1))


def refuse_if_all(exploded: BoolArray, generation: int) -> None:
    """Stop a search in which no individual of a generation has a fitness.

    Raises:
        SandlotError: If ``exploded`` (individuals,) is true for all.
    """
    if exploded.all():
        raise SandlotError(f"generation {generation} has no fitness that is a number: all of its simulations exploded")


def below(fitness: Array) -> Array:
    """Something that is less than all of these in every objective: () or (objectives,)."""
    least = fitness.min(axis=0)
    return np.asarray(least - 1.0 - np.abs(least))
