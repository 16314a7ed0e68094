"""Forward orthogonal regression: which terms explain an output, the most telling one first.

Terms are taken one after the other. The next is the one whose part that is orthogonal to those already taken explains
most of the output's energy; that share is its *error reduction ratio*, ERR (Korenberg, Billings, Liu and McIlroy 1988;
Chen, Billings and Luo 1989). It is made orthogonal by modified Gram-Schmidt, with the output as one more column, which
is as stable for least squares as Householder's way (Björck 1967); and once more where little is left of it.
"""

from typing import NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.surrogates.terms import wide
from sandlot.typing import Array, IntArray

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
        rest: (samples,) what all of them leave of the output.
        energy: Of the output: its squares, summed.
        collinear: How many others could not be told from those taken.
    """

    order: IntArray
    err: Array
    gains: Array
    norms: Array
    upper: Array
    rest: Array
    energy: float
    collinear: int


@kernel(fastmath=LOOSE, allocates=False)
def _dot(a: Array, b: Array) -> float:
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@kernel(fastmath=LOOSE, allocates=False)
def _dots(a: Array, b: Array) -> tuple[float, float]:
    """Inner products of a row with another, and with itself."""
    total, energy = 0.0, 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
        energy += a[k] * a[k]
    return total, energy


@kernel(fastmath=LOOSE, allocates=False)
def _subtract(row: Array, share: float, other: Array, following: Array) -> float:
    """Take a share of another row away; returns the inner product of what is left with the one that follows."""
    total = 0.0
    for k in range(row.shape[0]):
        rest = row[k] - share * other[k]
        row[k] = rest
        total += rest * following[k]
    return total


@kernel()
def take(rows: Array, output: Array, most: int, forced: int) -> Path:
    """As `forward`, for kernels. Of the rows, those that are taken are overwritten by what is orthogonal of them.

    Args:
        rows: (terms, samples or more) as `terms.design` gives them, with zeros behind the samples.
        output: (samples,)
        most: How many to take.
        forced: So many of the first are taken before all others, in their order.
    """
    terms = rows.shape[0]
    target = np.zeros(rows.shape[1])
    target[: output.size] = output
    first, left, inner = np.empty(terms), np.empty(terms), np.empty(terms)
    open_ = np.ones(terms, np.bool_)
    for t in range(terms):
        inner[t], first[t] = _dots(rows[t], target)
        left[t] = first[t]
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
            if open_[t] and (asked >= forced or t == asked) and inner[t] * (inner[t] / left[t]) > reduced:
                best, reduced = t, inner[t] * (inner[t] / left[t])
        if best < 0:
            asked += 1
            if asked <= forced:  # one that was to be taken says nothing
                continue
            break
        open_[best] = False
        # Only the term that is taken is made orthogonal; of the others it is enough to know what would be left of them.
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
            if norm > MUCH * before:  # else once more, for what rounding left
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
        if count == most:
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


def forward(rows: Array, output: Array, most: int, forced: int = 0) -> Path:
    """Take terms until there are ``most``, or none is left that says anything new.

    Args:
        rows: (terms, samples) what they are worth.
        output: (samples,) what is to be explained.
        most: How many to take.
        forced: So many of the first are taken before all others, in their order.
    """
    most = min(most, *rows.shape)
    work = np.zeros((rows.shape[0], wide(rows.shape[1])))
    work[:, : rows.shape[1]] = rows
    return take(work, np.ascontiguousarray(output, np.float64), most, min(forced, most))


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
    result, column = np.zeros(count), np.empty(count)
    for c in range(count):  # of the inverse of the triangle
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
    """The first terms of a path: their coefficients, standard errors, and what they leave of the output.

    Args:
        path: As `take` gives.
        rows: As `take` leaves them.
        count: How many of the terms.
    """
    rest = path.rest.copy()
    for s in range(count, path.order.size):
        row = rows[path.order[s], : rest.size]
        _subtract(rest, -path.gains[s], row, row)
    return coefficients(path, count), errors(path, count, rest.size), rest


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
