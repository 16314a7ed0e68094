"""Rivals of the sensor models: nearest scans of the log, and a neural net. `sandlot.surrogates.mapped` is another."""

import warnings
from typing import Self

import numpy as np

from sandlot.errors import ModelError
from sandlot.extras import need
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph, check_poses, directions
from sandlot.typing import Array

METRES_PER_RADIAN = (0.5, 1.0, 2.0, 4.0)
NEIGHBOURS = (1, 2, 4, 8)
"""Weights of yaw in the distance between poses [m/rad], and numbers of scans to average, that `Lookup` tries."""


class Lookup:
    """Average of the nearest scans of the log, weighted by inverse distance (Lund and Miglino 1996).

    Cross-validation decides the weight of the yaw and the number of scans.

    Args:
        folds: Of the cross-validation; each is a contiguous part of the log.
        segments: Of a scan.

    Attributes:
        metres_per_radian_: Weight of yaw in the distance between two poses [m/rad].
        neighbours_: Number of scans that are averaged.
    """

    def __init__(self, folds: int = 4, segments: int = SEGMENTS) -> None:
        self.folds, self.segments = folds, segments

    def fit(self, graph: Sensorgraph) -> Self:
        """Store the log."""
        poses, medians = _complete_scans(graph, self.segments)
        totals = {}
        for weight in METRES_PER_RADIAN:
            for neighbours in NEIGHBOURS:
                errors = []
                for part in np.array_split(np.arange(len(poses)), self.folds):
                    rest = np.delete(np.arange(len(poses)), part)
                    if not (len(part) and len(rest)):  # fewer scans than folds
                        continue
                    known, asked = _features(poses[rest], weight), _features(poses[part], weight)
                    guess = _average(known, medians[rest], asked, neighbours)
                    errors.append(np.abs(guess - medians[part]).sum())
                totals[weight, neighbours] = float(np.sum(errors))
        self.metres_per_radian_, self.neighbours_ = min(totals, key=lambda each: totals[each])
        self.field_of_view_, self.centre_bearing_ = graph.field_of_view, graph.centre_bearing
        self.poses_, self.medians_ = poses, medians
        return self

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from right to left: (poses, segments) [m]."""
        known, asked = (_features(each, self.metres_per_radian_) for each in (self.poses_, check_poses(poses)))
        return _average(known, self.medians_, asked, self.neighbours_)

    @property
    def size(self) -> int:
        """Number of values that are stored."""
        return self.poses_.size + self.medians_.size


class Net:
    """A feed-forward neural net from the pose to the segments (Lee, Nehmzow and Hubbard 1998).

    Args:
        hidden: Number of neurons of each hidden layer.
        shared: Whether the net predicts one direction at a time, and is trained on the overlapping windows of
            `Sensorgraph.windows`; otherwise it predicts all segments at once.
        seed: Of the initial weights.
        segments: Of a scan.
    """

    def __init__(
        self, hidden: tuple[int, ...] = (32,), shared: bool = False, seed: int = 0, segments: int = SEGMENTS
    ) -> None:
        self.hidden, self.shared, self.seed, self.segments = hidden, shared, seed, segments

    def fit(self, graph: Sensorgraph) -> Self:
        """Train the net."""
        network, limits = need("sklearn.neural_network", "learn"), need("threadpoolctl", "learn")
        from sklearn.exceptions import ConvergenceWarning

        if self.shared:
            graph.check(self.segments)
            poses, medians, _ = graph.windows(self.segments)
        else:
            poses, medians = _complete_scans(graph, self.segments)
        self.field_of_view_, self.centre_bearing_ = graph.field_of_view, graph.centre_bearing
        self.segment_bearings_ = graph.segment_bearings(self.segments)
        self.origin_, self.scale_ = poses[:, :2].mean(0), float(poses[:, :2].std()) + 1e-9
        self.mean_range_, self.range_scale_ = medians.mean(0), float(medians.std()) + 1e-9
        rounds = 200 if self.shared else 2000
        self.net_ = network.MLPRegressor(hidden_layer_sizes=self.hidden, max_iter=rounds, random_state=self.seed)
        # One thread: for a net this small, more threads are slower.
        with warnings.catch_warnings(), limits.threadpool_limits(1):
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.net_.fit(self._inputs(poses), (medians - self.mean_range_) / self.range_scale_)
        return self

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from right to left: (poses, segments) [m]."""
        asked = check_poses(poses)
        if self.shared:
            asked = directions(asked, self.segment_bearings_)
        found = self.net_.predict(self._inputs(asked)) * self.range_scale_ + self.mean_range_
        return np.maximum(found, 0.0).reshape(-1, self.segments)

    @property
    def size(self) -> int:
        """Number of weights and biases."""
        return sum(each.size for each in (*self.net_.coefs_, *self.net_.intercepts_))

    def _inputs(self, poses: Array) -> Array:
        place = (poses[:, :2] - self.origin_) / self.scale_
        return np.column_stack([place, np.cos(poses[:, 2]), np.sin(poses[:, 2])])


def _complete_scans(graph: Sensorgraph, segments: int) -> tuple[Array, Array]:
    """Poses and medians of the scans with a return in every segment."""
    graph.check(segments)
    medians = graph.segments(segments)
    known = np.isfinite(medians).all(1)
    if not known.any():
        raise ModelError("no scan has a return in every segment; this model needs such scans")
    return graph.poses[known], medians[known]


def _features(poses: Array, weight: float) -> Array:
    return np.column_stack([poses[:, :2], weight * np.cos(poses[:, 2]), weight * np.sin(poses[:, 2])])


def _average(known: Array, values: Array, asked: Array, neighbours: int) -> Array:
    """Mean of the values of the nearest neighbours, weighted by inverse distance."""
    from scipy.spatial import cKDTree

    count = min(neighbours, len(known))
    distances, which = cKDTree(known).query(asked, count)
    distances, which = distances.reshape(len(asked), count), which.reshape(len(asked), count)
    weights = 1.0 / np.maximum(distances, 1e-9)
    average: Array = (weights[:, :, None] * values[which]).sum(1) / weights.sum(1)[:, None]
    return average
