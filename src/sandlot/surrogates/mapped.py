"""A rival of the sensor models: an occupancy grid map, in which rays are cast."""

from typing import Self

import numpy as np

from sandlot.kernels import kernel
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph, check_poses
from sandlot.typing import Array

MAX_CELLS = 4000
"""Of a map, along its longer side."""


class Mapped:
    """An occupancy grid map made from the scans, in which rays are cast.

    Args:
        cell: Size of the map's cells [m].
        segments: Of a scan.

    Attributes:
        cell_: Size of the cells [m]; larger than ``cell`` if the map would have too many.
        hits_: (ny, nx) of the beams that reached a cell, the share that ended there.
    """

    def __init__(self, cell: float = 0.05, segments: int = SEGMENTS) -> None:
        self.cell, self.segments = cell, segments

    def fit(self, graph: Sensorgraph) -> Self:
        """Make the map."""
        graph.check(self.segments)
        ends = graph.ranges
        self.field_of_view_, self.centre_bearing_ = graph.field_of_view, graph.centre_bearing
        self.bearings_, self.max_range_ = graph.bearings, float(np.nanmax(ends))
        angles = graph.poses[:, 2:] + graph.bearings
        x, y = graph.poses[:, :1] + ends * np.cos(angles), graph.poses[:, 1:2] + ends * np.sin(angles)
        low, high = np.array([np.nanmin(x), np.nanmin(y)]), np.array([np.nanmax(x), np.nanmax(y)])
        self.cell_ = max(self.cell, float((high - low).max()) / MAX_CELLS)
        self.corner_ = low - self.cell_
        shape = np.ceil((high - self.corner_)[::-1] / self.cell_).astype(int) + 2
        ended, passed = np.zeros(shape), np.zeros(shape)
        _trace(graph.poses, graph.bearings, ends, self.corner_, self.cell_, ended, passed)
        self.hits_ = np.where(ended + passed > 0.0, ended / np.maximum(ended + passed, 1.0), 0.0)
        return self

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from right to left: (poses, segments) [m]."""
        poses = check_poses(poses)
        ranges = _cast(self.hits_, poses, self.bearings_, self.corner_, self.cell_, self.max_range_)
        return Sensorgraph(poses, ranges, self.bearings_).segments(self.segments)

    @property
    def size(self) -> int:
        """Number of cells that are not empty."""
        return int((self.hits_ > 0.0).sum())


@kernel(nogil=True)
def _trace(
    poses: Array, bearings: Array, ranges: Array, corner: Array, cell: float, ended: Array, passed: Array
) -> None:
    """Count the beams that ended in each cell, and those that passed through it."""
    for i in range(poses.shape[0]):
        for k in range(bearings.shape[0]):
            if not np.isfinite(ranges[i, k]):
                continue
            dx, dy = np.cos(poses[i, 2] + bearings[k]), np.sin(poses[i, 2] + bearings[k])
            for step in range(int(ranges[i, k] / cell)):
                distance = step * cell
                if distance > ranges[i, k] - 1.5 * cell:
                    break
                row = int((poses[i, 1] + distance * dy - corner[1]) / cell)
                column = int((poses[i, 0] + distance * dx - corner[0]) / cell)
                if 0 <= row < passed.shape[0] and 0 <= column < passed.shape[1]:
                    passed[row, column] += 1.0
            row = int((poses[i, 1] + ranges[i, k] * dy - corner[1]) / cell)
            column = int((poses[i, 0] + ranges[i, k] * dx - corner[0]) / cell)
            ended[row, column] += 1.0


@kernel(nogil=True)
def _cast(hits: Array, poses: Array, bearings: Array, corner: Array, cell: float, max_range: float) -> Array:
    """Range that a beam exceeds with a probability of one half: (poses, beams) [m].

    A beam ends in a cell that it enters with the probability ``hits`` of that cell.
    """
    result = np.empty((poses.shape[0], bearings.shape[0]))
    for i in range(poses.shape[0]):
        for k in range(bearings.shape[0]):
            dx, dy = np.cos(poses[i, 2] + bearings[k]), np.sin(poses[i, 2] + bearings[k])
            distance, left, last = 0.0, 1.0, -1
            while distance < max_range and left > 0.5:
                row = int((poses[i, 1] + distance * dy - corner[1]) / cell)
                column = int((poses[i, 0] + distance * dx - corner[0]) / cell)
                if not (0 <= row < hits.shape[0] and 0 <= column < hits.shape[1]):
                    distance = max_range
                    break
                here = row * hits.shape[1] + column
                if here != last:
                    left *= 1.0 - hits[row, column]
                    last = here
                distance += 0.5 * cell
            result[i, k] = min(distance, max_range)
    return result
