"""Forward orthogonal regression: which terms explain an output, the most telling one first.

Terms are taken one after the other. Each time, all that are left are made orthogonal to those already taken, and the
next is the one that explains most of the output's energy; that share is its *error reduction ratio*, ERR (Korenberg,
Billings, Liu and McIlroy 1988; Chen, Billings and Luo 1989). Making orthogonal is modified Gram-Schmidt, with the
output as one more column, which is as stable for least squares as Householder's way (Björck 1967).
"""

from typing import NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.surrogates.terms import Array, Index

COLLINEAR = 1e-10
"""A term of whose energy no more than this share is left says nothing that the others do not."""
NOTHING = 1e-290
"""Energy that is lost among the smallest numbers there are."""
LOOSE = {"reassoc", "contract", "nsz"}
"""A sum may be added up in any order: several terms at a time."""


class Path(NamedTuple):
    """Terms in the order in which they were taken.

    Attributes:
        order: (taken,) which.
        err: (taken,) by how much each reduces the error, as a share of the output's energy.
        gains: (taken,) how much of each orthogonal term is in the output.
        norms: (taken,) energy of each orthogonal term.
        upper: (taken, terms) how much of each orthogonal term is in every term that was left.
        energy: Of the output: its squares, summed.
        collinear: How many others could not be told from those taken.
    """

    order: Index
    err: Array
    gains: Array
    norms: Array
    upper: Array
    energy: float
    collinear: int


@kernel(fastmath=LOOSE, allocates=False)
def _dot(a: Array, b: Array) -> float:
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@kernel(fastmath=LOOSE, allocates=False)
def _subtract(row: Array, share: float, other: Array) -> float:
    """Take a share of another row away; returns the energy that is left."""
    total = 0.0
    for k in range(row.shape[0]):
        value = row[k] - share * other[k]
        row[k] = value
        total += value * value
    return total


@kernel()
def _forward(rest: Array, target: Array, most: int, forced: int) -> Path:
    terms = rest.shape[0]
    first, left, inner = np.empty(terms), np.empty(terms), np.empty(terms)
    open_ = np.ones(terms, np.bool_)
    for t in range(terms):
        first[t] = left[t] = _dot(rest[t], rest[t])
        inner[t] = _dot(rest[t], target)
    energy = _dot(target, target)
    order, err, gains, norms = np.empty(most, np.int64), np.empty(most), np.empty(most), np.empty(most)
    upper = np.zeros((most, terms))
    count, asked, collinear = 0, 0, 0
    while count < most:
        best, reduced = -1, -1.0
        for t in range(terms):
            if open_[t] and left[t] <= COLLINEAR * first[t] + NOTHING:
                open_[t] = False
                collinear += 1
            if open_[t] and inner[t] * (inner[t] / left[t]) > reduced and (asked >= forced or t == asked):
                best, reduced = t, inner[t] * (inner[t] / left[t])
        asked += 1
        if best < 0:
            if asked <= forced:  # one that was to be taken says nothing
                continue
            break
        open_[best] = False
        chosen, norm = rest[best], left[best]
        order[count], norms[count], gains[count] = best, norm, inner[best] / norm
        err[count] = reduced / energy if energy > 0.0 else 0.0
        _subtract(target, gains[count], chosen)
        for t in range(terms):
            if open_[t]:
                share = _dot(chosen, rest[t]) / norm
                upper[count, t] = share
                left[t] = _subtract(rest[t], share, chosen)
                inner[t] = _dot(rest[t], target)
        count += 1
    return Path(order[:count], err[:count], gains[:count], norms[:count], upper[:count], energy, collinear)


def forward(rows: Array, output: Array, most: int, forced: int = 0) -> Path:
    """Take terms until there are ``most``, or none is left that says anything new.

    Args:
        rows: (terms, samples) what they are worth.
        output: (samples,) what is to be explained.
        most: How many to take.
        forced: So many of the first are taken before all others, in their order.
    """
    most = min(most, *rows.shape)
    return _forward(np.array(rows, np.float64, order="C"), np.array(output, np.float64), most, min(forced, most))


@kernel()
def coefficients(path: Path, count: int) -> Array:
    """Those of the first terms of a path, by least squares: (count,)."""
    result = path.gains[:count].copy()
    for s in range(count - 1, -1, -1):
        for t in range(s + 1, count):
            result[s] -= path.upper[s, path.order[t]] * result[t]
    return result


@kernel()
def errors(path: Path, count: int, samples: int) -> Array:
    """Standard errors of these coefficients: (count,)."""
    unexplained = max(1.0 - path.err[:count].sum(), 0.0) * path.energy / max(samples - count, 1)
    inverse = np.eye(count)
    for s in range(count - 1, -1, -1):
        for t in range(s + 1, count):
            inverse[s] -= path.upper[s, path.order[t]] * inverse[t]
    return np.sqrt(unexplained) * np.sqrt((inverse**2 / path.norms[:count]).sum(1))


@kernel()
def bic(path: Path, samples: float) -> Array:
    """Bayes' information criterion after each term of a path: (taken,), the less the better.

    Args:
        path: As `forward` gives.
        samples: How many there were that did not depend on each other.
    """
    left, result = 1.0, np.empty(path.err.size)
    for k in range(path.err.size):
        left = max(left - path.err[k], 1e-15)
        result[k] = samples * np.log(left) + (k + 1) * np.log(samples)
    return result
