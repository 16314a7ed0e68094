"""The compiled parts of an elevation map: scan lines into cells, and cells into heights ahead.

A cell is fixed to the ground: cell c lies around c times the length of a cell, counted from where the robot started.
Cells are kept in a ring, so that a map that moves with the robot copies nothing.
"""

import math
from typing import NamedTuple

from sandlot.kernels import kernel
from sandlot.mapping.returns import fill_missing
from sandlot.sensing.panned_laser import View, turned
from sandlot.sensing.rays import Fan
from sandlot.typing import Array, IntArray

MARGIN = 0.03
"""Points of a line this much nearer than its furthest point count as equally far [m]: noise of a wall's points."""


class Cells(NamedTuple):
    """The maps of many robots, a row for each pan angle.

    Attributes:
        heights: (robots, rows, places) of the highest point [m].
        times: (robots, rows, places) when it was measured [s].
        owners: (robots, rows, places) which cell is kept at a place of the ring.
        yaws: (robots, rows, places) of the robot when it was measured [rad].
    """

    heights: Array
    times: Array
    owners: IntArray
    yaws: Array


@kernel(error_model="numpy", allocates=False)
def cell_of(distance: float, size: float) -> int:
    """The cell around a distance [m]."""
    return math.floor(distance / size + 0.5)


@kernel(error_model="numpy", nogil=True, allocates=False)
def add_lines(
    ranges: Array,
    view: View,
    rows: IntArray,
    pan_angles: Array,
    fan: Fan,
    driven: Array,
    now: Array,
    size: float,
    ahead: int,
    cells: Cells,
) -> None:
    """Put scan lines into the maps (equations 20 to 22).

    A cell that is measured again forgets what it was; within one scan it keeps its highest point. A line counts up to
    its furthest point along x: what follows is the ceiling. All points beyond the map count as equally far, so that
    treads without risers are kept although beams pass below them.

    Args:
        ranges: (robots, lines, beams) [m], NaN without a return; missing ones are filled in.
        view: From where they were measured.
        rows: (pans,) of the map for each pan angle, negative for none.
        pan_angles: (pans,) [rad]
        fan: Of one line.
        driven: (robots,) distance along the heading [m].
        now: (robots,) time of the scan [s].
        size: Of a cell [m].
        ahead: Number of cells ahead that are kept.
        cells: Changed in place.
    """
    places = cells.heights.shape[2]
    for k in range(view.pans.shape[0]):
        roll, pitch, height = view.attitudes[k, 0], view.attitudes[k, 1], view.middles[k, 1]
        tx, _, tz = turned(roll, pitch, view.mount[0], 0.0, view.mount[1])
        bx, _, bz = turned(roll, pitch, 0.0, 0.0, 1.0)
        first = cell_of(driven[k], size)
        for m in range(view.pans.shape[1]):
            if view.pans[k, m] < 0 or rows[view.pans[k, m]] < 0:
                continue
            pan, row, line = pan_angles[view.pans[k, m]], rows[view.pans[k, m]], ranges[k, m]
            ax, _, az = turned(roll, pitch, math.cos(pan), math.sin(pan), 0.0)
            fill_missing(line)
            furthest, last = -math.inf, -1
            for b in range(line.size):
                x = tx + line[b] * (ax * fan.directions[0, b] + bx * fan.directions[1, b])
                furthest = x if x > furthest else furthest  # not so for NaN
            enough = min(furthest - MARGIN, ahead * size)
            for b in range(line.size):
                if tx + line[b] * (ax * fan.directions[0, b] + bx * fan.directions[1, b]) >= enough:
                    last = b
            heights, times, owners = cells.heights[k, row], cells.times[k, row], cells.owners[k, row]
            for b in range(last + 1):
                if math.isnan(line[b]):
                    continue
                c, s = fan.directions[0, b], fan.directions[1, b]
                cell = cell_of(driven[k] + tx + line[b] * (ax * c + bx * s), size)
                if first <= cell < first + ahead:
                    z, place = height + tz + line[b] * (az * c + bz * s), cell % places
                    if owners[place] == cell and times[place] == now[k]:
                        heights[place] = max(heights[place], z)
                    else:
                        heights[place], times[place], owners[place] = z, now[k], cell
                        cells.yaws[k, row, place] = view.attitudes[k, 2]


@kernel(error_model="numpy", nogil=True, allocates=False)
def read_cells(
    cells: Cells,
    driven: Array,
    zeros: Array,
    now: Array,
    yaws: Array,
    slopes: Array,
    size: float,
    memory: float,
    found: Array,
) -> None:
    """Read the heights ahead; unknown cells are interpolated between known ones.

    Before the first known cell they repeat it. After the last one they repeat the highest within `MARGIN` of it: noise
    spreads the points of a face over several cells.

    Args:
        cells: Of all robots.
        driven: (robots,) distance along the heading [m].
        zeros: (robots,) height that counts as zero [m].
        now: (robots,) [s]
        yaws: (robots,) of the robots now [rad]. Cells that the robot's turn since has moved by more than their length
            along the row are unknown.
        slopes: (rows,) tangents of the pan angles.
        size: Of a cell [m].
        memory: Cells that were measured longer ago are unknown [s].
        found: (robots, rows, ahead) heights [m], written here; zero if nothing is known.
    """
    places, ahead = cells.heights.shape[2], found.shape[2]
    for k in range(found.shape[0]):
        first = cell_of(driven[k], size)
        for row in range(found.shape[1]):
            heights, times, owners, out = (
                cells.heights[k, row],
                cells.times[k, row],
                cells.owners[k, row],
                found[k, row],
            )
            last = -1
            for i in range(ahead):
                place = (first + i) % places
                if owners[place] != first + i or now[k] - times[place] > memory:
                    continue
                turned_by = yaws[k] - cells.yaws[k, row, place]
                if abs(slopes[row] * i * turned_by) > 1.0:
                    continue
                out[i] = heights[place] - zeros[k]
                begin = out[i] if last < 0 else out[last]
                for n in range(last + 1, i):
                    out[n] = begin + (out[i] - begin) * (n - last) / (i - last)
                last = i
            top = out[last] if last >= 0 else 0.0
            for n in range(max(last - int(MARGIN / size), 0), last):
                top = max(top, out[n])
            for n in range(last + 1, ahead):
                out[n] = top
