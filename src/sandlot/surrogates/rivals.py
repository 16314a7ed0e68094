"""What others use to simulate a sensor from its log: a table to look up, a net, and a map to cast rays in."""

import warnings
from typing import Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from sandlot.errors import SandlotError
from sandlot.kernels import kernel
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph, check_poses, directions
from sandlot.typing import Array

REACH = (0.5, 1.0, 2.0, 4.0)
NEAREST = (1, 2, 4, 8)
"""How many metres a turn by one radian is as far as, and how many scans to mix: what `Lookup` chooses from."""
MOST_CELLS = 4000
"""Of a map, along its longer side."""


class Lookup:
    """The nearest scans of the log, mixed by how near they are (Lund and Miglino 1996).

    How far a turn is, and how many scans are mixed, is decided by cross-validation.

    Args:
        folds: For cross-validation: parts in a row of the log.
        segments: Of a scan.

    Attributes:
        reach_: A turn by one radian is as far as so many metres.
        nearest_: So many scans are mixed.
    """

    def __init__(self, folds: int = 4, segments: int = SEGMENTS) -> None:
        self.folds, self.segments = folds, segments

    def fit(self, graph: Sensorgraph) -> Self:
        """Keep the log."""
        poses, medians = _whole(graph, self.segments)
        wrong = {}
        for reach in REACH:
            for nearest in NEAREST:
                errors = []
                for part in np.array_split(np.arange(len(poses)), self.folds):
                    rest = np.delete(np.arange(len(poses)), part)
                    if not (len(part) and len(rest)):  # so few scans there are
                        continue
                    guess = _mixed(_features(poses[rest], reach), medians[rest], _features(poses[part], reach), nearest)
                    errors.append(np.abs(guess - medians[part]).sum())
                wrong[reach, nearest] = float(np.sum(errors))
        self.reach_, self.nearest_ = min(wrong, key=lambda each: wrong[each])
        self.spread_, self.middle_, self.poses_, self.medians_ = graph.spread, graph.middle, poses, medians
        return self

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from the right to the left: (poses, segments) [m]."""
        near = (_features(self.poses_, self.reach_), self.medians_)
        return _mixed(*near, _features(check_poses(poses), self.reach_), self.nearest_)

    @property
    def size(self) -> int:
        """How many numbers are kept."""
        return self.poses_.size + self.medians_.size


class Net:
    """A small neural net of pose to segments (Lee, Nehmzow and Hubbard 1998).

    Args:
        hidden: Neurons of each hidden layer.
        shared: Whether it is shown windows at every few degrees of a scan, as `Local` is, and asked for one direction
            at a time; otherwise it is shown, and asked for, all segments at once.
        seed: Of its first weights.
        segments: Of a scan.
    """

    def __init__(
        self, hidden: tuple[int, ...] = (32,), shared: bool = False, seed: int = 0, segments: int = SEGMENTS
    ) -> None:
        self.hidden, self.shared, self.seed, self.segments = hidden, shared, seed, segments

    def fit(self, graph: Sensorgraph) -> Self:
        """Train it."""
        from sklearn.neural_network import MLPRegressor

        if self.shared:
            graph.check(self.segments)
            poses, medians, _ = graph.windows(self.segments)
        else:
            poses, medians = _whole(graph, self.segments)
        self.spread_, self.middle_, self.centres_ = graph.spread, graph.middle, graph.centres(self.segments)
        self.origin_, self.scale_ = poses[:, :2].mean(0), float(poses[:, :2].std()) + 1e-9
        self.usual_, self.range_ = medians.mean(0), float(medians.std()) + 1e-9
        rounds = 200 if self.shared else 2000
        self.net_ = MLPRegressor(hidden_layer_sizes=self.hidden, max_iter=rounds, random_state=self.seed)
        # It is small: several threads would only wait for each other.
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.net_.fit(self._inputs(poses), (medians - self.usual_) / self.range_)
        return self

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from the right to the left: (poses, segments) [m]."""
        asked = check_poses(poses)
        if self.shared:
            asked = directions(asked, self.centres_)
        found = self.net_.predict(self._inputs(asked)) * self.range_ + self.usual_
        return np.maximum(found, 0.0).reshape(-1, self.segments)

    @property
    def size(self) -> int:
        """How many weights there are."""
        return sum(each.size for each in (*self.net_.coefs_, *self.net_.intercepts_))

    def _inputs(self, poses: Array) -> Array:
        place = (poses[:, :2] - self.origin_) / self.scale_
        return np.column_stack([place, np.cos(poses[:, 2]), np.sin(poses[:, 2])])


class Mapped:
    """A map of the places where beams ended, in which rays are cast.

    Args:
        cell: Size of the map's cells [m].
        segments: Of a scan.

    Attributes:
        cell_: Size of the cells [m]; larger than wanted if there would be too many.
        hits_: (ny, nx) share of the beams that reached a cell and ended there.
    """

    def __init__(self, cell: float = 0.05, segments: int = SEGMENTS) -> None:
        self.cell, self.segments = cell, segments

    def fit(self, graph: Sensorgraph) -> Self:
        """Make the map."""
        graph.check(self.segments)
        ends = graph.ranges
        self.spread_, self.middle_ = graph.spread, graph.middle
        self.bearings_, self.most_ = graph.bearings, float(np.nanmax(ends))
        angles = graph.poses[:, 2:] + graph.bearings
        x, y = graph.poses[:, :1] + ends * np.cos(angles), graph.poses[:, 1:2] + ends * np.sin(angles)
        low, high = np.array([np.nanmin(x), np.nanmin(y)]), np.array([np.nanmax(x), np.nanmax(y)])
        self.cell_ = max(self.cell, float((high - low).max()) / MOST_CELLS)
        self.corner_ = low - self.cell_
        shape = np.ceil((high - self.corner_)[::-1] / self.cell_).astype(int) + 2
        ended, passed = np.zeros(shape), np.zeros(shape)
        _trace(graph.poses, graph.bearings, ends, self.corner_, self.cell_, ended, passed)
        self.hits_ = np.where(ended + passed > 0.0, ended / np.maximum(ended + passed, 1.0), 0.0)
        return self

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from the right to the left: (poses, segments) [m]."""
        poses = check_poses(poses)
        ranges = _cast(self.hits_, poses, self.bearings_, self.corner_, self.cell_, self.most_)
        return Sensorgraph(poses, ranges, self.bearings_).segments(self.segments)

    @property
    def size(self) -> int:
        """How many cells of the map are not empty."""
        return int((self.hits_ > 0.0).sum())


def _whole(graph: Sensorgraph, segments: int) -> tuple[Array, Array]:
    """Poses and medians of the scans of which every segment has a return."""
    graph.check(segments)
    medians = graph.segments(segments)
    known = np.isfinite(medians).all(1)
    if not known.any():
        raise SandlotError("no scan has a return in every segment; this model needs some that do")
    return graph.poses[known], medians[known]


def _features(poses: Array, reach: float) -> Array:
    return np.column_stack([poses[:, :2], reach * np.cos(poses[:, 2]), reach * np.sin(poses[:, 2])])


def _mixed(known: Array, values: Array, asked: Array, nearest: int) -> Array:
    """Mean of the nearest, each counting by one over its distance."""
    from scipy.spatial import cKDTree

    count = min(nearest, len(known))
    far, which = cKDTree(known).query(asked, count)
    far, which = far.reshape(len(asked), count), which.reshape(len(asked), count)
    weights = 1.0 / np.maximum(far, 1e-9)
    mixed: Array = (weights[:, :, None] * values[which]).sum(1) / weights.sum(1)[:, None]
    return mixed


@kernel(nogil=True)
def _trace(
    poses: Array, bearings: Array, ranges: Array, corner: Array, cell: float, ended: Array, passed: Array
) -> None:
    """Count in each cell how many beams ended there, and how many went through."""
    for i in range(poses.shape[0]):
        for k in range(bearings.shape[0]):
            if not np.isfinite(ranges[i, k]):
                continue
            dx, dy = np.cos(poses[i, 2] + bearings[k]), np.sin(poses[i, 2] + bearings[k])
            for step in range(int(ranges[i, k] / cell)):
                away = step * cell
                if away > ranges[i, k] - 1.5 * cell:
                    break
                row = int((poses[i, 1] + away * dy - corner[1]) / cell)
                column = int((poses[i, 0] + away * dx - corner[0]) / cell)
                if 0 <= row < passed.shape[0] and 0 <= column < passed.shape[1]:
                    passed[row, column] += 1.0
            row = int((poses[i, 1] + ranges[i, k] * dy - corner[1]) / cell)
            column = int((poses[i, 0] + ranges[i, k] * dx - corner[0]) / cell)
            ended[row, column] += 1.0


@kernel(nogil=True)
def _cast(hits: Array, poses: Array, bearings: Array, corner: Array, cell: float, most: float) -> Array:
    """Where rays end: each cell stops its share of them, and the median of the ray is returned."""
    result = np.empty((poses.shape[0], bearings.shape[0]))
    for i in range(poses.shape[0]):
        for k in range(bearings.shape[0]):
            dx, dy = np.cos(poses[i, 2] + bearings[k]), np.sin(poses[i, 2] + bearings[k])
            away, left, last = 0.0, 1.0, -1
            while away < most and left > 0.5:
                row = int((poses[i, 1] + away * dy - corner[1]) / cell)
                column = int((poses[i, 0] + away * dx - corner[0]) / cell)
                if not (0 <= row < hits.shape[0] and 0 <= column < hits.shape[1]):
                    away = most
                    break
                here = row * hits.shape[1] + column
                if here != last:
                    left *= 1.0 - hits[row, column]
                    last = here
                away += 0.5 * cell
            result[i, k] = min(away, most)
    return result
