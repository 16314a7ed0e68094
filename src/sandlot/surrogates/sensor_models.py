"""Sensor models: from a pose to the median range of each segment of a laser scan, all with `fit` and `predict`."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np

from sandlot.errors import ModelError
from sandlot.surrogates import equations
from sandlot.surrogates.narmax import FitWarning, Narmax
from sandlot.surrogates.polynomials import polynomials, products
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph, check_poses
from sandlot.surrogates.terms import NONE
from sandlot.typing import Array, IntArray

MIN_SCANS = 5
"""A sector with fewer scans gets no polynomials, but the medians of all scans."""


class SensorModel(Protocol):
    """What every sensor model has.

    Attributes:
        segments: Number of segments of a scan.
        field_of_view_: Of the laser it was fitted to [rad].
        centre_bearing_: Bearing of the centre of that field of view [rad].
    """

    segments: int
    field_of_view_: float
    centre_bearing_: float

    def fit(self, graph: Sensorgraph) -> Self:
        """Fit it to scans and their poses."""

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from right to left: (poses, segments) [m]."""

    @property
    def size(self) -> int:
        """Number of parameters."""


def assess(model: SensorModel, logs: Sequence[Sensorgraph], share: float) -> Array:
    """Error of a model on the last part of every log, fitted to the first part.

    Args:
        model: Is fitted to the first parts.
        logs: Of the same laser.
        share: Of each log that is held out.

    Returns:
        (segments,) mean absolute error [m]; NaN for a segment without a return.

    Raises:
        ModelError: If nothing is left to fit or to compare with.
    """
    parts = [log.split(share) for log in logs]
    training, held_out = (Sensorgraph.join([part[k] for part in parts]) for k in (0, 1))
    if not (len(training) and len(held_out)):
        raise ModelError(f"{len(training) + len(held_out)} scans are too few to hold out {share:g} of them")
    errors = np.abs(model.fit(training).predict(held_out.poses) - held_out.segments(model.segments))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # segments without a return
        result: Array = np.nanmean(errors, 0)
    return result


class _Polynomials(ABC):
    """The common part of `Sectors` and `Headings`: a polynomial for each segment and each group of yaw angles."""

    groups = 1
    names: tuple[str, ...] = ()

    def __init__(self, degree: int, max_terms: int, segments: int) -> None:
        self.degree, self.max_terms, self.segments = degree, max_terms, segments

    @abstractmethod
    def inputs(self, poses: Array) -> Array:
        """Inputs of the polynomials: (poses, inputs)."""

    def group(self, poses: Array) -> IntArray:
        """Index of the group of polynomials to use: (poses,)."""
        return np.zeros(len(poses), np.int64)

    def fit(self, graph: Sensorgraph) -> Self:
        """Fit all polynomials. A segment without any return gets the median of all segments."""
        graph.check(self.segments)
        low, high = graph.poses[:, :2].min(0), graph.poses[:, :2].max(0)
        self.origin_ = 0.5 * (low + high)
        medians, group, values = graph.segments(self.segments), self.group(graph.poses), self.inputs(graph.poses)
        never = np.isnan(medians).all(0)
        fallback, self.min_ranges_, self.max_ranges_ = (
            function(np.where(never, function(medians), medians), 0)
            for function in (np.nanmedian, np.nanmin, np.nanmax)
        )
        self.models_: list[list[Narmax | None]] = []
        for name in range(self.groups):
            row: list[Narmax | None] = []
            for segment in range(self.segments):
                known = (group == name) & np.isfinite(medians[:, segment])
                row.append(self._fit_one(values[known], medians[known, segment]) if known.sum() >= MIN_SCANS else None)
            self.models_.append(row)
        kept = [model for row in self.models_ for model in row if model is not None]
        terms = max([len(model.factors_) for model in kept], default=1)
        self.factors_ = np.full((self.groups, self.segments, terms, self.degree), NONE, np.int64)
        self.coefficients_ = np.zeros((self.groups, self.segments, terms))
        self.coefficients_[:, :, 0] = fallback
        for g, row in enumerate(self.models_):
            for s, model in enumerate(row):
                if model is not None:
                    used = model.coefficients_ != 0.0
                    count = int(used.sum())
                    self.factors_[g, s, :count], self.coefficients_[g, s] = model.factors_[used], 0.0
                    self.coefficients_[g, s, :count] = model.coefficients_[used]
        self.field_of_view_, self.centre_bearing_ = graph.field_of_view, graph.centre_bearing
        self.prepare()
        return self

    def prepare(self) -> None:
        """Prepare the polynomials for `predict`."""
        self._shared = products(self.factors_, self.coefficients_)

    def _fit_one(self, values: Array, medians: Array) -> Narmax:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)  # some sectors have few scans
            # `predict` takes factors and coefficients alone, so they must not refer to centres.
            model = Narmax(self.degree, max_terms=self.max_terms, names=self.names, centre=False)
            return model.fit(values, medians)

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from right to left: (poses, segments) [m]; within the ranges of the log."""
        poses = check_poses(poses)
        packed = (self._shared, self.coefficients_, self.min_ranges_, self.max_ranges_)
        return polynomials(self.inputs(poses), self.group(poses), *packed)

    def narmax(self, group: int, segment: int) -> Narmax:
        """The polynomial of a segment and a group; a constant where there were too few scans.

        Raises:
            ModelError: If the model was loaded: a file holds only what `predict` needs.
        """
        if not hasattr(self, "models_"):
            raise ModelError("a loaded model has no equations to write; fit it again")
        found = self.models_[group][segment]
        if found is None:
            found = self._fit_one(np.zeros((2, len(self.names))), np.full(2, self.coefficients_[group, segment, 0]))
        return found

    def equation(self) -> str:
        """One of the polynomials as text: that of the first segment left of straight ahead, for yaw 0."""
        return equations.text(self.narmax(0, self.segments // 2), "range").partition("\n")[0]

    @property
    def polynomials(self) -> int:
        """Number of polynomials."""
        return self.groups * self.segments

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return int((self.coefficients_ != 0.0).sum())


class Sectors(_Polynomials):
    """The model of Nehmzow et al. (2009): for each of 12 sectors of yaw and each segment, a polynomial of x and y.

    x and y are relative to the centre of the log.

    Args:
        sectors: Number of equal sectors of yaw.
        degree: Of the polynomials.
        max_terms: Of each polynomial; the Bayesian information criterion decides the number.
        segments: Of a scan.

    Attributes:
        models_: For each sector, counter-clockwise from the one around yaw 0, the models of the segments; None where
            there were too few scans.
    """

    names = ("x", "y")

    def __init__(self, sectors: int = 12, degree: int = 4, max_terms: int = 15, segments: int = SEGMENTS) -> None:
        super().__init__(degree, max_terms, segments)
        self.groups = self.sectors = sectors

    def inputs(self, poses: Array) -> Array:
        """Position relative to the centre of the log [m]."""
        return poses[:, :2] - self.origin_

    def group(self, poses: Array) -> IntArray:
        """Index of the sector whose centre is nearest to the yaw."""
        return np.floor(poses[:, 2] / (2.0 * np.pi / self.sectors) + 0.5).astype(np.int64) % self.sectors


class Headings(_Polynomials):
    """For each segment, one polynomial of x, y and the cosine and sine of the yaw.

    Args:
        degree: Of the polynomials.
        max_terms: Of each polynomial; the Bayesian information criterion decides the number.
        segments: Of a scan.

    Attributes:
        models_: One row: the models of the segments.
    """

    names = ("x", "y", "c", "s")

    def __init__(self, degree: int = 6, max_terms: int = 60, segments: int = SEGMENTS) -> None:
        super().__init__(degree, max_terms, segments)

    def inputs(self, poses: Array) -> Array:
        """Position relative to the centre of the log [m], and cosine and sine of the yaw."""
        return np.column_stack([poses[:, :2] - self.origin_, np.cos(poses[:, 2]), np.sin(poses[:, 2])])
