"""Fast evaluation of the polynomials of `lines` for whole scans: one kernel over dense tables of coefficients.

Each cell's polynomial has few terms, but different ones in each cell. Multiplying by zeros is faster than looking up
which terms there are. So a table holds all coefficients, zeros included, in the order of Horner's scheme.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.typing import Array

if TYPE_CHECKING:
    from sandlot.surrogates.lines import Grid

CUBIC = 3
"""Polynomials of a lower degree are stored as cubic ones, for which Horner's scheme is written out."""
FUSED = {"contract"}
"""Allows fused multiply-add only: with full fast math, ``isfinite`` would always be true."""
FIRST = 4
"""Index of the first coefficient in a row of a table; the limits come before it, and two unused values."""


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


@kernel(fastmath=FUSED, allocates=False, inline="always")
def _cubic(c: Array, x: float, y: float, z: float) -> float:
    """A cubic polynomial of turn, across and along, by Horner's scheme; ``c`` is a row of a table."""
    third = c[4] * x + (c[5] * y + (c[6] * z + c[7]))
    second = (c[8] * y + (c[9] * z + c[10])) * y + ((c[11] * z + c[12]) * z + c[13])
    first = (c[14] * y + (c[15] * z + c[16])) * y + ((c[17] * z + c[18]) * z + c[19])
    return (third * x + second) * x + (first * y + (((c[20] * z + c[21]) * z + c[22]) * z + c[23]))


@kernel(fastmath=FUSED, allocates=False)
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


@kernel(nogil=True, error_model="numpy", fastmath=FUSED, allocates=False)
def look(table: Table, poses: Array, bearings: Array, result: Array) -> None:
    """Interpolate linearly between the polynomials of the cells around each ray.

    Args:
        table: From `pack`.
        poses: (poses, 3) x [m], y [m] and yaw [rad].
        bearings: (segments,) of the centres of the segments [rad].
        result: (poses, segments) ranges [m]; NaN is replaced where a cell has a polynomial, other values are kept.
    """
    grid, rows = table.grid, table.rows
    directions, wide, long = grid.shape[0], grid.shape[1], grid.shape[2]
    width, length = grid.width[1], grid.width[2]
    per_turn, per_across, per_along = 1.0 / grid.width[0], 1.0 / width, 1.0 / length
    low_across, low_along = grid.corner[0], grid.corner[1]
    axes, model = grid.axes, grid.model
    for i in range(poses.shape[0]):
        x, y = poses[i, 0] - grid.origin[0], poses[i, 1] - grid.origin[1]
        for segment in range(bearings.shape[0]):
            if not np.isnan(result[i, segment]):
                continue
            angle = poses[i, 2] + bearings[segment]
            cos, sin = np.cos(angle), np.sin(angle)
            turned = angle % (2.0 * np.pi) * per_turn
            if not np.isfinite(turned + x + y):
                continue
            left, ahead = y * cos - x * sin, x * cos + y * sin
            total, weight = 0.0, 0.0
            for side in range(2):
                direction = min(int(turned), directions - 1) + side  # -1e-20 % 2 pi is 2 pi
                turn = turned - direction
                axis_x, axis_y = axes[direction, 0], axes[direction, 1]
                across = (y * axis_x - x * axis_y - low_across) * per_across - 0.5
                along = (x * axis_x + y * axis_y - low_along) * per_along - 0.5
                across = min(across, wide - 1.0) if across > 0.0 else 0.0  # NaN becomes 0
                along = min(along, long - 1.0) if along > 0.0 else 0.0
                cells = direction * wide if direction < directions else 0
                aligned, aside = axis_x * cos + axis_y * sin, axis_x * sin - axis_y * cos
                for a in range(int(across), min(int(across) + 2, wide)):
                    u = low_across + (a + 0.5) * width
                    for b in range(int(along), min(int(along) + 2, long)):
                        w = (1.0 - abs(turn)) * (1.0 - abs(across - a)) * (1.0 - abs(along - b))
                        which = model[(cells + a) * long + b]
                        if which < 0 or w <= 0.0:
                            continue
                        v = low_along + (b + 0.5) * length
                        further = ahead - (v * aligned + u * aside)
                        beside = (left - (u * aligned - v * aside)) * per_across
                        row = rows[which]
                        if table.degree == CUBIC:
                            value = _cubic(row, turn, beside, further * per_along)
                        else:
                            value = _polynomial(row, table.degree, turn, beside, further * per_along)
                        total += w * (min(max(value, row[0]), row[1]) - further)
                        weight += w
            if weight > 0.0:
                result[i, segment] = total / weight
