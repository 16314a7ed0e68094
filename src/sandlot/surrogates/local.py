"""A sensor model of many small polynomials, each for a cell of similar rays."""

import itertools
from collections.abc import Sequence
from typing import Self

import numpy as np

from sandlot.errors import ModelError
from sandlot.surrogates import lines
from sandlot.surrogates.line_tables import look, pack, settle, tour, turned
from sandlot.surrogates.lines import Grid, Samples
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph, check_poses, directions, fallback
from sandlot.typing import Array

MAX_DEGREE = 8
"""The tables hold all terms up to the degree; their number grows with its cube."""
WIDE = np.inf
GRIDS = (
    (30.0, WIDE, WIDE),
    (15.0, 2.5, WIDE),
    (7.5, 1.2, WIDE),
    (5.0, 0.8, WIDE),
    (15.0, 1.6, 3.0),
    (10.0, 0.8, 1.6),
    (7.5, 0.5, 1.0),
)
"""Widths of cells by direction [degrees], across and along [m], among which cross-validation chooses."""
LEAST = (0.0, 0.25, 0.5, 0.75)
"""Shares of an interpolation's weights that known cells must have, among which cross-validation chooses."""


class Local:
    """Polynomials for overlapping cells of direction and position, in the coordinates of `sandlot.surrogates.lines`.

    The range in a direction does not depend on which beams measure it, so all windows of all scans are samples of the
    same function. Cross-validation chooses the widths of the cells, among several grids and all their combinations, and
    how many of the cells around a ray must have a polynomial. A prediction comes from the finest grid where they do.

    Args:
        degree: Of each polynomial.
        max_terms: Of each polynomial.
        grids: To choose from, coarse to fine: widths of cells by direction [degrees], across and along [m].
        folds: Of the cross-validation; each is a contiguous part of the log.
        segments: Of a scan.

    Attributes:
        field_of_view_: Of the laser [rad].
        centre_bearing_: Bearing of the centre of the field of view [rad].
        segment_bearings_: (segments,) bearing of the centre of each segment [rad].
        chosen_: Widths of the grids in use, finest first.
        least_: Share of the interpolation's weights that cells with a polynomial must have; elsewhere, the next grid is
            used.
        fallback_: (segments,) median range of each, predicted where no grid has a polynomial [m].
        range_limits_: Smallest and largest range of the log [m]; predictions stay within.
        cv_error_: Mean absolute error in cross-validation [m].
    """

    def __init__(
        self,
        degree: int = 3,
        max_terms: int = 12,
        grids: Sequence[tuple[float, float, float]] = GRIDS,
        folds: int = 4,
        segments: int = SEGMENTS,
    ) -> None:
        self.degree, self.max_terms, self.grids, self.folds, self.segments = degree, max_terms, grids, folds, segments

    def fit(self, graph: Sensorgraph) -> Self:
        """Choose among the grids and fit their polynomials."""
        if not 1 <= self.degree <= MAX_DEGREE:
            raise ModelError(f"degree={self.degree} is not possible; allowed: from 1 to {MAX_DEGREE}")
        graph.check(self.segments)
        samples = self._samples(graph)
        self.field_of_view_, self.centre_bearing_ = graph.field_of_view, graph.centre_bearing
        self.segment_bearings_ = graph.segment_bearings(self.segments)
        self.fallback_ = fallback(graph.segments(self.segments))
        self.range_limits_ = float(samples.medians.min()), float(samples.medians.max())
        self.chosen_, self.least_, self.cv_error_ = self._choose(graph)
        self.grids_ = [lines.fit(samples, widths, self.degree, self.max_terms) for widths in self.chosen_]
        return self

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from right to left: (poses, segments) [m]."""
        asked = check_poses(poses)
        result = np.full((len(asked), self.segments), np.nan)
        yaws, bearings = turned(asked[:, 2]), turned(self.segment_bearings_)
        order = tour(asked, yaws)
        for table in self._tables:
            look(table, asked, yaws, bearings, self.least_, order, result)
        settle(result, self.fallback_, *self.range_limits_)
        return result

    @property
    def grids_(self) -> list[Grid]:
        """The grids in use, finest first."""
        return self._grids

    @grids_.setter
    def grids_(self, grids: Sequence[Grid]) -> None:
        self._grids, self._tables = list(grids), [pack(grid) for grid in grids]

    @property
    def polynomials(self) -> int:
        """Number of polynomials."""
        return sum(len(grid.coefficients) for grid in self.grids_)

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return sum(int((grid.coefficients != 0.0).sum()) for grid in self.grids_)

    def equation(self) -> str:
        """One of the polynomials as text; see `lines.equation`."""
        some = [(grid, len(grid.coefficients) // 2) for grid in self.grids_ if len(grid.coefficients)]
        return lines.equation(*some[0]) if some else f"range = {self.fallback_[self.segments // 2]:.4g}"

    def _samples(self, graph: Sensorgraph) -> Samples:
        rays, medians, scans = graph.windows(self.segments)
        return Samples(rays, medians, scans, len(rays) / (max(len(np.unique(scans)), 1) * self.segments))

    def _choose(self, graph: Sensorgraph) -> tuple[list[tuple[float, float, float]], float, float]:
        """Grids and share of weights with the smallest cross-validation error, and that error [m]."""
        truth = graph.segments(self.segments)
        guesses = np.full((len(self.grids), len(LEAST), *truth.shape), np.nan)
        medians = np.tile(self.fallback_, (len(truth), 1))
        for others, part in graph.folds(self.folds):
            samples, asked = self._samples(others), directions(graph.poses[part], self.segment_bearings_)
            if not len(samples.medians):
                continue
            medians[part] = fallback(others.segments(self.segments))
            for k, widths in enumerate(self.grids):
                grid = lines.fit(samples, widths, self.degree, self.max_terms)
                for j, least in enumerate(LEAST):
                    guesses[k, j, part] = lines.predict(grid, asked, least).reshape(-1, self.segments)
        subsets = [itertools.combinations(range(len(self.grids)), size) for size in range(len(self.grids) + 1)]
        errors = {}
        for chosen, j in itertools.product(itertools.chain.from_iterable(subsets), range(len(LEAST))):
            guess = medians
            for k in chosen:
                guess = np.where(np.isnan(guesses[k, j]), guess, guesses[k, j])
            errors[chosen, j] = float(np.nanmean(np.abs(np.clip(guess, *self.range_limits_) - truth)))
        best, j = min(errors, key=lambda each: errors[each])
        return [self.grids[k] for k in reversed(best)], LEAST[j], errors[best, j]
