"""A rival of the sensor models: a table of what was measured, in which the nearest entries are looked up."""

import itertools
from typing import NamedTuple, Self

import numpy as np
from scipy.spatial import cKDTree

from sandlot.errors import ModelError
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph, check_poses, directions, fallback
from sandlot.typing import Array

METRES_PER_RADIAN = (0.5, 1.0, 2.0, 4.0, 8.0)
NEIGHBOURS = (1, 2, 4, 8, 16)
REACHES = (0.25, 0.5, 1.0, 2.0, 4.0, np.inf)
"""What cross-validation chooses from: weights of a turn in the distance between two entries [m/rad], numbers of entries
to average, and distances beyond which the nearest entry is of no use [m]."""


class Entries(NamedTuple):
    """What the table holds.

    Attributes:
        poses: (entries, 3) x [m], y [m], and yaw or direction [rad].
        medians: (entries, values) median ranges [m].
        scans: Number of scans that they are from.
    """

    poses: Array
    medians: Array
    scans: int


class Lookup:
    """Average of the nearest entries of a table, weighted by inverse distance (Lund and Miglino 1996).

    As published, an entry is a scan: its pose and all its segments. With ``windows`` an entry is one of the windows
    of `Sensorgraph.windows`, and each segment is looked up by its own direction: the training data of `Local`. As
    there, cross-validation decides what is free, and the median of a segment is predicted where nothing is near.

    Args:
        windows: Whether entries are windows instead of whole scans.
        folds: Of the cross-validation; each is a contiguous part of the log.
        segments: Of a scan.

    Attributes:
        metres_per_radian_: Weight of a turn in the distance between two entries [m/rad].
        neighbours_: Number of entries that are averaged.
        reach_: If the nearest entry is further away than this [m], the median of the segment is predicted.
        fallback_: (segments,) these medians [m].
    """

    def __init__(self, windows: bool = True, folds: int = 4, segments: int = SEGMENTS) -> None:
        self.windows, self.folds, self.segments = windows, folds, segments

    def fit(self, graph: Sensorgraph) -> Self:
        """Store the log, and choose how it is looked up."""
        graph.check(self.segments)
        self.field_of_view_, self.centre_bearing_ = graph.field_of_view, graph.centre_bearing
        self.segment_bearings_ = graph.segment_bearings(self.segments)
        self.fallback_ = fallback(graph.segments(self.segments))
        self.entries_ = self._entries(graph)
        if not len(self.entries_.poses):
            raise ModelError("no scan has a return in every segment; this model needs such scans")
        self.metres_per_radian_, self.neighbours_, self.reach_ = self._choose(graph)
        return self

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from right to left: (poses, segments) [m]."""
        asked = self._asked(check_poses(poses))
        nearest = _nearest(self.entries_, asked, self.metres_per_radian_, self.neighbours_)
        return self._guess(*nearest, self.neighbours_, self.reach_, self.fallback_)

    @property
    def size(self) -> int:
        """Number of values to store: the pose of each scan, and all medians."""
        return 3 * self.entries_.scans + self.entries_.medians.size

    def _entries(self, graph: Sensorgraph) -> Entries:
        if self.windows:
            rays, medians, scans = graph.windows(self.segments)
            return Entries(rays, medians[:, None], len(np.unique(scans)))
        medians = graph.segments(self.segments)
        known = np.isfinite(medians).all(1)
        return Entries(graph.poses[known], medians[known], int(known.sum()))

    def _asked(self, poses: Array) -> Array:
        return directions(poses, self.segment_bearings_) if self.windows else poses

    def _guess(self, distances: Array, values: Array, neighbours: int, reach: float, otherwise: Array) -> Array:
        """Weighted mean of the nearest values: (poses, segments) [m]; ``otherwise`` if none is within reach."""
        weights = 1.0 / np.maximum(distances[:, :neighbours], 1e-9)
        mean = (weights[:, :, None] * values[:, :neighbours]).sum(1) / weights.sum(1)[:, None]
        near = np.broadcast_to(distances[:, :1] <= reach, mean.shape)
        return np.where(near.reshape(-1, self.segments), mean.reshape(-1, self.segments), otherwise)

    def _choose(self, graph: Sensorgraph) -> tuple[float, int, float]:
        """Weight of a turn, number of entries and reach with the smallest sum of errors in cross-validation."""
        truth = graph.segments(self.segments)
        totals = dict.fromkeys(itertools.product(METRES_PER_RADIAN, NEIGHBOURS, REACHES), 0.0)
        for others, part in graph.folds(self.folds):
            known, asked = self._entries(others), self._asked(graph.poses[part])
            if not len(known.poses):
                continue
            medians = fallback(others.segments(self.segments))
            for weight in METRES_PER_RADIAN:
                nearest = _nearest(known, asked, weight, max(NEIGHBOURS))
                for neighbours, reach in itertools.product(NEIGHBOURS, REACHES):
                    guess = self._guess(*nearest, neighbours, reach, medians)
                    totals[weight, neighbours, reach] += float(np.nansum(np.abs(guess - truth[part])))
        return min(totals, key=lambda each: totals[each])


def _nearest(known: Entries, asked: Array, weight: float, neighbours: int) -> tuple[Array, Array]:
    """Distances to the nearest entries: (asked, neighbours) [m]; and their medians: (asked, neighbours, values) [m]."""
    count = min(neighbours, len(known.poses))
    distances, which = cKDTree(_features(known.poses, weight)).query(_features(asked, weight), count)
    shape = len(asked), count
    return distances.reshape(shape), known.medians[which.reshape(shape)]


def _features(poses: Array, weight: float) -> Array:
    return np.column_stack([poses[:, :2], weight * np.cos(poses[:, 2]), weight * np.sin(poses[:, 2])])
