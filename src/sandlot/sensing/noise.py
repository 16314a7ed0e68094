"""Noise of sensors."""

import numpy as np

from sandlot.typing import Array


def white_noise(rng: np.random.Generator, deviation: float, shape: tuple[int, ...]) -> Array:
    """Independent normal numbers; zeros, without a draw, if the standard deviation is zero."""
    return deviation * rng.normal(size=shape) if deviation else np.zeros(shape)
