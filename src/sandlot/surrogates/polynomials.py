"""Many polynomials of the same variables, compiled: products that they share are computed once per sample."""

from typing import NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.surrogates.terms import NONE
from sandlot.typing import Array, IntArray


class Products(NamedTuple):
    """Products of variables that several polynomials share; each is an earlier product times one variable.

    Attributes:
        parents: (products, 2) index of the earlier product and of the variable; the first product is 1.
        places: (sets, outputs, terms) index of the product of each term.
        counts: (sets, outputs) number of terms.
    """

    parents: IntArray
    places: IntArray
    counts: IntArray


def products(factors: IntArray, coefficients: Array) -> Products:
    """Find the products that polynomials share.

    Args:
        factors: (sets, outputs, terms, degree) as `terms.monomials`.
        coefficients: (sets, outputs, terms), 0 for unused terms, which come last.
    """
    counts = (np.cumprod(coefficients != 0.0, 2)).sum(2)
    known: dict[tuple[int, ...], int] = {(): 0}
    parents, places = [(0, 0)], np.zeros(coefficients.shape, np.int64)
    for s, o in np.ndindex(counts.shape):
        for t in range(counts[s, o]):
            used = tuple(f for f in sorted(factors[s, o, t].tolist()) if f != NONE)
            for size in range(1, len(used) + 1):
                if used[:size] not in known:
                    known[used[:size]] = len(parents)
                    parents.append((known[used[: size - 1]], used[size - 1]))
            places[s, o, t] = known[used]
    return Products(np.array(parents, np.int64), places, counts)


@kernel(nogil=True)
def polynomials(
    values: Array, which: IntArray, shared: Products, coefficients: Array, lowest: Array, highest: Array
) -> Array:
    """Evaluate several polynomials at every sample, clipped to limits.

    Args:
        values: (samples, variables)
        which: (samples,) index of the set of polynomials to use.
        shared: From `products`.
        coefficients: (sets, outputs, terms)
        lowest: (outputs,)
        highest: (outputs,)

    Returns:
        (samples, outputs)
    """
    parents, places, counts = shared.parents, shared.places, shared.counts
    result, products = np.empty((values.shape[0], counts.shape[1])), np.ones(parents.shape[0])
    for i in range(values.shape[0]):
        for k in range(1, products.size):
            products[k] = products[parents[k, 0]] * values[i, parents[k, 1]]
        for o in range(counts.shape[1]):
            total = 0.0
            for t in range(counts[which[i], o]):
                total += coefficients[which[i], o, t] * products[places[which[i], o, t]]
            if not total > lowest[o]:  # NaN compares false, so it becomes the lower limit
                total = lowest[o]
            result[i, o] = min(total, highest[o])
    return result
