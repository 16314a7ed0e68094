"""Fits a NARMAX model: terms by forward orthogonal regression, coefficients by (extended) least squares."""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sandlot.errors import FitError
from sandlot.surrogates.candidates import Candidates
from sandlot.surrogates.orthogonal import Path, solve, take
from sandlot.surrogates.rolling import roll
from sandlot.surrogates.selection import FitWarning, Selection
from sandlot.surrogates.terms import extent, finite, prepare
from sandlot.typing import Array, IntArray

MAX_ROUNDS = 300
"""Of extended least squares."""
MAX_SELECTIONS = 5
"""How often terms are selected again with better residuals."""
CONVERGED = 1e-8
"""Extended least squares has converged when no coefficient changes by more than this share."""
STABLE = 1.1
"""The squared one-step-ahead errors of a model with residuals may be this many times those of its fit."""
EXACT = 1e-24
"""A model that leaves at most this share of the output's energy has no noise to explain."""
LARGEST = 1e150
"""Larger values overflow when they are squared and summed."""


class Fit(NamedTuple):
    """The result; see the attributes of `sandlot.surrogates.narmax.Narmax`."""

    factors: IntArray
    err: Array
    coefficients: Array
    errors: Array
    residuals: Array


@dataclass(frozen=True)
class Regression:
    """The data and the settings of one fit.

    Attributes:
        inputs: (inputs, samples)
        output: (samples,)
        bounds: (segments + 1,) of `segments.split`.
        kept: Index of the samples that have a complete past, of `segments.rows`.
        candidates: Terms to select from.
        selection: How many terms to select.
        degree: Maximum number of factors of a term.
    """

    inputs: Array
    output: Array
    bounds: IntArray
    kept: slice | IntArray
    candidates: Candidates
    selection: Selection
    degree: int

    def fit(self) -> Fit:
        """Select terms and compute their coefficients; first without residuals, then with them if there is noise."""
        target = self.output[self.kept]
        low, high = extent(target)
        self._check_size(max(-low, high))
        unused = np.zeros_like(self.output) if self.candidates.noisy else self.output
        rows = self._rows(unused, self.candidates.process)
        path, chosen = self.selection.select(rows, target)
        plain = self._solve(self.candidates.process, rows, path, chosen)
        if not self.candidates.noisy or plain.residuals @ plain.residuals <= EXACT * path.energy:
            return plain
        found = self._fit_noise(plain, target)
        rolled = target - self._predict(found)[self.kept]
        with np.errstate(over="ignore", invalid="ignore"):
            stable = rolled @ rolled <= STABLE * (found.residuals @ found.residuals)
        if not stable:
            warnings.warn("residuals diverge: the model has none; try other noise_lags", FitWarning, stacklevel=3)
        return found if stable else plain

    def _fit_noise(self, fit: Fit, target: Array) -> Fit:
        """Select among all terms, using the residuals so far; repeat until the selection stays the same."""
        factors, before = self.candidates.factors, set[tuple[int, ...]]()
        for _ in range(MAX_SELECTIONS):
            rows = self._rows(self._noise(fit), factors)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FitWarning)  # the first selection has warned already
                path, chosen = self.selection.select(rows, target)
            taken = factors[path.order[:chosen]]
            fit = self._extended_least_squares(fit, taken, target)
            now = {tuple(each) for each in taken.tolist()}
            if now == before:
                break
            before = now
        return fit

    def _extended_least_squares(self, fit: Fit, factors: IntArray, target: Array) -> Fit:
        """Compute coefficients from residuals and residuals from coefficients in turn until both converge."""
        before = np.empty(0)
        for _ in range(MAX_ROUNDS):
            rows = self._rows(self._noise(fit), factors)
            path = take(rows, target, len(factors), len(factors))
            if path.order.size < len(factors):  # terms with residuals are collinear
                return fit
            fit = self._solve(factors, rows, path, len(factors))
            now, close = fit.coefficients, CONVERGED * (np.abs(fit.coefficients) + fit.errors)
            if before.size and (np.abs(now - before) <= close).all():
                return fit
            before = now
        warnings.warn(f"extended least squares did not converge in {MAX_ROUNDS} rounds", FitWarning, stacklevel=5)
        return fit

    def _solve(self, factors: IntArray, rows: Array, path: Path, chosen: int) -> Fit:
        found = Fit(factors[path.order[:chosen]], path.err[:chosen], *solve(path, rows, chosen))
        if not (finite(found.coefficients) and finite(found.errors)):
            raise FitError("X is too small compared with y; use other units")
        return found

    def _rows(self, noise: Array, factors: IntArray) -> Array:
        """The value of every term at every sample, as `terms.design` returns them."""
        layout, lag = self.candidates.layout, self.candidates.lag
        rows, bound = prepare(self.inputs, self.output, noise, layout, self.bounds, lag, factors)
        self._check_size(bound)
        return rows

    def _check_size(self, size: float) -> None:
        if not size <= LARGEST:
            raise FitError(f"X or y is too large for a degree of {self.degree}; use other units")

    def _predict(self, fit: Fit) -> Array:
        """One step ahead: (samples,)."""
        layout, lag = self.candidates.layout, self.candidates.lag
        inputs = np.ascontiguousarray(self.inputs.T)
        return roll(inputs, self.output, layout, self.bounds, lag, fit.factors, fit.coefficients, 1)

    def _noise(self, fit: Fit) -> Array:
        """The residuals of a fit, with zeros where there are none: (samples,)."""
        noise = np.zeros_like(self.output)
        noise[self.kept] = fit.residuals
        return noise
