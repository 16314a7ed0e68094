"""Forward orthogonal regression: selects the terms that explain an output, the most important first.

In each step, every remaining candidate is made orthogonal to the terms already selected; the one whose orthogonal part
explains the largest share of the output's energy is selected. That share is its *error reduction ratio*, ERR
(Korenberg, Billings, Liu and McIlroy 1988; Chen, Billings and Luo 1989). Terms are orthogonalized by modified
Gram-Schmidt with the output as one more column, which is as stable for least squares as Householder reflections (Björck
1967), and a second time if little energy remains after the first.
"""

from typing import NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.surrogates.terms import wide
from sandlot.typing import Array, IntArray

COLLINEAR = 1e-10
"""Terms with less residual energy than this share are treated as collinear."""
MUCH = 1e-4
"""A term that keeps more than this share of its energy needs no second orthogonalization."""
NOTHING = 1e-290
"""Energy near the smallest floating-point numbers, treated as zero."""


class Path(NamedTuple):
    """Terms in the order in which they were selected.

    Attributes:
        order: (selected,) indices of the terms.
        err: (selected,) error reduction ratio of each: the share of the output's energy that it explains.
        gains: (selected,) coefficient of each orthogonal term in the output.
        norms: (selected,) energy of each orthogonal term.
        upper: (selected, terms) coefficient of each orthogonal term in every term that remained.
        rest: (samples,) residual of the output.
        energy: Sum of the squared outputs.
        collinear: Number of candidates that were left out as collinear.
    """

    order: IntArray
    err: Array
    gains: Array
    norms: Array
    upper: Array
    rest: Array
    energy: float
    collinear: int


@kernel(allocates=False)
def _dot(a: Array, b: Array) -> float:
    """Inner product of two rows. Four sums side by side take less time than one; their order never changes."""
    s0 = s1 = s2 = s3 = 0.0
    whole = a.shape[0] // 4 * 4
    for k in range(0, whole, 4):
        s0, s1 = s0 + a[k] * b[k], s1 + a[k + 1] * b[k + 1]
        s2, s3 = s2 + a[k + 2] * b[k + 2], s3 + a[k + 3] * b[k + 3]
    for k in range(whole, a.shape[0]):
        s0 += a[k] * b[k]
    return (s0 + s1) + (s2 + s3)


@kernel(allocates=False)
def _subtract(row: Array, share: float, other: Array, following: Array) -> float:
    """Subtract ``share * other`` in place; returns the inner product of the result with ``following``."""
    for k in range(row.shape[0]):
        row[k] -= share * other[k]
    return _dot(row, following)


@kernel()
def take(rows: Array, output: Array, max_terms: int, forced: int) -> Path:
    """As `forward`, for kernels. Selected rows are overwritten by their orthogonal parts.

    Args:
        rows: (terms, samples or more) as `terms.design` makes, with zeros after the samples.
        output: (samples,)
        max_terms: Number of terms to select.
        forced: This many of the first terms are selected before all others, in their order.
    """
    terms = rows.shape[0]
    target = np.zeros(rows.shape[1])
    target[: output.size] = output
    first, left, inner = np.empty(terms), np.empty(terms), np.empty(terms)
    open_ = np.ones(terms, np.bool_)
    for t in range(terms):
        inner[t], first[t] = _dot(rows[t], target), _dot(rows[t], rows[t])
        left[t] = first[t]
    energy = _dot(target, target)
    order, err, gains, norms = (
        np.empty(max_terms, np.int64),
        np.empty(max_terms),
        np.empty(max_terms),
        np.empty(max_terms),
    )
    upper = np.zeros((max_terms, terms))
    count, asked, collinear = 0, 0, 0
    while count < max_terms:
        best, reduced = -1, -1.0
        for t in range(terms):
            if open_[t] and left[t] <= COLLINEAR * first[t] + NOTHING:
                open_[t] = False
                collinear += 1
            if open_[t] and (asked >= forced or t == asked) and inner[t] * (inner[t] / left[t]) > reduced:
                best, reduced = t, inner[t] * (inner[t] / left[t])
        if best < 0:
            asked += 1
            if asked <= forced:  # a forced term is collinear
                continue
            break
        open_[best] = False
        # Only the selected term is made orthogonal; for the others it is enough to update their residual energy.
        chosen = rows[best]
        upper[:count, best] = 0.0
        norm, product, before = 0.0, 0.0, first[best]
        for _ in range(2):
            product = _dot(chosen, rows[order[0]] if count else target)
            for s in range(count):
                share = product / norms[s]
                upper[s, best] += share
                product = _subtract(chosen, share, rows[order[s]], rows[order[s + 1]] if s + 1 < count else target)
            norm = _dot(chosen, chosen)
            if norm > MUCH * before:  # otherwise repeat, to remove rounding errors
                break
            before = norm
        if norm <= COLLINEAR * first[best] + NOTHING:
            collinear += 1
            continue
        asked += 1
        gain = product / norm
        _subtract(target, gain, chosen, chosen)
        order[count], norms[count], gains[count] = best, norm, gain
        err[count] = gain * norm / energy * gain if energy > 0.0 else 0.0
        count += 1
        if count == max_terms:
            break
        for t in range(terms):
            if open_[t]:
                product = _dot(rows[t], chosen)
                share = product / norm
                upper[count - 1, t] = share
                left[t] -= share * product
                inner[t] -= product * gain
    rest = target[: output.size]
    return Path(order[:count], err[:count], gains[:count], norms[:count], upper[:count], rest, energy, collinear)


def forward(rows: Array, output: Array, max_terms: int, forced: int = 0) -> Path:
    """Select terms until there are ``max_terms``, or all others are collinear.

    Args:
        rows: (terms, samples) values of the terms.
        output: (samples,) to be explained.
        max_terms: Number of terms to select.
        forced: This many of the first terms are selected before all others, in their order.
    """
    max_terms = min(max_terms, *rows.shape)
    work = np.zeros((rows.shape[0], wide(rows.shape[1])))
    work[:, : rows.shape[1]] = rows
    return take(work, np.ascontiguousarray(output, np.float64), max_terms, min(forced, max_terms))


@kernel()
def coefficients(path: Path, count: int) -> Array:
    """Least-squares coefficients of the first terms of a path: (count,)."""
    result = path.gains[:count].copy()
    for s in range(count - 1, -1, -1):
        for t in range(s + 1, count):
            result[s] -= path.upper[s, path.order[t]] * result[t]
    return result


@kernel()
def errors(path: Path, count: int, samples: int) -> Array:
    """Standard errors of the coefficients of the first terms of a path: (count,)."""
    unexplained = max(1.0 - path.err[:count].sum(), 0.0) * path.energy / max(samples - count, 1)
    result, column = np.zeros(count), np.empty(count)
    for c in range(count):  # columns of the inverse of the triangular matrix
        column[c] = 1.0
        for s in range(c, -1, -1):
            if s < c:
                column[s] = 0.0
                for t in range(s + 1, c + 1):
                    column[s] -= path.upper[s, path.order[t]] * column[t]
            result[s] += column[s] * column[s] / path.norms[c]
    return np.sqrt(unexplained) * np.sqrt(result)


@kernel()
def solve(path: Path, rows: Array, count: int) -> tuple[Array, Array, Array]:
    """Coefficients, standard errors and residuals of a model of the first terms of a path.

    Args:
        path: From `take`.
        rows: As overwritten by `take`.
        count: Number of terms.
    """
    rest = path.rest.copy()
    for s in range(count, path.order.size):
        row = rows[path.order[s], : rest.size]
        _subtract(rest, -path.gains[s], row, row)
    return coefficients(path, count), errors(path, count, rest.size), rest


@kernel()
def bic(path: Path, samples: float) -> Array:
    """Bayesian information criterion after each term of a path: (selected,); lower is better.

    Args:
        path: From `forward`.
        samples: Number of independent samples.
    """
    left, result = 1.0, np.empty(path.err.size)
    for k in range(path.err.size):
        left = max(left - path.err[k], 1e-15)
        result[k] = samples * np.log(left) + (k + 1) * np.log(samples)
    return result
