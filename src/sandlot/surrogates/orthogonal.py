"""Forward orthogonal regression: which terms explain an output, the most telling one first.

Terms are taken one after the other. The next is the one whose part that is orthogonal to those already taken explains
most of the output's energy; that share is its *error reduction ratio*, ERR (Korenberg, Billings, Liu and McIlroy 1988;
Chen, Billings and Luo 1989). It is made orthogonal by modified Gram-Schmidt, with the output as one more column, which
is as stable for least squares as Householder's way (Björck 1967); and once more where little is left of it.
"""

from typing import NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.surrogates.terms import Array, Index

COLLINEAR = 1e-10
"""A term of whose energy no more than this share is left says nothing that the others do not."""
MUCH = 1e-4
"""A term of whose energy more than this share is left, is orthogonal enough."""
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
def _subtract(row: Array, share: float, other: Array) -> None:
    """Take a share of another row away."""
    for k in range(row.shape[0]):
        row[k] -= share * other[k]


@kernel(fastmath=LOOSE, allocates=False)
def _dots(rows: Array, which: Index, count: int, other: Array, result: Array) -> None:
    """Inner products of some rows with another; four at a time, so that the other is read less often."""
    for first in range(0, count, 4):
        a, b = rows[which[first]], rows[which[min(first + 1, count - 1)]]
        c, d = rows[which[min(first + 2, count - 1)]], rows[which[min(first + 3, count - 1)]]
        p, q, r, s = 0.0, 0.0, 0.0, 0.0
        for k in range(other.shape[0]):
            value = other[k]
            p += a[k] * value
            q += b[k] * value
            r += c[k] * value
            s += d[k] * value
        result[which[first]] = p
        result[which[min(first + 1, count - 1)]] = q
        result[which[min(first + 2, count - 1)]] = r
        result[which[min(first + 3, count - 1)]] = s


@kernel()
def take(rows: Array, output: Array, most: int, forced: int) -> Path:
    """As `forward`, for kernels."""
    terms, samples = rows.shape
    target = output.copy()
    first, left, inner = np.empty(terms), np.empty(terms), np.empty(terms)
    open_ = np.ones(terms, np.bool_)
    which, products = np.arange(terms), np.empty(terms)
    _dots(rows, which, terms, target, inner)
    for t in range(terms):
        first[t] = left[t] = _dot(rows[t], rows[t])
    energy = _dot(target, target)
    order, err, gains, norms = np.empty(most, np.int64), np.empty(most), np.empty(most), np.empty(most)
    taken, upper = np.empty((most, samples)), np.zeros((most, terms))
    count, asked, collinear = 0, 0, 0
    while count < most:
        best, reduced = -1, -1.0
        for t in range(terms):
            if open_[t] and left[t] <= COLLINEAR * first[t] + NOTHING:
                open_[t] = False
                collinear += 1
            if open_[t] and inner[t] * (inner[t] / left[t]) > reduced and (asked >= forced or t == asked):
                best, reduced = t, inner[t] * (inner[t] / left[t])
        if best < 0:
            asked += 1
            if asked <= forced:  # one that was to be taken says nothing
                continue
            break
        open_[best] = False
        # Only the term that is taken is made orthogonal; of the others it is enough to know what would be left of them.
        chosen = taken[count]
        chosen[:] = rows[best]
        upper[:count, best] = 0.0
        norm, before = 0.0, first[best]
        for _ in range(2):
            for s in range(count):
                share = _dot(taken[s], chosen) / norms[s]
                upper[s, best] += share
                _subtract(chosen, share, taken[s])
            norm = _dot(chosen, chosen)
            if norm > MUCH * before:  # else once more, for what rounding left
                break
            before = norm
        if norm <= COLLINEAR * first[best] + NOTHING:
            collinear += 1
            continue
        asked += 1
        gain = _dot(chosen, target) / norm
        _subtract(target, gain, chosen)
        order[count], norms[count], gains[count] = best, norm, gain
        err[count] = gain * norm / energy * gain if energy > 0.0 else 0.0
        rest = 0
        for t in range(terms):
            if open_[t]:
                which[rest] = t
                rest += 1
        _dots(rows, which, rest, chosen, products)
        for t in which[:rest]:
            share = products[t] / norm
            upper[count, t] = share
            left[t] -= share * products[t]
            inner[t] -= products[t] * gain
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
    return take(
        np.ascontiguousarray(rows, np.float64), np.ascontiguousarray(output, np.float64), most, min(forced, most)
    )


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
