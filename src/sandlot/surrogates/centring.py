"""Centres series that are far from 0: their powers would be collinear, and their variation lost in rounding."""

import math

import numpy as np

from sandlot.kernels import kernel
from sandlot.typing import Array

FAR = 10.0
"""A series is centred if its mean is more than this many standard deviations from 0."""
CONSTANT = 1e-12
"""A series whose standard deviation is at most this share of its mean is constant but for rounding."""


@kernel()
def moments(inputs: Array, output: Array) -> Array:
    """Mean and standard deviation of the inputs (inputs, samples) and, last, the output (samples,): (inputs + 1, 2)."""
    found = np.empty((inputs.shape[0] + 1, 2))
    for k in range(found.shape[0]):
        values = inputs[k] if k < inputs.shape[0] else output
        total, squares = 0.0, 0.0
        for i in range(values.size):
            total += values[i]
        mean = total / values.size
        for i in range(values.size):
            squares += (values[i] - mean) * (values[i] - mean)
        found[k] = mean, np.sqrt(squares / values.size)
    return found


def centre(mean: float, spread: float) -> float:
    """What to subtract from a series: its mean, rounded by at most its standard deviation; 0 if it is near 0."""
    if not spread > CONSTANT * abs(mean) or not FAR * spread < abs(mean) < math.inf:
        return 0.0
    return round(mean, -math.floor(math.log10(2.0 * spread)))
