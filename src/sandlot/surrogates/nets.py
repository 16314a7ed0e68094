"""A rival of the sensor models: a neural net."""

import math
import warnings
from typing import Self

import numpy as np

from sandlot.extras import need
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph, check_poses, directions
from sandlot.typing import Array

BATCH = 512
STAGES = ((3e-3, 2600), (1e-3, 1300), (3e-4, 700), (1e-4, 400))
"""Of the training: learning rates, and steps with each; a step uses `BATCH` samples."""


class Net:
    """A feed-forward neural net from a position and a direction to the range (Lee, Nehmzow and Hubbard 1998).

    It is trained on the overlapping windows of `Sensorgraph.windows`, like `Local`; the published one predicted all
    segments at once. Nets cannot tell where they know nothing, so there is no median to fall back to.

    Args:
        hidden: Number of neurons of each hidden layer.
        seed: Of the initial weights.
        segments: Of a scan.

    Attributes:
        net_: The trained net.
        range_limits_: Smallest and largest range of the log [m]; predictions stay within.
    """

    def __init__(self, hidden: tuple[int, ...] = (32,), seed: int = 0, segments: int = SEGMENTS) -> None:
        self.hidden, self.seed, self.segments = hidden, seed, segments

    def fit(self, graph: Sensorgraph) -> Self:
        """Train the net."""
        network, limits = need("sklearn.neural_network", "learn"), need("threadpoolctl", "learn")
        from sklearn.exceptions import ConvergenceWarning

        graph.check(self.segments)
        rays, medians, _ = graph.windows(self.segments)
        self.field_of_view_, self.centre_bearing_ = graph.field_of_view, graph.centre_bearing
        self.segment_bearings_ = graph.segment_bearings(self.segments)
        self.range_limits_ = float(medians.min()), float(medians.max())
        self.origin_, self.scale_ = rays[:, :2].mean(0), float(rays[:, :2].std()) + 1e-9
        self.mean_range_, self.range_scale_ = float(medians.mean()), float(medians.std()) + 1e-9
        inputs, target = self._inputs(rays), ((medians - self.mean_range_) / self.range_scale_).astype(np.float32)
        batch = min(BATCH, len(target))
        self.net_ = network.MLPRegressor(
            hidden_layer_sizes=self.hidden,
            batch_size=batch,
            random_state=self.seed,
            warm_start=True,
            n_iter_no_change=10**6,  # each stage runs to its end
        )
        # One thread: for a net this small, more threads are slower.
        with warnings.catch_warnings(), limits.threadpool_limits(1):
            warnings.simplefilter("ignore", ConvergenceWarning)
            for rate, steps in STAGES:
                rounds = math.ceil(steps / math.ceil(len(target) / batch))
                self.net_.set_params(learning_rate_init=rate, max_iter=rounds).fit(inputs, target)
        return self

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from right to left: (poses, segments) [m]."""
        asked = directions(check_poses(poses), self.segment_bearings_)
        found = self.net_.predict(self._inputs(asked)).astype(np.float64) * self.range_scale_ + self.mean_range_
        return np.clip(found, *self.range_limits_).reshape(-1, self.segments)

    @property
    def size(self) -> int:
        """Number of weights and biases."""
        return sum(each.size for each in (*self.net_.coefs_, *self.net_.intercepts_))

    def _inputs(self, rays: Array) -> Array:
        place = (rays[:, :2] - self.origin_) / self.scale_
        return np.column_stack([place, np.cos(rays[:, 2]), np.sin(rays[:, 2])]).astype(np.float32)
