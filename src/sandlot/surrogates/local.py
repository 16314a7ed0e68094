"""A sensor model of many small polynomials, each for rays that run nearly alike."""

import itertools
from collections.abc import Sequence
from typing import Self

import numpy as np

from sandlot.errors import SandlotError
from sandlot.surrogates import lines
from sandlot.surrogates.line_tables import look, pack
from sandlot.surrogates.lines import Grid, Samples
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph, check_poses, directions
from sandlot.typing import Array

MOST_DEGREE = 8
"""All terms of a polynomial are laid out, whether there or not; beyond this, they would be very many."""
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
"""Widths of cells, by direction [degrees], across and along [m], from which cross-validation chooses."""


class Local:
    """Polynomials for overlapping cells of direction and place, in the coordinates of `sandlot.surrogates.lines`.

    To know what is seen in a direction it does not matter which part of the laser looks there: so all windows of all
    scans are samples of the same thing. How wide cells are is decided by cross-validation, among some grids of cells
    and all their combinations, where a finer one is asked first, and the next where it knows nothing.

    Args:
        degree: Of each polynomial.
        most: Terms of each.
        grids: From which to choose, from coarse to fine: widths of cells by direction [degrees], across and along [m].
        folds: For cross-validation: parts in a row of the log.
        segments: Of a scan.

    Attributes:
        chosen_: Widths of the grids that are asked, in this order.
        usual_: (segments,) the median of each, said where no cell knows anything [m].
        wrong_: Mean absolute error in cross-validation [m].
    """

    def __init__(
        self,
        degree: int = 3,
        most: int = 12,
        grids: Sequence[tuple[float, float, float]] = GRIDS,
        folds: int = 4,
        segments: int = SEGMENTS,
    ) -> None:
        self.degree, self.most, self.grids, self.folds, self.segments = degree, most, grids, folds, segments

    def fit(self, graph: Sensorgraph) -> Self:
        """Choose among the grids, and fit their polynomials."""
        if not 1 <= self.degree <= MOST_DEGREE:
            raise SandlotError(f"degree={self.degree} is not possible; allowed: from 1 to {MOST_DEGREE}")
        graph.check(self.segments)
        samples = self._samples(graph)
        self.spread_, self.middle_, self.centres_ = graph.spread, graph.middle, graph.centres(self.segments)
        self.usual_ = _usual(graph.segments(self.segments))
        self.limits_ = float(samples.medians.min()), float(samples.medians.max())
        self.chosen_, self.wrong_ = self._choose(graph)
        self.grids_ = [lines.fit(samples, widths, self.degree, self.most) for widths in self.chosen_]
        return self

    def predict(self, poses: Array) -> Array:
        """Medians of the segments, from the right to the left: (poses, segments) [m]."""
        asked = check_poses(poses)
        result = np.full((len(asked), self.segments), np.nan)
        for table in self._tables:
            look(table, asked, self.centres_, result)
        return np.clip(np.where(np.isnan(result), self.usual_, result), *self.limits_)

    @property
    def grids_(self) -> list[Grid]:
        """Those that are asked, in this order."""
        return self._grids

    @grids_.setter
    def grids_(self, grids: Sequence[Grid]) -> None:
        self._grids, self._tables = list(grids), [pack(grid) for grid in grids]

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return sum(int((grid.coefficients != 0.0).sum()) for grid in self.grids_)

    def equation(self) -> str:
        """One of the polynomials, for people; `lines.equation` says of what."""
        some = [(grid, len(grid.coefficients) // 2) for grid in self.grids_ if len(grid.coefficients)]
        return lines.equation(*some[0]) if some else f"range = {self.usual_[self.segments // 2]:.4g}"

    def _samples(self, graph: Sensorgraph) -> Samples:
        rays, medians, scans = graph.windows(self.segments)
        return Samples(rays, medians, scans, len(rays) / (max(len(np.unique(scans)), 1) * self.segments))

    def _choose(self, graph: Sensorgraph) -> tuple[list[tuple[float, float, float]], float]:
        """Which grids are least wrong about parts that were left out, and how wrong they are [m]."""
        truth = graph.segments(self.segments)
        guesses, usual = np.full((len(self.grids), *truth.shape), np.nan), np.tile(self.usual_, (len(truth), 1))
        for part in np.array_split(np.arange(len(graph)), self.folds):
            samples = self._samples(graph.part(np.delete(np.arange(len(graph)), part)))
            if not (len(part) and len(samples.medians)):  # so few scans there are
                continue
            asked = directions(graph.poses[part], self.centres_)
            usual[part] = _usual(np.delete(truth, part, 0))
            for k, widths in enumerate(self.grids):
                grid = lines.fit(samples, widths, self.degree, self.most)
                guesses[k, part] = lines.predict(grid, asked).reshape(-1, self.segments)
        subsets = [itertools.combinations(range(len(self.grids)), size) for size in range(len(self.grids) + 1)]
        wrong = {}
        for chosen in itertools.chain.from_iterable(subsets):
            guess = usual
            for k in chosen:
                guess = np.where(np.isnan(guesses[k]), guess, guesses[k])
            wrong[chosen] = float(np.nanmean(np.abs(np.clip(guess, *self.limits_) - truth)))
        best = min(wrong, key=lambda each: wrong[each])
        return [self.grids[k] for k in reversed(best)], wrong[best]


def _usual(medians: Array) -> Array:
    """The median of each segment: (segments,); of all of them for one that never had a return."""
    never = np.isnan(medians).all(0)
    usual: Array = np.nanmedian(np.where(never, np.nanmedian(medians), medians), 0)
    return usual
