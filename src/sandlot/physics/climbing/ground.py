"""Outlines of the ground for many robots, as padded arrays that compiled functions read."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sandlot.typing import Array, IntArray

AX, AZ, TX, TZ, LENGTH, PX, PZ, CORNER = range(8)
"""Columns of a segment: its first point [m], its direction, its length [m], the direction of the segment before it, and
1 if its first point is a corner that sticks out, else 0. The solid is to the right."""
CELL = 0.125
"""Length of a cell of the index [m]."""
STRAIGHT = 1e-6
"""Sine of the least angle of a corner."""


class Ground(NamedTuple):
    """The grounds of many robots.

    Attributes:
        segments: (robots, n, 8) sorted by x, filled up with zeros.
        cells: (robots, m, 2) of each stretch of length `CELL` the first segment that touches it or what lies behind it,
            and one after the last segment that touches it or what lies before it.
        extent: (robots, 2) x of the first cell's beginning [m], and number of cells.
    """

    segments: Array
    cells: IntArray
    extent: Array


def empty_ground(count: int, segments: int = 64, cells: int = 128) -> Ground:
    """Room for the grounds of so many robots."""
    return Ground(np.zeros((count, segments, 8)), np.zeros((count, cells, 2), np.int64), np.zeros((count, 2)))


def set_ground(ground: Ground, which: int, outlines: Sequence[Array], low: float, high: float) -> Ground:
    """Give one robot its ground.

    Args:
        ground: Changed in place.
        which: The robot.
        outlines: (points, 2) lines with the solid to their right [m]; a closed one ends where it begins.
        low: x at which corners begin [m].
        high: x at which they end [m].

    Returns:
        The same, or a larger copy if there was not enough room.
    """
    rows = np.concatenate([_segments(line) for line in outlines])
    ends = rows[:, AX] + rows[:, TX] * rows[:, LENGTH]
    left, right = np.minimum(rows[:, AX], ends), np.maximum(rows[:, AX], ends)
    order = np.lexsort((right, left))
    rows, left, right = rows[order], left[order], right[order]
    number = int(np.ceil((high - low) / CELL)) + 2
    ground = _enlarge(ground, len(rows), number)
    ground.segments[which] = 0.0
    ground.segments[which, : len(rows)] = rows
    ground.extent[which] = low - CELL, number
    starts = low + CELL * np.arange(-1, number - 1)
    starts[0] = -np.inf  # the first and the last cell stand for everything beyond them
    ends = np.append(starts[1:], np.inf)
    touching = (right >= starts[:, None]) & (left <= ends[:, None])
    firsts, stops = touching.argmax(axis=1), len(rows) - touching[:, ::-1].argmax(axis=1)
    ground.cells[which, :number, 0] = np.minimum.accumulate(firsts[::-1])[::-1]
    ground.cells[which, :number, 1] = np.maximum.accumulate(stops)
    return ground


def _segments(line: Array) -> Array:
    """The segments of one line: (n, 8)."""
    steps = np.diff(line, axis=0)
    lengths = np.hypot(*steps.T)
    directions = steps / lengths[:, None]
    closed = np.array_equal(line[0], line[-1])
    before = np.roll(directions, 1, axis=0)
    # The line turns to the right where the solid sticks out.
    turns = before[:, 0] * directions[:, 1] - before[:, 1] * directions[:, 0]
    corners = turns < -STRAIGHT
    if not closed:
        corners[0] = False
    return np.column_stack([line[:-1], directions, lengths, before, corners])


def _enlarge(ground: Ground, segments: int, cells: int) -> Ground:
    count, have, have_cells = len(ground.extent), ground.segments.shape[1], ground.cells.shape[1]
    if segments <= have and cells <= have_cells:
        return ground
    larger = empty_ground(count, max(segments, have), max(cells, have_cells))
    larger.segments[:, :have], larger.cells[:, :have_cells], larger.extent[:] = (
        ground.segments,
        ground.cells,
        ground.extent,
    )
    return larger
