"""Where to go to see more: the borders between free and unknown cells (frontiers, Yamauchi 1997)."""

import math
from typing import NamedTuple

import numpy as np
from scipy import ndimage
from scipy.spatial import KDTree

from sandlot.control.navigation.astar import Weights, travel_costs
from sandlot.control.navigation.local import Local
from sandlot.control.navigation.turns import straight
from sandlot.geometry.planar import between, compose
from sandlot.mapping.grids.geometry import FREE, OBSTACLE, UNKNOWN, Grid, Kinds
from sandlot.typing import Array, BoolArray, IntArray

SHORTEST = 0.3
"""Frontiers shorter than this are left out: they are gaps between beams, or too narrow for a robot [m]."""
SAME = 0.4
"""A frontier that has changed is still the same if it is this near to what it was [m]."""
FAVOUR = (3.0, 2.0)
"""The frontier that the robot drives to is kept if its cost is at most this factor and distance [m] above the best."""
VIEW = 1.5
"""A frontier must be seen from a cell that the robot can reach, at most this far away [m]."""
LOOK, APART = 3, 0.25
"""A frontier that was near and in sight from so many places, this far apart [m], and is still one, is given up."""
CLOSE = 0.4
"""A robot this near to a view has looked at what can be seen from there [m]."""
ALL_AROUND = np.ones((3, 3), np.bool_)


class Frontier(NamedTuple):
    """A border between free and unknown cells.

    Attributes:
        cells: (n, 2) its cells.
        seen: (m, 2) those of them that can be looked at.
        views: (m, 2) cell from which to look at each.
        costs: (m,) of the path to each view [cell].
    """

    cells: IntArray
    seen: IntArray
    views: IntArray
    costs: Array

    @property
    def cost(self) -> float:
        """Of the path to the cheapest view [cell]."""
        return float(self.costs.min())


def frontier_cells(kinds: Kinds) -> BoolArray:
    """Free cells beside unknown areas: (rows, columns). Areas thinner than three cells are noise along walls."""
    unknown = ndimage.binary_opening(np.pad(kinds == UNKNOWN, 1, constant_values=True), ALL_AROUND)
    return (kinds == FREE) & ndimage.binary_dilation(unknown, ALL_AROUND)[1:-1, 1:-1]


def looked_at(kinds: Kinds, resolution: float, start: tuple[int, int]) -> IntArray:
    """Frontier cells (n, 2) near a robot at the cell ``start``, with nothing in between."""
    cells = np.argwhere(frontier_cells(kinds))
    cells = cells[np.hypot(*(cells - start).T) * resolution <= VIEW]
    transparent = (kinds < OBSTACLE).astype(np.uint8)
    seen = [straight(*start, row, column, transparent) < np.inf for row, column in cells.tolist()]
    return cells[np.array(seen, np.bool_)]


def find_frontiers(
    kinds: Kinds, resolution: float, start: tuple[int, int], weights: Weights, ignored: BoolArray
) -> list[Frontier]:
    """The frontiers that the robot can look at, the cheapest to reach first.

    Args:
        kinds: Of the cells.
        resolution: Side of a cell [m].
        start: Cell of the robot.
        weights: (rows, columns) of the cells, for the centre of the robot.
        ignored: (rows, columns) cells that were looked at in vain.
    """
    borders = frontier_cells(kinds) & ~ignored
    labels, count = ndimage.label(borders, ALL_AROUND)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)
    large = np.flatnonzero(sizes[1:] * resolution >= SHORTEST) + 1
    if not len(large):
        return []
    costs = travel_costs(weights, start)
    reached = np.isfinite(costs)
    distance, (rows, columns) = ndimage.distance_transform_edt(~reached, return_indices=True)
    transparent = (kinds < OBSTACLE).astype(np.uint8)
    found = []
    places = ndimage.find_objects(labels)
    for label in large.tolist():
        place = places[label - 1]
        corner = np.array([each.start for each in place])
        cells = np.argwhere(labels[place] == label) + corner
        near = cells[distance[tuple(cells.T)] * resolution <= VIEW]
        lines = [(int(rows[i, j]), int(columns[i, j]), i, j) for i, j in near.tolist()]
        clear = np.array([each for each in lines if straight(*each, transparent) < np.inf]).reshape(-1, 4)
        if len(clear):
            views, seen = clear[:, :2], clear[:, 2:]
            found.append(Frontier(cells, seen, views, costs[tuple(views.T)].astype(np.float64)))
    return sorted(found, key=lambda each: each.cost)


class Explorer:
    """Chooses frontiers, one after the other, and gives up those that it has looked at in vain."""

    def __init__(self, shape: tuple[int, int]) -> None:
        """Begin, with a map of this shape [cell]."""
        self._looks = np.zeros(shape, np.uint8)
        self._known = np.zeros(shape, np.bool_)
        self._frontier: IntArray | None = None
        self._view = np.zeros(2, np.int64)
        self._counted = np.full(2, np.inf)

    def next_view(self, local: Local, place: Array) -> Array | None:
        """The point from which to look at the nearest frontier (2,) [m]; None if there is none.

        It counts that the robot has looked at the frontiers near it, every `APART`.

        Args:
            local: The known part of the map.
            place: (2,) of the robot [m].
        """
        grid, here, kinds = local.grid, local.cell(place), self._kinds(local)
        ignored = self._looks[local.window] >= LOOK
        found = find_frontiers(kinds, grid.resolution, here, local.weights, ignored)
        if not math.dist(place, self._counted) < APART:
            self._counted = place
            close = [each.seen[np.hypot(*(each.views - here).T) * grid.resolution <= CLOSE] for each in found]
            self._count(np.concatenate([looked_at(kinds, grid.resolution, here), *close]) + local.corner, 1)
        if not found:
            return None
        chosen = found[0]
        view, most = chosen.views[chosen.costs.argmin()], FAVOUR[0] * chosen.cost + FAVOUR[1] / grid.resolution
        if self._frontier is not None:
            # Keep to the frontier it drives to, unless another is much nearer.
            old = KDTree(self._frontier - local.corner)
            same = [each for each in found if old.query(each.cells)[0].min() * grid.resolution <= SAME]
            if not same:  # It was seen, or noise hides it: one that comes back again and again is given up.
                self.look()
            elif same[0].cost <= most:
                chosen = same[0]
                away = np.hypot(*(chosen.views + local.corner - self._view).T) * grid.resolution
                close = (away <= CLOSE) & (chosen.costs <= most)
                view = chosen.views[np.where(close, away, np.inf).argmin() if close.any() else chosen.costs.argmin()]
        self._frontier, self._view = chosen.cells + local.corner, view + local.corner
        return grid.centres(self._view)

    def look(self, times: int = 1) -> None:
        """Count that the present frontier was looked at from its view."""
        if self._frontier is not None:
            self._count(self._frontier, times)

    def give_up(self) -> None:
        """Leave the present frontier out from now on."""
        self.look(LOOK)
        self._frontier = None

    def _kinds(self, local: Local) -> Kinds:
        """The kinds of cells; one that was known before, and is contradicted now, is not unknown but an obstacle."""
        known = self._known[local.window]
        known |= local.kinds != UNKNOWN
        return np.where(known & (local.kinds == UNKNOWN), np.uint8(OBSTACLE), local.kinds)

    def move(self, grid: Grid, before: Array, after: Array) -> None:
        """Keep what was counted where it belongs, after poses of the robot have been corrected.

        Args:
            grid: Of the map.
            before: (n, 3) poses [m, rad].
            after: (n, 3) the same poses, corrected.
        """
        cells, self._frontier = np.argwhere(self._known | (self._looks > 0)), None
        if not len(cells):
            return
        counts, known, places = self._looks[tuple(cells.T)], self._known[tuple(cells.T)], grid.centres(cells)
        nearest = KDTree(before[:, :2]).query(places)[1]
        seen = between(before[nearest], np.column_stack([places, np.zeros(len(places))]))
        moved = grid.cells(compose(after[nearest], seen)[:, :2])
        inside = grid.contains(moved)
        self._looks[:], self._known[:] = 0, False
        np.maximum.at(self._looks, tuple(moved[inside].T), counts[inside])
        self._known[tuple(moved[inside & known].T)] = True
        # Rounding leaves holes.
        self._looks[:] = ndimage.grey_closing(self._looks, ALL_AROUND.shape)
        self._known |= ndimage.binary_closing(self._known, ALL_AROUND)

    def _count(self, cells: IntArray, times: int) -> None:
        """Count looks at cells and their neighbours: frontiers move by a cell as the map changes."""
        if not len(cells):
            return
        low, high = cells.min(axis=0) - 1, cells.max(axis=0) + 2
        low, high = np.maximum(low, 0), np.minimum(high, self._looks.shape)
        part = self._looks[low[0] : high[0], low[1] : high[1]]
        where = np.zeros(part.shape, np.bool_)
        where[tuple((cells - low).T)] = True
        where = ndimage.binary_dilation(where, ALL_AROUND)
        part[where] = np.minimum(part[where] + times, LOOK)
