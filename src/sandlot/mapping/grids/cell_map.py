"""What all grid maps have in common: they turn a scan into evidence about the cells that its beams reach."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.mapping.grids.geometry import UNKNOWN, Grid, Kinds
from sandlot.mapping.grids.sight import mark_ends, mark_rays
from sandlot.recordings.scans import Pose, Scan
from sandlot.typing import Array, BoolArray


class CellMap(ABC):
    """A grid map that scans are added to.

    Attributes:
        grid: Where the cells lie.
        kinds: What each cell is now.
        max_range: Returns from further away only show that the cells before are free [m].
    """

    def __init__(self, grid: Grid, max_range: float = 16.0) -> None:
        """Know nothing.

        Args:
            grid: Where the cells lie.
            max_range: Returns from further away only show that the cells before are free [m]; the source's lidar
                reaches 16 m.
        """
        self.grid, self.max_range = grid, max_range
        self.kinds: Kinds = np.full(grid.shape, UNKNOWN, np.uint8)
        self._marks = np.zeros(grid.shape, np.uint8)
        self._reached = np.empty(grid.shape[0] * grid.shape[1], np.int32)
        self._window = np.array([grid.shape[0], 0, grid.shape[1], 0], np.int32)

    def clear(self) -> None:
        """Know nothing again."""
        self.kinds[:] = UNKNOWN
        self._window[:] = (self.grid.shape[0], 0, self.grid.shape[1], 0)

    @property
    def window(self) -> tuple[slice, slice]:
        """Rows and columns around all cells that a scan has reached; empty at first."""
        low, high, left, right = self._window.tolist()
        return slice(min(low, high), high), slice(min(left, right), right)

    @property
    def darkness(self) -> NDArray[np.float32]:
        """How sure it is that a cell is occupied, from 0 to 1, for pictures: (rows, columns)."""
        return self.sureness(...)

    @abstractmethod
    def sureness(self, where: Any) -> NDArray[np.float32]:
        """`darkness` of some cells only, given by any index of an array of the shape of the grid."""

    def update(self, scan: Scan, pose: Pose | None = None) -> int:
        """Add a scan.

        Args:
            scan: Of a laser above the centre of the robot, already corrected for motion during the scan.
            pose: Of the robot; that of the scan if not given.

        Returns:
            Number of cells that the scan reaches: 0 if it has no returns, or its pose is unknown.
        """
        x, y, yaw = scan.pose if pose is None else pose
        ranges, seen = np.asarray(scan.ranges, np.float64), np.isfinite(scan.ranges)
        if not (seen.any() and np.isfinite((x, y, yaw)).all()):
            return 0
        ranges, angles = ranges[seen], yaw + np.asarray(scan.bearings, np.float64)[seen]
        directions = np.column_stack([np.cos(angles), np.sin(angles)])
        ends = self.grid.to_cells(np.minimum(ranges, self.max_range)[:, None] * directions + (x, y))
        return self._add(self.grid.to_cells((x, y)), ends, ranges <= self.max_range)

    def _add(self, centre: Array, ends: Array, hits: BoolArray) -> int:
        """Mark the evidence of a scan, apply it, and clear the marks; returns the number of cells.

        Args:
            centre: (2,) x, y of the laser [cell].
            ends: (n, 2) x, y where the beams end [cell].
            hits: (n,) whether something is there.
        """
        count = mark_ends(ends[hits], self._marks, self._reached, 0)
        count = mark_rays(centre, ends, self._marks, self._reached, count)
        self._apply(self._reached[:count])
        self._widen(np.vstack([ends, centre]))
        return count

    def _widen(self, points: Array) -> None:
        """Make the window contain points (n, 2) x, y [cell]; it ends at the borders of the grid."""
        (left, low), (right, high) = np.floor(points.min(axis=0)), np.floor(points.max(axis=0)) + 1.0
        rows, columns = self.grid.shape
        first, end = self._window[0::2], self._window[1::2]
        first[:] = np.minimum(first, np.clip((low, left), 0, (rows, columns)))
        end[:] = np.maximum(end, np.clip((high, right), 0, (rows, columns)))

    @abstractmethod
    def _apply(self, reached: NDArray[np.int32]) -> None:
        """Change the cells (n,), given by index, by their marks, and clear these."""
