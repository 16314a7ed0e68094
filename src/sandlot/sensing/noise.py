"""Noise of sensors."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from sandlot.typing import Array

Source: TypeAlias = np.random.Generator | Sequence[np.random.Generator]
"""One generator for all rows, or several, each for an equal share of them."""


def white_noise(rng: Source, deviation: float, shape: tuple[int, ...]) -> Array:
    """Independent normal numbers; zeros, without a draw, if the standard deviation is zero."""
    if not deviation:
        return np.zeros(shape)
    if isinstance(rng, np.random.Generator):
        return deviation * rng.normal(size=shape)
    share = (shape[0] // len(rng), *shape[1:])
    return deviation * np.concatenate([each.normal(size=share) for each in rng])
