"""Finds the soil that explains measurements, how certain it is, and what the measurements do not determine.

Simulated drives are noisy functions of the soil: a wheel that touches one node more or less changes all that follows.
Derivatives from small differences would be those of the noise. So each Jacobian is a linear regression over a design of
16 soils around the present one, a Hadamard matrix and its negative, in which every simulation counts for every
parameter (Box and Wilson 1951). Steps are those of Gauss and Newton with a prior, within bounds.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize
from pydantic import Field

from sandlot.errors import RecordingError
from sandlot.settings import Settings
from sandlot.surrogates.soil.evidence import Evidence, Layout, joined
from sandlot.surrogates.soil.parameters import COORDINATES, HIGH, LOW, kind_of
from sandlot.typing import Array

DESIGN = scipy.linalg.hadamard(len(COORDINATES) + 1)[:, 1:].astype(np.float64)
"""(8, 7) signs of an orthogonal design for seven coordinates."""
DIVERGED = 10.0
"""A prediction that diverged counts as wrong by so many standard deviations."""
LONGEST = 1.5
"""Step of the search, in standard deviations of what is known before."""
SHARES = (1.0, 0.5, 0.25)
"""Shares of a step that are tried."""


class FitSettings(Settings):
    """Settings of a fit.

    Attributes:
        first: Random soils that the search begins with.
        rounds: Steps of the search.
        spread: Size of the first design, in standard deviations of what is known before; the last is half of it.
        seed: Of everything random.
        workers: Simulations at a time; the result does not depend on it.
    """

    first: int = Field(24, ge=1)
    rounds: int = Field(4, ge=1)
    spread: float = Field(0.5, gt=0.0, le=2.0)
    seed: int = Field(0, ge=0)
    workers: int = Field(1, ge=1)

    @property
    def evaluations(self) -> int:
        """Simulations of all evidence, in all."""
        return self.first + self.rounds * (2 * len(DESIGN) + len(SHARES)) + 2 * len(DESIGN)


@dataclass(frozen=True, eq=False)
class Estimate:
    """The result of a search.

    Attributes:
        best: (7,) standardised coordinates.
        covariance: (7, 7) of the same.
        freedom: Degrees of freedom of the covariance.
        scales: (channels,) typical errors of what was measured, beside the best soil.
        predicted: (n,) measurements, as the best soil predicts them.
        measured: (n,) the same, as they were measured.
        layout: Of the measurements.
    """

    best: Array
    covariance: Array
    freedom: int
    scales: Array
    predicted: Array
    measured: Array
    layout: Layout


class Misfit:
    """How far predictions are from measurements, for any soil.

    Attributes:
        width: Of the wheels or plate that Bekker's pressure is for [m].
        layout: Of all measurements.
        measured: (n,) all measurements.
        scales: (channels,) typical errors.
    """

    def __init__(self, evidence: Sequence[Evidence], workers: int, report: Callable[[], None]) -> None:
        """Prepare; ``report`` is called after each simulation of all evidence."""
        self.evidence, self.workers, self._report = evidence, workers, report
        self.width = evidence[0].width
        self.layout = joined([each.layout for each in evidence])
        self.measured = np.concatenate([each.measured for each in evidence])
        self.scales = np.array([channel.scale for channel in self.layout.channels])
        # All measurements of a channel in a block count as one: their errors are hardly independent.
        groups = self.layout.block * len(self.scales) + self.layout.channel
        self._weights = 1.0 / np.sqrt(np.bincount(groups)[groups])

    def predict(self, points: Array) -> Array:
        """Predictions (points, n) of soils with standardised coordinates (points, 7)."""

        def one(point: Array) -> Array:
            found = np.concatenate([each.predict(kind_of(point, self.width)) for each in self.evidence])
            self._report()
            return found

        with ThreadPoolExecutor(self.workers) as pool:
            return np.array(list(pool.map(one, points)))

    def away(self, predicted: Array) -> Array:
        """Errors (..., n) of predictions (..., n) in standard deviations."""
        found = (predicted - self.measured) / self.scales[self.layout.channel]
        return np.where(np.isfinite(found), found, DIVERGED)

    def cost(self, predicted: Array, points: Array) -> Array:
        """What a search minimises (points,): errors, of which large ones count linearly, and what is known before."""
        errors = 2.0 * (np.sqrt(1.0 + self.away(predicted) ** 2) - 1.0)
        return np.asarray(errors @ self._weights**2 + (points**2).sum(axis=1))

    def linear(self, centre: Array, at_centre: Array, spread: float) -> tuple[Array, Array, Array]:
        """Weighted errors (n,) at a soil and their derivatives (n, 7), by regression over a design around it.

        The third result (n,) is how much less the cost of each error curves than its square does.

        Args:
            centre: (7,) standardised coordinates of the soil.
            at_centre: (n,) its predictions.
            spread: Of the design.
        """
        points = np.clip(centre + spread * np.vstack([DESIGN, -DESIGN]), LOW, HIGH)
        away = self.away(np.vstack([at_centre, self.predict(points)]))
        rows = np.column_stack([np.ones(len(points) + 1), np.vstack([np.zeros_like(centre), points - centre])])
        found, *_ = np.linalg.lstsq(rows, away, rcond=None)
        # Iteratively reweighted least squares: errors beyond the typical ones count less.
        weights = self._weights * (1.0 + away[0] ** 2) ** -0.25
        return weights * away[0], weights[:, None] * found[1:].T, 1.0 / (1.0 + away[0] ** 2)

    def rescale(self, predicted: Array) -> None:
        """Set typical errors to those of predictions (n,)."""
        for k, channel in enumerate(self.layout.channels):
            away = np.abs(predicted - self.measured)[self.layout.channel == k]
            typical = 1.4826 * float(np.median(away[np.isfinite(away)])) if np.isfinite(away).any() else channel.scale
            self.scales[k] = min(max(typical, channel.floor), 10.0 * channel.scale)


def fit(
    evidence: Sequence[Evidence],
    given: FitSettings,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Estimate:
    """Find the soil that explains all evidence.

    Args:
        evidence: Drives, or tables of test rigs.
        given: Settings.
        report: Called with the simulations that are done, and all.

    Raises:
        RecordingError: If there is no evidence.
    """
    if not evidence:
        raise RecordingError("there is nothing to fit soil to; give a recording that is at least one window long")
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        report(min(done, given.evaluations), given.evaluations)

    misfit = Misfit(evidence, given.workers, count)
    size = len(COORDINATES)
    from scipy import stats  # loaded when needed: it takes a second

    drawn = stats.qmc.LatinHypercube(size, rng=np.random.default_rng(given.seed)).random(given.first)
    points = np.clip(stats.norm.ppf(drawn), LOW, HIGH)
    points[0] = np.clip(0.0, LOW, HIGH)
    predicted = misfit.predict(points)
    # Twice: typical errors depend on which soil is the best, and the other way round.
    for _ in range(2):
        first = int(np.argmin(misfit.cost(predicted, points)))
        misfit.rescale(predicted[first])
    best, at_best = points[first], predicted[first]
    for k in range(given.rounds):
        spread = given.spread * (1.0 - 0.5 * k / given.rounds)
        errors, slopes, _ = misfit.linear(best, at_best, spread)
        tried = best + np.outer(SHARES, _step(errors, slopes, best))
        found = misfit.predict(tried)
        cost = misfit.cost(np.vstack([at_best, found]), np.vstack([best, tried]))
        chosen = int(np.argmin(cost))
        if chosen:
            best, at_best = tried[chosen - 1], found[chosen - 1]
            misfit.rescale(at_best)
    covariance, freedom = _covariance(*misfit.linear(best, at_best, 0.5 * given.spread), misfit.layout)
    report(given.evaluations, given.evaluations)
    return Estimate(best, covariance, freedom, misfit.scales.copy(), at_best, misfit.measured, misfit.layout)


def _step(errors: Array, slopes: Array, best: Array) -> Array:
    """The step (7,) to the least squares of linear errors and of the distance from what is known before."""
    size = len(best)
    rows, values = np.vstack([slopes, np.eye(size)]), -np.concatenate([errors, best])
    low, high = np.maximum(LOW - best, -LONGEST), np.minimum(HIGH - best, LONGEST)
    return np.asarray(scipy.optimize.lsq_linear(rows, values, (low - 1e-12, high + 1e-12)).x)


def _covariance(errors: Array, slopes: Array, bends: Array, layout: Layout) -> tuple[Array, int]:
    """Covariance of coordinates, and its degrees of freedom: Laplace's, with the variance of blocks (a sandwich).

    Scores of few blocks give a poor estimate of their variance, so it is averaged with that of independent errors of
    unit variance, the more so the fewer blocks there are. Arguments are as `Misfit.linear` gives them.
    """
    size, blocks = slopes.shape[1], int(layout.block.max()) + 1
    scores = np.zeros((blocks, size))
    np.add.at(scores, layout.block, slopes * errors[:, None])
    between = scores.T @ scores * blocks / max(blocks - 1, 1)
    variance = (blocks * between + size * (slopes.T @ slopes)) / (blocks + size)
    inverse = np.linalg.inv(slopes.T @ (slopes * bends[:, None]) + np.eye(size))
    return inverse @ (variance + np.eye(size)) @ inverse, max(blocks - 1, 1)


def deviations(covariance: Array) -> Array:
    """Standard deviations: (7,)."""
    return np.sqrt(np.diag(covariance))


def quantile(freedom: int, share: float) -> float:
    """Half the width of an interval with a share of all, in standard deviations (Student's t)."""
    from scipy import stats

    return float(stats.t.ppf(0.5 + 0.5 * share, freedom))
