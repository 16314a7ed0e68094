"""The known part of a map as a robot needs it: weights of cells for paths, and what of a scan the map knows already."""

import math
from typing import NamedTuple

import numpy as np

from sandlot.control.navigation.astar import Weights
from sandlot.control.navigation.turns import straight
from sandlot.control.navigation.weights import open_trail, weigh
from sandlot.geometry.planar import rotate
from sandlot.mapping.grids.cell_map import CellMap
from sandlot.mapping.grids.geometry import Grid, Kinds
from sandlot.recordings.scans import Pose
from sandlot.typing import Array, BoolArray, IntArray

KNOWN = 0.3
"""Cells at least this dark are known to be there and not to move."""


class Local(NamedTuple):
    """The part of a map that is known.

    Attributes:
        kinds: (rows, columns) of its cells.
        weights: (rows, columns) for the centre of the robot.
        corner: (2,) row and column of its first cell in the map.
        grid: Of the whole map.
    """

    kinds: Kinds
    weights: Weights
    corner: IntArray
    grid: Grid

    @property
    def window(self) -> tuple[slice, slice]:
        """Rows and columns of this part in the map."""
        (row, column), (rows, columns) = self.corner.tolist(), self.kinds.shape
        return slice(row, row + rows), slice(column, column + columns)

    def cell(self, point: Array) -> tuple[int, int]:
        """Row and column of a point (2,) [m] in this part."""
        row, column = (self.grid.cells(point) - self.corner).tolist()
        return row, column

    def is_open(self, start: Array, end: Array) -> bool:
        """Whether the straight line between two points (2,) [m] crosses no blocked cell and stays in this part."""
        cells = [self.cell(start), self.cell(end)]
        inside = all(0 <= each < size for cell in cells for each, size in zip(cell, self.weights.shape, strict=True))
        return inside and straight(*cells[0], *cells[1], self.weights) < math.inf


def look_around(
    cells: CellMap, points: Array, radius: float, margin: float, through_unknown: bool, trail: Array
) -> Local:
    """The known part of a map, with a border of unknown cells.

    Args:
        cells: The map.
        points: (n, 2) that must be in it, the robot's place first [m].
        radius: Of the robot [m].
        margin: Of the soft boundary around walls [m].
        through_unknown: Whether unknown cells may be crossed.
        trail: (n, 2) places where the robot has been [m]: it may go there again, also if walls seem too near.
    """
    grid, (rows, columns) = cells.grid, cells.window
    inside = grid.cells(points)
    border = math.ceil((radius + margin) / grid.resolution) + 2
    low = np.clip(np.minimum((rows.start, columns.start), inside.min(axis=0)) - border, 0, grid.shape)
    high = np.clip(np.maximum((rows.stop, columns.stop), inside.max(axis=0) + 1) + border, 0, grid.shape)
    kinds = cells.kinds[low[0] : high[0], low[1] : high[1]]
    row, column = (inside[0] - low).tolist()
    weights = weigh(kinds, grid.resolution, radius, margin, through_unknown, (row, column))
    open_trail(weights, kinds, grid.cells(trail) - low)
    return Local(kinds, weights, low, grid)


def find_strangers(cells: CellMap, points: Array, pose: Pose) -> BoolArray:
    """Which points of a scan (n, 2), relative to the robot [m], are where the map knows no wall or obstacle: (n,)."""
    grid = cells.grid
    places = grid.cells(rotate(points, pose.yaw) + pose[:2])
    known = np.zeros(len(points), np.bool_)
    for row in (-1, 0, 1):
        for column in (-1, 0, 1):
            near = np.add(places, (row, column))
            inside = grid.contains(near)
            rows, columns = near[inside].T
            known[inside] |= cells.sureness((rows, columns)) >= KNOWN
    return ~known
