"""The source's map: walls and obstacles with a reputation, which scans confirm or contradict (6.7.3)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.mapping.features.hough import Method
from sandlot.mapping.features.obstacles import WALL as OF_WALL
from sandlot.mapping.features.obstacles import Features, find_features
from sandlot.mapping.grids.cell_map import CellMap
from sandlot.mapping.grids.geometry import FREE, OBSTACLE, UNKNOWN, WALL, Grid, Kinds
from sandlot.mapping.grids.sight import mark, mark_rays
from sandlot.typing import Array, BoolArray, IntArray

NOISE = 4
"""Mark of a cell in which a beam ended that belongs to no wall and no obstacle: it hides others, and stays as it is."""
OWN = 1.5
"""Cells this near to the line of a wall belong to it, and do not hide it [cell]."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How reputations change. The source describes the rules without numbers; these are chosen.

    Attributes:
        confirmed: Added if a scan shows the same kind.
        contradicted: Taken away if it shows another kind.
        mistaken: Taken away if it shows an obstacle where a wall was, or a wall where an obstacle was.
        highest: Reputation of a wall or an obstacle at most.
        highest_free: Reputation of a free cell at most; lower, so that new obstacles soon appear.
    """

    confirmed: float = 1.0
    contradicted: float = 1.0
    mistaken: float = 0.25
    highest: float = 10.0
    highest_free: float = 3.0


class ReputationMap(CellMap):
    """A map of walls, obstacles, free and unknown cells, each with a reputation.

    A cell whose reputation is used up becomes what the scan shows. Cells that are out of range, or hidden behind
    something that the scan shows, are left alone.

    Attributes:
        reputation: (rows, columns) of what each cell is; 0 where nothing is known.
        rules: How it changes.
    """

    def __init__(
        self,
        grid: Grid,
        max_range: float = 16.0,
        rules: Rules | None = None,
        method: Method = "probabilistic",
        source_gap: bool = False,
    ) -> None:
        """Know nothing.

        Args:
            grid: Where the cells lie.
            max_range: As of `CellMap`.
            rules: How reputations change.
            method: Of finding walls.
            source_gap: Whether points of an obstacle lie within 20 mm of each other at any range, as in the source,
                whose scans have thousands of points. A scan of 360 points has no such points beyond 1.1 m; by default,
                far points may be as far apart as two beams.
        """
        super().__init__(grid, max_range)
        self.rules = rules or Rules()
        self.reputation = np.zeros(grid.shape, np.float32)
        self._method: Method = method
        self._source_gap = source_gap

    def clear(self) -> None:
        """Know nothing again."""
        super().clear()
        self.reputation[:] = 0.0

    def sureness(self, where: Any) -> NDArray[np.float32]:
        """Reputation of walls and obstacles, relative to the highest."""
        occupied = self.kinds[where] >= OBSTACLE
        return np.where(occupied, self.reputation[where] / np.float32(self.rules.highest), np.float32(0.0))

    def _add(self, centre: Array, ends: Array, hits: BoolArray) -> int:
        found = self.find(centre, ends[hits])
        return self.add_features(centre, ends, hits, found)

    def find(self, centre: Array, ends: Array) -> Features:
        """Walls and obstacles of a scan, relative to the sensor [m].

        Args:
            centre: (2,) x, y of the laser [cell].
            ends: (n, 2) x, y where beams ended [cell].
        """
        side = self.grid.resolution
        spacing = 0.0 if self._source_gap else 2.0 * math.pi / max(len(ends), 1)
        return find_features((ends - centre) * side, side, self._method, spacing=spacing)

    def add_features(self, centre: Array, ends: Array, hits: BoolArray, found: Features) -> int:
        """Add a scan whose walls and obstacles are known; arguments as of `CellMap`, and what `find` found."""
        walls = found.walls / self.grid.resolution + np.tile(centre, 2)
        count = mark_features(centre, ends[hits], found.labels, walls, self._marks, self._reached)
        count = mark_rays(centre, ends, self._marks, self._reached, count)
        self._apply(self._reached[:count])
        self._widen(np.vstack([ends, centre, walls.reshape(-1, 2)]))
        return count

    def _apply(self, reached: NDArray[np.int32]) -> None:
        given = self.rules
        limits = np.array([0.0, given.highest_free, given.highest, given.highest], np.float32)
        change = np.array([given.confirmed, given.contradicted, given.mistaken], np.float32)
        judge(reached, self._marks.ravel(), self.reputation.ravel(), self.kinds.ravel(), change, limits)


@kernel(error_model="numpy", nogil=True, allocates=False)
def mark_features(
    centre: Array, ends: Array, labels: IntArray, walls: Array, marks: Kinds, reached: NDArray[np.int32]
) -> int:
    """Mark the cells of obstacles, and those cells of walls that are not hidden; returns how many.

    Args:
        centre: (2,) x, y of the laser [cell].
        ends: (n, 2) x, y where beams ended [cell].
        labels: (n,) as of `Features`.
        walls: (walls, 4) x, y of both ends [cell].
        marks: (rows, columns) changed in place.
        reached: Indices of marked cells, written here.
    """
    count = 0
    for k in range(ends.shape[0]):
        kind = WALL if labels[k] == OF_WALL else NOISE if labels[k] < 0 else OBSTACLE
        count = mark(math.floor(ends[k, 1]), math.floor(ends[k, 0]), kind, marks, reached, count)
    for w in range(walls.shape[0]):
        ax, ay, dx, dy = walls[w, 0], walls[w, 1], walls[w, 2] - walls[w, 0], walls[w, 3] - walls[w, 1]
        length = max(math.hypot(dx, dy), 1e-9)
        steps = math.ceil(max(abs(dx), abs(dy)))
        for s in range(steps + 1):
            x, y = ax + dx * s / max(steps, 1), ay + dy * s / max(steps, 1)
            if not hidden(centre[0], centre[1], x, y, ax, ay, dx / length, dy / length, marks):
                count = mark(math.floor(y), math.floor(x), WALL, marks, reached, count)
    return count


@kernel(error_model="numpy", allocates=False)
def hidden(cx: float, cy: float, x: float, y: float, ax: float, ay: float, ux: float, uy: float, marks: Kinds) -> bool:
    """Whether a marked cell lies on the rasterised line from the laser (cx, cy) to the point (x, y) of a wall.

    Args:
        cx: Of the laser [cell].
        cy: Of the laser [cell].
        x: Of the point [cell].
        y: Of the point [cell].
        ax: Of a point of the wall, whose own cells do not hide it [cell].
        ay: Of the same point [cell].
        ux: Direction of the wall, of length 1.
        uy: Direction of the wall, of length 1.
        marks: (rows, columns)
    """
    steps = math.ceil(max(abs(x - cx), abs(y - cy)))
    for s in range(1, steps):
        px, py = cx + (x - cx) * s / steps, cy + (y - cy) * s / steps
        row, column = math.floor(py), math.floor(px)
        if 0 <= row < marks.shape[0] and 0 <= column < marks.shape[1] and marks[row, column] > FREE:
            aside = (column + 0.5 - ax) * uy - (row + 0.5 - ay) * ux
            if abs(aside) > OWN:
                return True
    return False


@kernel(error_model="numpy", nogil=True, allocates=False)
def judge(
    reached: NDArray[np.int32],
    marks: Kinds,
    reputation: NDArray[np.float32],
    kinds: Kinds,
    change: NDArray[np.float32],
    limits: NDArray[np.float32],
) -> None:
    """Confirm or contradict cells by the marks of a scan, and clear the marks.

    Args:
        reached: (n,) indices of the marked cells.
        marks: (cells,) what the scan shows, cleared in place.
        reputation: (cells,) changed in place.
        kinds: (cells,) changed in place.
        change: (3,) of reputation if confirmed, contradicted, or mistaken.
        limits: (4,) highest reputation of each kind.
    """
    for k in range(reached.size):
        cell = reached[k]
        shown, kind = marks[cell], kinds[cell]
        marks[cell] = 0
        if shown == NOISE:
            continue
        if shown == kind:
            reputation[cell] = min(reputation[cell] + change[0], limits[kind])
            continue
        if kind != UNKNOWN:
            reputation[cell] -= change[2] if shown >= OBSTACLE and kind >= OBSTACLE else change[1]
        if reputation[cell] <= 0.0:
            kinds[cell], reputation[cell] = shown, min(change[0], limits[shown])
