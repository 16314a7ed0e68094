"""The terms of a polynomial: products of variables, each an input, an output or a residual, now or some steps ago."""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel

Array = NDArray[np.float64]
Index = NDArray[np.int64]
NONE = -1
"""Fills the rest of a term that has fewer factors than the polynomial has degrees."""
INPUT, OUTPUT, NOISE = 0, 1, 2
KINDS: dict[str, int] = {"input": INPUT, "output": OUTPUT, "noise": NOISE}


@dataclass(frozen=True)
class Variable:
    """What terms are products of.

    Attributes:
        name: For printing, such as ``x``.
        kind: An input, the output, or the residual (the noise).
        index: Which of the inputs; 0 for the others.
        lag: How many steps ago; 0 is now.
    """

    name: str
    kind: Literal["input", "output", "noise"] = "input"
    index: int = 0
    lag: int = 0


def variables(
    names: Sequence[str], input_lags: Sequence[int], output_lags: Sequence[int], noise_lags: Sequence[int]
) -> list[Variable]:
    """Every variable, outputs first, residuals last.

    Args:
        names: Of the inputs.
        input_lags: Steps ago, 0 is now; for all inputs.
        output_lags: Steps ago, from 1.
        noise_lags: Steps ago, from 1.
    """
    found = [Variable("y", "output", 0, lag) for lag in output_lags]
    found += [Variable(name, "input", k, lag) for k, name in enumerate(names) for lag in input_lags]
    return found + [Variable("e", "noise", 0, lag) for lag in noise_lags]


@functools.lru_cache(maxsize=32)
def monomials(count: int, degree: int) -> Index:
    """All products of at most ``degree`` of ``count`` variables, from the constant on: (terms, degree), rest `NONE`."""
    found = [
        (*factors, *(degree - size) * (NONE,))
        for size in range(degree + 1)
        for factors in itertools.combinations_with_replacement(range(count), size)
    ]
    array = np.array(found, np.int64).reshape(len(found), degree)
    array.flags.writeable = False  # it is kept
    return array


@kernel()
def design(values: Array, factors: Index) -> Array:
    """The value of every term at every sample.

    Args:
        values: (samples, variables)
        factors: (terms, degree) as `monomials`.

    Returns:
        (terms, samples)
    """
    samples, terms = values.shape[0], factors.shape[0]
    columns = np.ascontiguousarray(values.T)
    result = np.ones((terms, samples))
    for t in range(terms):
        for f in factors[t]:
            if f == NONE:
                break
            for i in range(samples):
                result[t, i] *= columns[f, i]
    return result


@kernel()
def evaluate(values: Array, factors: Index, coefficients: Array) -> Array:
    """The polynomial at every sample: each term its coefficient times its factors, one after the other.

    Args:
        values: (samples, variables)
        factors: (terms, degree) as `monomials`.
        coefficients: (terms,)

    Returns:
        (samples,)
    """
    result = np.zeros(values.shape[0])
    for i in range(values.shape[0]):
        total = 0.0
        for t in range(factors.shape[0]):
            product = coefficients[t]
            for f in factors[t]:
                if f != NONE:
                    product *= values[i, f]
            total += product
        result[i] = total
    return result


@kernel()
def lagged(inputs: Array, output: Array, noise: Array, layout: Index, first: int) -> Array:
    """The variables at every sample from ``first`` on.

    Args:
        inputs: (samples, inputs)
        output: (samples,)
        noise: (samples,)
        layout: (variables, 3) kind, index and lag.
        first: The greatest lag.

    Returns:
        (samples - first, variables)
    """
    result = np.empty((inputs.shape[0] - first, layout.shape[0]))
    for v in range(layout.shape[0]):
        kind, index, lag = layout[v]
        for i in range(result.shape[0]):
            if kind == INPUT:
                result[i, v] = inputs[i + first - lag, index]
            elif kind == OUTPUT:
                result[i, v] = output[i + first - lag]
            else:
                result[i, v] = noise[i + first - lag]
    return result


@kernel()
def roll(
    inputs: Array, output: Array, layout: Index, first: int, factors: Index, coefficients: Array, free: bool
) -> Array:
    """Predict from step to step.

    Args:
        inputs: (samples, inputs)
        output: (samples,) what was measured; of a free run only the first ``first`` are looked at.
        layout: (variables, 3) kind, index and lag.
        first: The greatest lag.
        factors: (terms, degree) as `monomials`.
        coefficients: (terms,)
        free: Whether to go on from what was predicted, rather than from what was measured.

    Returns:
        (samples,) the first ``first`` as measured.
    """
    samples = inputs.shape[0]
    known, predicted, noise = output.copy(), output.copy(), np.zeros(samples)
    values = np.empty(layout.shape[0])
    for i in range(first, samples):
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
        predicted[i] = total
        if free:
            known[i] = total
        else:
            noise[i] = output[i] - total
    return predicted
