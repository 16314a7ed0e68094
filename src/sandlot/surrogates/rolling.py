"""Predicts an output step by step: one step ahead, several steps ahead, or in a free run."""

import numpy as np

from sandlot.kernels import kernel
from sandlot.surrogates.terms import INPUT, NONE, OUTPUT
from sandlot.typing import Array, IntArray

FREE = 0
"""Number of steps ahead that stands for a free run."""


@kernel(allocates=False)
def _step(
    i: int,
    inputs: Array,
    known: Array,
    noise: Array,
    layout: IntArray,
    factors: IntArray,
    coefficients: Array,
    values: Array,
) -> float:
    """The polynomial at sample ``i``; each term is its coefficient times its factors, multiplied in order.

    ``values`` (variables,) is overwritten.
    """
    for v in range(layout.shape[0]):
        kind, index, lag = layout[v]
        if kind == INPUT:
            values[v] = inputs[i - lag, index]
        elif kind == OUTPUT:
            values[v] = known[i - lag]
        else:
            values[v] = noise[i - lag]
    total = 0.0
    for t in range(factors.shape[0]):
        product = coefficients[t]
        for f in factors[t]:
            if f != NONE:
                product *= values[f]
        total += product
    return total


@kernel()
def roll(
    inputs: Array,
    output: Array,
    layout: IntArray,
    bounds: IntArray,
    first: int,
    factors: IntArray,
    coefficients: Array,
    steps: int,
) -> Array:
    """Predict the output step by step; every segment starts anew.

    Args:
        inputs: (samples, inputs)
        output: (samples,) measured; a free run uses only the first ``first`` of each segment.
        layout: (variables, 3) kind, index and lag.
        bounds: (segments + 1,) index of the first sample of each segment, and the number of samples.
        first: The largest lag.
        factors: (terms, degree) as `terms.monomials`.
        coefficients: (terms,)
        steps: How many steps ahead: lagged outputs of the last ``steps - 1`` samples are predictions, older ones
            measurements. With `FREE`, all are predictions.

    Returns:
        (samples,) of which the first ``first`` of each segment are the measured ones.
    """
    known, predicted, noise = output.copy(), output.copy(), np.zeros(output.size)
    values = np.empty(layout.shape[0])
    for s in range(bounds.size - 1):
        for i in range(bounds[s] + first, bounds[s + 1]):
            predicted[i] = _step(i, inputs, known, noise, layout, factors, coefficients, values)
            if steps == FREE:
                known[i] = predicted[i]
            else:
                noise[i] = output[i] - predicted[i]
    if steps <= 1:
        return predicted
    # Residuals of the last steps are unknown, so 0; all older ones are those of one step ahead.
    recent = noise.copy()
    for s in range(bounds.size - 1):
        start = bounds[s] + first
        for i in range(start, bounds[s + 1]):
            begin = max(start, i - steps + 1)
            recent[begin : i + 1] = 0.0
            for j in range(begin, i + 1):
                known[j] = _step(j, inputs, known, recent, layout, factors, coefficients, values)
            predicted[i] = known[i]
            known[begin], recent[begin] = output[begin], noise[begin]
    return predicted
