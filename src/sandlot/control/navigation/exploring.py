"""Where to go to see more: the borders between free and unknown cells (frontiers, Yamauchi 1997)."""

from typing import NamedTuple

import numpy as np
from scipy import ndimage

from sandlot.control.navigation.astar import travel_costs
from sandlot.control.navigation.local import Local
from sandlot.control.navigation.turns import straight
from sandlot.control.navigation.weights import weigh
from sandlot.mapping.grids.geometry import FREE, OBSTACLE, UNKNOWN, Kinds
from sandlot.typing import Array, BoolArray, IntArray

SHORTEST = 0.2
"""Frontiers shorter than this are left out: they are gaps between beams, or too narrow for a robot [m]."""
VIEW = 1.5
"""A frontier must be seen from a cell that the robot can reach, at most this far away [m]."""
LOOK = 4
"""A frontier that was near before the robot at so many plans, and is still one, is given up."""
ALL_AROUND = np.ones((3, 3), np.bool_)


class Frontier(NamedTuple):
    """A border between free and unknown cells.

    Attributes:
        view: (2,) cell from which to look at it.
        cells: (n, 2) its cells.
        cost: Of the path to the view [cell].
    """

    view: IntArray
    cells: IntArray
    cost: float


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
    kinds: Kinds, resolution: float, start: tuple[int, int], radius: float, margin: float, ignored: BoolArray
) -> list[Frontier]:
    """The frontiers that the robot can look at, the cheapest to reach first.

    Args:
        kinds: Of the cells.
        resolution: Side of a cell [m].
        start: Cell of the robot.
        radius: Of the robot [m].
        margin: Of the soft boundary of walls [m].
        ignored: (rows, columns) cells that were looked at in vain.
    """
    borders = frontier_cells(kinds) & ~ignored
    labels, count = ndimage.label(borders, ALL_AROUND)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)
    large = np.flatnonzero(sizes[1:] * resolution >= SHORTEST) + 1
    if not len(large):
        return []
    costs = travel_costs(weigh(kinds, resolution, radius, margin, through_unknown=False, start=start), start)
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
        views = [(int(rows[i, j]), int(columns[i, j]), i, j) for i, j in near.tolist()]
        open_views = [each[:2] for each in views if straight(*each, transparent) < np.inf]
        if open_views:
            best = min(open_views, key=lambda view: float(costs[view]))
            found.append(Frontier(np.array(best), cells, float(costs[best])))
    return sorted(found, key=lambda each: each.cost)


class Explorer:
    """Chooses frontiers, one after the other, and gives up those that it has looked at in vain."""

    def __init__(self, shape: tuple[int, int], radius: float, margin: float) -> None:
        """Begin.

        Args:
            shape: Of the map [cell].
            radius: Of the robot [m].
            margin: Of the soft boundary of walls [m].
        """
        self._radius, self._margin = radius, margin
        self._looks = np.zeros(shape, np.uint8)
        self._frontier: IntArray | None = None

    def next_view(self, local: Local, place: Array) -> Array | None:
        """The point from which to look at the nearest frontier (2,) [m]; None if there is none.

        Args:
            local: The known part of the map.
            place: (2,) of the robot [m].
        """
        grid, here = local.grid, local.cell(place)
        (row, column), (rows, columns) = local.corner, local.kinds.shape
        looks = self._looks[row : row + rows, column : column + columns]
        seen = tuple(looked_at(local.kinds, grid.resolution, here).T)
        looks[seen] = np.minimum(looks[seen] + 1, LOOK)
        found = find_frontiers(local.kinds, grid.resolution, here, self._radius, self._margin, looks >= LOOK)
        if not found:
            return None
        chosen = found[0]
        if self._frontier is not None:
            # Keep to the frontier it drives to, unless another is much nearer.
            old = set(map(tuple, (self._frontier - local.corner).tolist()))
            same = [each for each in found if not old.isdisjoint(map(tuple, each.cells.tolist()))]
            if same and same[0].cost <= 2.0 * chosen.cost + 1.0 / grid.resolution:
                chosen = same[0]
        self._frontier = chosen.cells + local.corner
        return grid.centres(chosen.view + local.corner)

    def look(self) -> None:
        """Count that the present frontier was looked at from its view."""
        self._count(1)

    def give_up(self) -> None:
        """Leave the present frontier out from now on."""
        self._count(LOOK)
        self._frontier = None

    def _count(self, times: int) -> None:
        if self._frontier is not None:
            cells = tuple(self._frontier.T)
            self._looks[cells] = np.minimum(self._looks[cells] + times, LOOK)
