"""Fast evaluation of the polynomials of `lines` for whole scans: one kernel over dense tables of coefficients.

Each cell's polynomial has few terms, but different ones in each cell. Multiplying by zeros is faster than looking up
which terms there are. So a table holds all coefficients, zeros included, in the order of Horner's scheme.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.kernels.fused import fma
from sandlot.typing import Array, IntArray

if TYPE_CHECKING:
    from sandlot.surrogates.lines import Grid

CUBIC = 3
"""Polynomials of a lower degree are stored as cubic ones, for which Horner's scheme is written out."""
FIRST = 4
"""Index of the first coefficient in a row of a table; the limits come before it, and two unused values."""

MIN_TOUR = 1000
"""Fewer poses are visited in the order given."""


class Table(NamedTuple):
    """A `lines.Grid` prepared for evaluation.

    Attributes:
        grid: Its cells.
        rows: (polynomials, `FIRST` + terms) the lower and upper limit [m], and the coefficients of all terms, sorted by
            descending power of turn, then of across, then of along.
        degree: Of all polynomials.
    """

    grid: "Grid"
    rows: Array
    degree: int


def pack(grid: "Grid") -> Table:
    """Make the table of a grid."""
    degree = max(grid.factors.shape[2], CUBIC)
    powers = [
        (i, j, k)
        for i in range(degree, -1, -1)
        for j in range(degree - i, -1, -1)
        for k in range(degree - i - j, -1, -1)
    ]
    place = np.zeros((degree + 1,) * 3, np.int64)
    place[tuple(np.transpose(powers))] = np.arange(len(powers))
    rows = np.zeros((len(grid.coefficients), FIRST + len(powers)))
    rows[:, :2] = grid.limits
    used = [(grid.factors == variable).sum(2) for variable in range(3)]
    which = np.broadcast_to(np.arange(len(rows))[:, None], grid.coefficients.shape)
    np.add.at(rows, (which, FIRST + place[tuple(used)]), grid.coefficients)
    return Table(grid, rows, degree)


@kernel(allocates=False, inline="always")
def _cubic(c: Array, x: float, y: float, z: float) -> float:
    """A cubic polynomial of turn, across and along, by Horner's scheme; ``c`` is a row of a table."""
    third = fma(c[4], x, fma(c[5], y, fma(c[6], z, c[7])))
    second = fma(fma(c[8], y, fma(c[9], z, c[10])), y, fma(fma(c[11], z, c[12]), z, c[13]))
    first = fma(fma(c[14], y, fma(c[15], z, c[16])), y, fma(fma(c[17], z, c[18]), z, c[19]))
    along = fma(fma(fma(c[20], z, c[21]), z, c[22]), z, c[23])
    return fma(fma(third, x, second), x, fma(first, y, along))


@kernel(allocates=False)
def _polynomial(row: Array, degree: int, x: float, y: float, z: float) -> float:
    """As `_cubic`, but of any degree."""
    at, total = FIRST, 0.0
    for i in range(degree + 1):
        of_turn = 0.0
        for j in range(i + 1):
            of_across = 0.0
            for _ in range(j + 1):
                of_across = of_across * z + row[at]
                at += 1
            of_turn = of_turn * y + of_across
        total = total * x + of_turn
    return total


@kernel(nogil=True, error_model="numpy", allocates=False)
def look(
    table: Table, places: Array, yaws: Array, bearings: Array, least: float, order: IntArray, result: Array
) -> None:
    """Interpolate linearly between the polynomials of the cells around each ray.

    Args:
        table: From `pack`.
        places: (poses, 2 or more) x and y [m].
        yaws: (poses, 3) yaw [rad], its cosine and its sine; see `turned`.
        bearings: (segments, 3) of the centres of the segments, likewise.
        least: Share of the interpolation's weights that cells with a polynomial must have.
        order: (poses,) in which they are visited; see `tour`.
        result: (poses, segments) ranges [m]; NaN is replaced where cells have polynomials, other values are kept.
    """
    grid, rows, degree = table.grid, table.rows, table.degree
    directions, wide, long = grid.shape[0], grid.shape[1], grid.shape[2]
    width, length = grid.width[1], grid.width[2]
    per_turn, per_across, per_along = 0.5 / np.pi, 1.0 / width, 1.0 / length
    low_across, low_along = grid.corner[0], grid.corner[1]
    # Unsigned indices: for signed ones, Numba checks whether they count from the end.
    axes, model = grid.axes, grid.model
    for i in order:
        x, y = places[i, 0] - grid.origin[0], places[i, 1] - grid.origin[1]
        yaw, cos_yaw, sin_yaw = yaws[i, 0], yaws[i, 1], yaws[i, 2]
        if not np.isfinite(x + y + yaw):
            continue
        for segment in range(bearings.shape[0]):
            if not np.isnan(result[i, segment]):
                continue
            cos_bearing, sin_bearing = bearings[segment, 1], bearings[segment, 2]
            cos = cos_yaw * cos_bearing - sin_yaw * sin_bearing
            sin = sin_yaw * cos_bearing + cos_yaw * sin_bearing
            turns = (yaw + bearings[segment, 0]) * per_turn
            heading = (turns - np.floor(turns)) * directions
            nearest = min(int(heading), directions - 1)  # -1e-20 turns are a whole one
            left, ahead = y * cos - x * sin, x * cos + y * sin
            total, weight = 0.0, 0.0
            for side in range(2):
                direction = nearest + side
                turn = heading - direction
                axis_x, axis_y = axes[np.uint64(direction), 0], axes[np.uint64(direction), 1]
                across = (y * axis_x - x * axis_y - low_across) * per_across - 0.5
                along = (x * axis_x + y * axis_y - low_along) * per_along - 0.5
                across, along = min(max(across, 0.0), wide - 1.0), min(max(along, 0.0), long - 1.0)
                cells = direction * wide if direction < directions else 0
                aligned, aside = axis_x * cos + axis_y * sin, axis_x * sin - axis_y * cos
                beam = 1.0 - abs(turn)
                for a in range(int(across), min(int(across) + 2, wide)):
                    u = low_across + (a + 0.5) * width
                    lane = beam * (1.0 - abs(across - a))
                    for b in range(int(along), min(int(along) + 2, long)):
                        w = lane * (1.0 - abs(along - b))
                        which = model[np.uint64((cells + a) * long + b)]
                        if which < 0 or w <= 0.0:
                            continue
                        v = low_along + (b + 0.5) * length
                        further = ahead - (v * aligned + u * aside)
                        beside = (left - (u * aligned - v * aside)) * per_across
                        row = rows[np.uint64(which)]
                        if degree == CUBIC:
                            value = _cubic(row, turn, beside, further * per_along)
                        else:
                            value = _polynomial(row, degree, turn, beside, further * per_along)
                        total += w * (min(max(value, row[0]), row[1]) - further)
                        weight += w
            if weight > least:
                result[i, segment] = total / weight


def tour(places: Array, yaws: Array) -> IntArray:
    """An order in which neighbouring poses follow each other, so that their cells are still in the cache.

    Args:
        places: (poses, 2 or more) x and y [m].
        yaws: (poses, 3) from `turned`.
    """
    if len(places) < MIN_TOUR:
        return np.arange(len(places))
    keys = np.empty(len(places), np.uint16)
    _key(places, yaws, keys)
    return np.argsort(keys, kind="stable")  # a radix sort, since keys have 16 bits


@kernel(nogil=True, error_model="numpy", allocates=False)
def _key(places: Array, yaws: Array, keys: Any) -> None:
    """Number of the box of x, y and yaw in which each pose is: 32 times 32 times 64 boxes."""
    low_x = high_x = places[0, 0]
    low_y = high_y = places[0, 1]
    for i in range(places.shape[0]):
        low_x, high_x = min(low_x, places[i, 0]), max(high_x, places[i, 0])
        low_y, high_y = min(low_y, places[i, 1]), max(high_y, places[i, 1])
    per_x, per_y = 31.99 / (high_x - low_x), 31.99 / (high_y - low_y)
    for i in range(places.shape[0]):
        x, y = (places[i, 0] - low_x) * per_x, (places[i, 1] - low_y) * per_y
        turns = yaws[i, 0] * (0.5 / np.pi)
        box = (x - x % 1.0) * 32.0 + y
        keys[i] = 0
        if 0.0 <= box < 1024.0 and np.isfinite(turns):  # not NaN
            keys[i] = int(box) * 64 + int((turns - np.floor(turns)) * 63.99)


@kernel(nogil=True)
def turned(angles: Array) -> Array:
    """Angles [rad], their cosines and their sines, as `look` needs them: (angles, 3).

    NumPy's cosine may differ in the last digit between one angle and many; a batch must equal single predictions.
    """
    result = np.empty((angles.size, 3))
    for i in range(angles.size):
        result[i, 0], result[i, 1], result[i, 2] = angles[i], np.cos(angles[i]), np.sin(angles[i])
    return result


@kernel(nogil=True, allocates=False)
def settle(result: Array, fallback: Array, low: float, high: float) -> None:
    """Replace NaN by the fallback of its segment, and clip to limits, in place: one pass is faster than NumPy's four.

    Args:
        result: (poses, segments) ranges [m].
        fallback: (segments,) [m].
        low: Smallest range [m].
        high: Largest range [m].
    """
    for i in range(result.shape[0]):
        for segment in range(result.shape[1]):
            value = fallback[segment] if np.isnan(result[i, segment]) else result[i, segment]
            result[i, segment] = min(max(value, low), high)
