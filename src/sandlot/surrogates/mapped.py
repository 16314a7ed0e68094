"""A rival of the sensor models: an occupancy grid map, in which rays are cast."""

import itertools
from typing import NamedTuple, Self

import numpy as np

from sandlot.kernels import kernel
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph, check_poses, fallback
from sandlot.typing import Array

MAX_CELLS = 4000
"""Of a map, along its longer side."""
CELLS = (0.05, 0.1, 0.2)
UNSEEN = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, np.inf)
"""What cross-validation chooses from: sizes of a cell, and path lengths through cells that no beam reached [m]."""


class Map(NamedTuple):
    """An occupancy grid map.

    Attributes:
        hits: (ny, nx) of the beams that reached a cell, the share that ended there; NaN if none reached it.
        corner: (2,) x and y of its lower corner [m].
        cell: Size of a cell [m].
    """

    hits: Array
    corner: Array
    cell: float


class Mapped:
    """An occupancy grid map made from the scans, in which rays are cast.

    A ray is of no use if it leaves the map, or has come too far through cells that no beam reached. As in `Local`,
    cross-validation decides what is free, and the median of a segment is predicted if all its rays are of no use.

    Args:
        cells: Sizes of the map's cells to choose from [m].
        unseen: Path lengths through cells that no beam reached, to choose from [m].
        folds: Of the cross-validation; each is a contiguous part of the log.
        segments: Of a scan.

    Attributes:
        map_: The map. Its cells are larger than chosen if it would have too many.
        unseen_: A ray that has come further through cells that no beam reached is of no use [m].
        fallback_: (segments,) median range of each segment [m].
        max_range_: Largest range of the log [m].
    """

    def __init__(
        self,
        cells: tuple[float, ...] = CELLS,
        unseen: tuple[float, ...] = UNSEEN,
        folds: int = 4,
        segments: int = SEGMENTS,
    ) -> None:
        self.cells, self.unseen, self.folds, self.segments = cells, unseen, folds, segments

    def fit(self, graph: Sensorgraph) -> Self:
        """Make the map."""
        graph.check(self.segments)
        self.field_of_view_, self.centre_bearing_ = graph.field_of_view, graph.centre_bearing
        self.bearings_, self.max_range_ = graph.bearings, float(np.nanmax(graph.ranges))
        self.fallback_ = fallback(graph.segments(self.segments))
        cell, self.unseen_ = self._choose(graph)
        self.map_ = draw(graph, cell)
        return self

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from right to left: (poses, segments) [m]."""
        return self._medians(self.map_, check_poses(poses), self.unseen_, self.fallback_)

    @property
    def size(self) -> int:
        """Number of cells that are not empty."""
        return int((self.map_.hits > 0.0).sum())

    def _medians(self, drawn: Map, poses: Array, unseen: float, otherwise: Array) -> Array:
        ranges = _cast(drawn.hits, poses, self.bearings_, drawn.corner, drawn.cell, self.max_range_, unseen)
        found = Sensorgraph(poses, ranges, self.bearings_).segments(self.segments)
        return np.where(np.isnan(found), otherwise, found)

    def _choose(self, graph: Sensorgraph) -> tuple[float, float]:
        """Size of the cells and path length through unseen cells, with the smallest errors in cross-validation."""
        choices, truth = list(itertools.product(self.cells, self.unseen)), graph.segments(self.segments)
        if len(choices) == 1:
            return choices[0]
        totals = dict.fromkeys(choices, 0.0)
        for others, part in graph.folds(self.folds):
            medians = fallback(others.segments(self.segments))
            for cell in self.cells:
                drawn = draw(others, cell)
                for unseen in self.unseen:
                    guess = self._medians(drawn, graph.poses[part], unseen, medians)
                    totals[cell, unseen] += float(np.nansum(np.abs(guess - truth[part])))
        return min(totals, key=lambda each: totals[each])


def draw(graph: Sensorgraph, cell: float) -> Map:
    """Make a map of scans.

    Args:
        graph: The scans.
        cell: Size of a cell [m].
    """
    angles = graph.poses[:, 2:] + graph.bearings
    x, y = graph.poses[:, :1] + graph.ranges * np.cos(angles), graph.poses[:, 1:2] + graph.ranges * np.sin(angles)
    low, high = np.array([np.nanmin(x), np.nanmin(y)]), np.array([np.nanmax(x), np.nanmax(y)])
    cell = max(cell, float((high - low).max()) / MAX_CELLS)
    corner = low - cell
    shape = np.ceil((high - corner)[::-1] / cell).astype(int) + 2
    ended, passed = np.zeros(shape), np.zeros(shape)
    _trace(graph.poses, graph.bearings, graph.ranges, corner, cell, ended, passed)
    return Map(np.where(ended + passed > 0.0, ended / np.maximum(ended + passed, 1.0), np.nan), corner, cell)


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
def _cast(
    hits: Array, poses: Array, bearings: Array, corner: Array, cell: float, max_range: float, max_unseen: float
) -> Array:
    """Range that a beam exceeds with a probability of one half: (poses, beams) [m].

    A beam ends in a cell that it enters with the probability ``hits`` of that cell. NaN if it leaves the map, or
    exceeds ``max_range``, or ``max_unseen`` within cells whose ``hits`` are NaN.
    """
    result = np.full((poses.shape[0], bearings.shape[0]), np.nan)
    step = 0.5 * cell
    for i in range(poses.shape[0]):
        for k in range(bearings.shape[0]):
            dx, dy = np.cos(poses[i, 2] + bearings[k]), np.sin(poses[i, 2] + bearings[k])
            distance, unseen, left, last = 0.0, 0.0, 1.0, -1
            while distance < max_range and unseen <= max_unseen:
                x, y = poses[i, 0] + distance * dx - corner[0], poses[i, 1] + distance * dy - corner[1]
                row, column = int(y / cell), int(x / cell)
                if not (0 <= row < hits.shape[0] and 0 <= column < hits.shape[1]):
                    break
                distance += step
                if np.isnan(hits[row, column]):
                    unseen += step
                elif row * hits.shape[1] + column != last:
                    last = row * hits.shape[1] + column
                    left *= 1.0 - hits[row, column]
                    if left <= 0.5:
                        result[i, k] = min(distance, max_range)
                        break
    return result
