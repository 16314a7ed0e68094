"""The terms of a polynomial: products of variables, each a lagged input, output or residual."""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sandlot.kernels import kernel
from sandlot.typing import Array, IntArray

NONE = -1
"""Fills the unused places of a term with fewer factors than the polynomial's degree."""
INPUT, OUTPUT, NOISE = 0, 1, 2
MAX_FLOAT = float(np.finfo(np.float64).max)
KINDS: dict[str, int] = {"input": INPUT, "output": OUTPUT, "noise": NOISE}


@dataclass(frozen=True)
class Variable:
    """A factor of terms.

    Attributes:
        name: For printing, such as ``x``.
        kind: Input, output, or residual (noise).
        index: Index of the input; 0 for the output and the residual.
        lag: Steps back in time; 0 is the current step.
        centre: Subtracted from the measured value before it is multiplied.
    """

    name: str
    kind: Literal["input", "output", "noise"] = "input"
    index: int = 0
    lag: int = 0
    centre: float = 0.0


def variables(
    names: Sequence[str], input_lags: Sequence[Sequence[int]], output_lags: Sequence[int], noise_lags: Sequence[int]
) -> list[Variable]:
    """All variables: outputs, then inputs, then residuals.

    Args:
        names: Names of the inputs.
        input_lags: Steps back in time, from 0, of each input.
        output_lags: Steps back in time, from 1.
        noise_lags: Steps back in time, from 1.
    """
    found = [Variable("y", "output", 0, lag) for lag in output_lags]
    found += [Variable(name, "input", k, lag) for k, name in enumerate(names) for lag in input_lags[k]]
    return found + [Variable("e", "noise", 0, lag) for lag in noise_lags]


@functools.lru_cache(maxsize=32)
def monomials(count: int, degree: int) -> IntArray:
    """All products of at most ``degree`` of ``count`` variables, the constant first: (terms, degree)."""
    found = [
        (*factors, *(degree - size) * (NONE,))
        for size in range(degree + 1)
        for factors in itertools.combinations_with_replacement(range(count), size)
    ]
    array = np.array(found, np.int64).reshape(len(found), degree)
    array.flags.writeable = False  # it is cached
    return array


@kernel(allocates=False)
def wide(samples: int) -> int:
    """Length of a row for so many samples: a multiple of 8, so that every row of a table is aligned in memory."""
    return (samples + 7) // 8 * 8


@kernel()
def design(values: Array, factors: IntArray) -> Array:
    """The value of every term at every sample.

    Args:
        values: (variables, samples)
        factors: (terms, degree) as `monomials`.

    Returns:
        (terms, ``wide(samples)``) with zeros after the last sample.
    """
    count, samples = values.shape
    padded = np.zeros((count + 1, wide(samples)))
    padded[:count, :samples] = values
    padded[NONE, :samples] = 1.0  # the last row: an unused place multiplies by 1
    result = np.empty((factors.shape[0], padded.shape[1]))
    for t in range(factors.shape[0]):
        row, one, other = result[t], padded[factors[t, 0]], padded[NONE]
        if factors.shape[1] > 1:
            other = padded[factors[t, 1]]
        for i in range(row.size):
            row[i] = one[i] * other[i]
        for f in factors[t, 2:]:
            if f == NONE:
                break
            other = padded[f]
            for i in range(row.size):
                row[i] *= other[i]
    return result


@kernel()
def evaluate(values: Array, factors: IntArray, coefficients: Array) -> Array:
    """The polynomial at every sample; each term is its coefficient times its factors, multiplied in order.

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
def lagged(inputs: Array, output: Array, noise: Array, layout: IntArray, bounds: IntArray, first: int) -> Array:
    """The variables at every sample of every segment, from sample ``first`` of the segment on.

    Args:
        inputs: (inputs, samples)
        output: (samples,)
        noise: (samples,)
        layout: (variables, 3) kind, index and lag.
        bounds: (segments + 1,) index of the first sample of each segment, and the number of samples.
        first: The largest lag.

    Returns:
        (variables, rows) with ``first`` rows fewer than samples for each segment.
    """
    rows = 0
    for s in range(bounds.size - 1):
        rows += max(0, bounds[s + 1] - bounds[s] - first)
    result = np.empty((layout.shape[0], rows))
    for v in range(layout.shape[0]):
        kind, index, lag = layout[v]
        source = inputs[index] if kind == INPUT else output if kind == OUTPUT else noise
        row = 0
        for s in range(bounds.size - 1):
            begin, end = bounds[s] + first - lag, bounds[s + 1] - lag
            if end > begin:
                result[v, row : row + end - begin] = source[begin:end]
                row += end - begin
    return result


@kernel(fastmath={"nnan", "nsz"}, allocates=False)
def extent(values: Array) -> tuple[float, float]:
    """Minimum and maximum of values (count,) without NaN."""
    low, high = np.inf, -np.inf
    for k in range(values.size):
        low, high = min(low, values[k]), max(high, values[k])
    return low, high


@kernel(allocates=False)
def finite(values: Array) -> bool:
    """Whether all values (count,) are finite."""
    others = 0
    for k in range(values.size):
        others += not abs(values[k]) <= MAX_FLOAT
    return others == 0


@kernel()
def prepare(
    inputs: Array, output: Array, noise: Array, layout: IntArray, bounds: IntArray, first: int, factors: IntArray
) -> tuple[Array, float]:
    """The value of every term at every row of `lagged`, as `design`, and an upper bound of their magnitudes.

    Arguments are those of `lagged` and `design`.
    """
    values = lagged(inputs, output, noise, layout, bounds, first)
    low, high = extent(values.ravel())
    return design(values, factors), max(1.0, -low, high) ** factors.shape[1]
