"""The occupancy grid of a `Mapper`: grows with every keyframe, and is drawn anew after a loop was closed."""

import numpy as np

from sandlot.geometry.planar import compose
from sandlot.mapping.grids.geometry import Grid
from sandlot.mapping.grids.occupancy import OccupancyGrid
from sandlot.mapping.mapper import MAX_RANGE, Mapper
from sandlot.mapping.submaps import Keyframe, place
from sandlot.recordings.scans import Pose, Scan
from sandlot.typing import Array

MARGIN = 5.0
"""The grid is this much wider than needed, so that it need not grow with every keyframe [m]."""
FAR = 1.0
"""Percentage of the points on each side that do not make the grid larger: beams through windows."""


class OccupancyMap:
    """The grid map of a mapper.

    Args:
        mapper: Whose keyframes to draw.
        resolution: Side of a cell [m].
        margin: The grid is this much wider than needed [m].
    """

    def __init__(self, mapper: Mapper, resolution: float = 0.05, margin: float = MARGIN) -> None:
        self._mapper, self._resolution, self._margin = mapper, resolution, margin
        self._drawn = self._loops = 0
        self._grid: OccupancyGrid | None = None

    def update(self) -> OccupancyGrid:
        """The map now; only new keyframes are drawn, unless a loop was closed or the map has to grow."""
        keyframes, loops = self._mapper.keyframes, len(self._mapper.loops.found)
        fresh = keyframes[self._drawn :]
        if self._grid is None or loops != self._loops or not self._holds(fresh):
            self._grid, fresh = OccupancyGrid(self._extent(keyframes), MAX_RANGE), keyframes
        for keyframe in fresh:
            self._grid.update(*self._scan(keyframe))
        self._drawn, self._loops = len(keyframes), loops
        return self._grid

    def _pose(self, keyframe: Keyframe) -> Array:
        return compose(self._mapper.submaps[keyframe.submap].pose, keyframe.local)

    def _scan(self, keyframe: Keyframe) -> tuple[Scan, Pose]:
        """The points of a keyframe as a scan of the laser, and the pose of the laser."""
        mount = np.array([*self._mapper.mount, 0.0])
        x, y = (keyframe.points - mount[:2]).T
        scan = Scan(0.0, np.hypot(x, y).astype(np.float32), np.arctan2(y, x))
        return scan, Pose(*compose(self._pose(keyframe), mount).tolist())

    def _holds(self, keyframes: list[Keyframe]) -> bool:
        if self._grid is None:
            return False
        grid = self._grid.grid
        return all(bool(grid.contains(grid.cells(self._points(each))).all()) for each in keyframes)

    def _points(self, keyframe: Keyframe) -> Array:
        """Borders of a keyframe's points, without the furthest: (2, 2) [m]."""
        points = place(keyframe.points, self._pose(keyframe))
        return np.asarray(np.percentile(points, (FAR, 100.0 - FAR), axis=0))

    def _extent(self, keyframes: list[Keyframe]) -> Grid:
        borders = [self._points(each) for each in keyframes] or [np.zeros((1, 2))]
        return Grid.around(np.concatenate(borders), self._resolution, self._margin)
