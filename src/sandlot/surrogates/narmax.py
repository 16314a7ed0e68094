"""NARMAX: a readable polynomial that predicts an output from inputs, and from its own past if there is one.

Nonlinear AutoRegressive Moving Average with eXogenous inputs (Chen and Billings 1989): a sum of few terms, each a
product of inputs, outputs and residuals, now or some steps ago. Which terms there are is found by forward orthogonal
regression; how many, by what they explain; their coefficients, by least squares, extended if there are residuals among
the factors. A model without lags is the simple case: a polynomial of its inputs.
"""

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Literal, Self

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin

from sandlot.errors import SandlotError
from sandlot.surrogates import equations, validity
from sandlot.surrogates.candidates import candidates, check_lags
from sandlot.surrogates.orthogonal import Path, bic, coefficients, forward, solve, take
from sandlot.surrogates.terms import evaluate, extent, finite, prepare
from sandlot.surrogates.terms import roll as roll_on
from sandlot.typing import Array, IntArray

ROUNDS = 300
"""Most rounds of extended least squares."""
CHOICES = 5
"""How often terms are chosen anew, now that residuals are better known."""
SETTLED = 1e-8
"""It has converged when no coefficient changes by more, as a share."""
STEADY = 1.1
"""From step to step, a model with residuals must not be wrong by more energy than this, beside that of its fit."""
LEARNED = ("factors_", "err_", "coefficients_", "errors_", "residuals_")
EXACT = 1e-24
"""A model that leaves no more than this share of the output's energy has no noise to explain."""
LARGEST = 1e150
"""What is larger cannot be squared and summed."""


class FitWarning(UserWarning):
    """A model was fitted, but its data did not say enough for it."""


class Narmax(RegressorMixin, BaseEstimator):
    """A NARMAX model, used as any regressor of scikit-learn.

    Args:
        degree: Most factors of a term.
        input_lags: Which past of the inputs, in steps; 0 is now.
        output_lags: Which past of the output, from 1; none for a static model.
        noise_lags: Which past of the residuals, from 1.
        count: How many terms, with residuals or without: a number; ``bic``, as Bayes' information criterion has it;
            ``err``, until all but ``threshold`` is explained; ``cv``, by cross-validation.
        most: Never more terms than so many.
        threshold: For ``err``: the share of the output's energy that may remain unexplained.
        folds: For ``cv``: into how many parts in a row the samples are cut.
        names: Of the inputs; ``x1``, ``x2`` ... if left out.

    Attributes:
        variables_: What terms are made of.
        factors_: (terms, degree) which variables each term is the product of; -1 for none.
        coefficients_: (terms,)
        errors_: (terms,) standard errors of the coefficients.
        err_: (terms,) error reduction ratios.
        residuals_: (samples - lag_,) of the fit, one step ahead.
        lag_: The greatest lag.

    Examples:
        >>> model = Narmax(degree=4, names=("x", "y")).fit(positions, ranges)
        >>> print(model)
    """

    def __init__(
        self,
        degree: int = 2,
        input_lags: Sequence[int] = (0,),
        output_lags: Sequence[int] = (),
        noise_lags: Sequence[int] = (),
        count: int | Literal["bic", "err", "cv"] = "bic",
        most: int = 30,
        threshold: float = 1e-3,
        folds: int = 5,
        names: Sequence[str] | None = None,
    ) -> None:
        self.degree = degree
        self.input_lags = input_lags
        self.output_lags = output_lags
        self.noise_lags = noise_lags
        self.count = count
        self.most = most
        self.threshold = threshold
        self.folds = folds
        self.names = names

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Find terms and coefficients.

        Args:
            X: (samples, inputs), in order of time if there are lags.
            y: (samples,)

        Raises:
            SandlotError: If the data have another shape, or are not all numbers.
        """
        self._check_settings()
        inputs, output = _series(X), np.ascontiguousarray(y, np.float64).reshape(-1)
        if output.size != inputs.shape[1]:
            raise SandlotError(f"y has {output.size} samples and X {inputs.shape[1]}; give as many of both")
        if not finite(output):
            raise SandlotError("y has values that are not numbers; leave these samples out")
        self.n_features_in_ = len(inputs)
        names = tuple(self.names or [f"x{k + 1}" for k in range(len(inputs))])
        if len(names) != len(inputs):
            raise SandlotError(f"{len(names)} names for {len(inputs)} inputs; give one for each")
        given = {"input_lags": (self.input_lags, 0), "output_lags": (self.output_lags, 1)}
        given["noise_lags"] = (self.noise_lags, 1)
        lags = [check_lags(name, each, least) for name, (each, least) in given.items()]
        found = candidates(names, *lags, self.degree)
        if output.size <= found.lag:
            raise SandlotError(f"{output.size} samples are not enough for lags of {found.lag}; give more")
        self.variables_, self.lag_, self._layout = list(found.variables), found.lag, found.layout
        target = output[self.lag_ :]
        rows = self._rows(inputs, output, np.zeros_like(output), found.process)
        path, chosen = self._structure(rows, target)
        self._keep(found.process, rows, path, chosen)
        if found.noisy and self.residuals_ @ self.residuals_ > EXACT * path.energy:
            self._fit_noise(inputs, output, found.factors)
        return self

    def predict(self, X: ArrayLike, y: ArrayLike | None = None) -> Array:
        """Predict the output, one step ahead if it has a past.

        Args:
            X: (samples, inputs)
            y: (samples,) what was measured, if the model looks at that; the first ``lag_`` are returned as they are,
                or as not a number where nothing was measured.

        Raises:
            SandlotError: If a model with a past is not given one.
        """
        self._check_fitted()
        inputs = _series(X, self.n_features_in_)
        if self.lag_ == 0:
            return evaluate(inputs.T.take(self._layout[:, 1], 1), self.factors_, self.coefficients_)
        if y is None and self._past():
            raise SandlotError("this model has a past: give predict(X, y) what was measured, or use free_run(X, start)")
        measured = np.full(inputs.shape[1], np.nan) if y is None else np.ascontiguousarray(y, np.float64).reshape(-1)
        return self._roll(inputs, measured, free=False)

    def free_run(self, X: ArrayLike, start: ArrayLike = ()) -> Array:
        """Predict the output from its inputs alone, each step going on from the model's own prediction.

        Args:
            X: (samples, inputs)
            start: The first ``lag_`` outputs.
        """
        self._check_fitted()
        inputs, begin = _series(X, self.n_features_in_), np.ascontiguousarray(start, np.float64).reshape(-1)
        if begin.size < self.lag_:
            raise SandlotError(f"start has {begin.size} outputs; this model needs the first {self.lag_}")
        output = np.zeros(inputs.shape[1])
        size = min(self.lag_, output.size)
        output[:size] = begin[:size]
        return self._roll(inputs, output, free=True)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Share of the output's variance that is predicted, one step ahead (R squared)."""
        from sklearn.metrics import r2_score

        measured = np.asarray(y, np.float64).reshape(-1)
        predicted = self.predict(X, measured)
        weight = None if sample_weight is None else np.asarray(sample_weight)[self.lag_ :]
        return float(r2_score(measured[self.lag_ :], predicted[self.lag_ :], sample_weight=weight))

    def validity(self, X: ArrayLike, lags: int = 20) -> xr.Dataset:
        """What the residuals of the fit still know about themselves and the inputs; see `validity.correlations`.

        Args:
            X: (samples, inputs) those of the fit.
            lags: How far to look.
        """
        self._check_fitted()
        return validity.correlations(self.residuals_, _series(X, self.n_features_in_).T[self.lag_ :], lags)

    def table(self) -> xr.Dataset:
        """Every term with its coefficient, standard error and ERR, in the order in which they were taken."""
        self._check_fitted()
        terms = [equations.term(factors, self.variables_) for factors in self.factors_]
        return xr.Dataset(
            {
                "coefficient": ("term", self.coefficients_, {"long_name": "coefficient"}),
                "error": ("term", self.errors_, {"long_name": "standard error"}),
                "err": ("term", self.err_, {"units": "1", "long_name": "error reduction ratio"}),
            },
            {"term": terms},
        )

    def __str__(self) -> str:
        """The equation, and beneath it a table of its terms."""
        return equations.text(self) if hasattr(self, "coefficients_") else repr(self)

    def _structure(self, rows: Array, target: Array) -> tuple[Path, int]:
        """The path through the terms, as `orthogonal.take` leaves their rows, and how many of them to keep."""
        limit = self.most if isinstance(self.count, str) else self.count
        room = max(1, target.size // 2)
        if min(rows.shape[0], limit) > room:
            warnings.warn(f"{target.size} samples are few: at most {room} terms", FitWarning, stacklevel=3)
        low, high = extent(target)
        if high - low <= 1e-12 * max(-low, high):
            warnings.warn("the output is constant: there is nothing to explain", FitWarning, stacklevel=3)
            return take(rows, target, 1, 1), 1
        crossed = self.count == "cv" and target.size >= 2 * self.folds
        whole = rows.copy() if crossed else rows
        path = take(rows, target, min(limit, room, rows.shape[0]), 0)
        if path.collinear:
            warnings.warn(f"{path.collinear} terms repeat others, and are left out", FitWarning, stacklevel=3)
        if not isinstance(self.count, str):
            return path, path.order.size
        if self.count == "err":
            enough = np.flatnonzero(1.0 - np.cumsum(path.err) <= self.threshold)
            return path, int(enough[0]) + 1 if enough.size else path.order.size
        if crossed:
            wrong = np.maximum(self._crossed(whole, target, path.order.size), 1e-15 * path.energy)
        else:
            wrong = bic(path, target.size)
        return path, int(np.argmin(wrong)) + 1

    def _crossed(self, rows: Array, target: Array, most: int) -> Array:
        """Squared error on parts that were left out, by number of terms: (most,)."""
        wrong = np.zeros(most)
        for part in np.array_split(np.arange(target.size), self.folds):
            kept = np.delete(np.arange(target.size), part)
            path = forward(rows[:, kept], target[kept], most)
            left_out = rows[path.order][:, part]
            for k in range(most):
                n = min(k + 1, path.order.size)
                wrong[k] += float(((target[part] - coefficients(path, n) @ left_out[:n]) ** 2).sum())
        return wrong

    def _keep(self, factors: IntArray, rows: Array, path: Path, chosen: int) -> None:
        taken = path.order[:chosen]
        self.factors_, self.err_ = factors[taken], path.err[:chosen]
        self.coefficients_, self.errors_, self.residuals_ = solve(path, rows, chosen)
        if not (finite(self.coefficients_) and finite(self.errors_)):
            raise SandlotError("X is too small beside y; give them in other units")

    def _fit_noise(self, inputs: Array, output: Array, factors: IntArray) -> None:
        """Choose among all terms, now that there are residuals; again if better residuals change the choice."""
        plain = {name: getattr(self, name) for name in LEARNED}
        target, before = output[self.lag_ :], set[tuple[int, ...]]()
        for _ in range(CHOICES):
            rows = self._rows(inputs, output, self._noise(), factors)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FitWarning)  # said before
                path, chosen = self._structure(rows, target)
            taken = factors[path.order[:chosen]]
            self._settle(inputs, output, taken)
            now = {tuple(each) for each in taken.tolist()}
            if now == before:
                break
            before = now
        rolled = target - self._roll(inputs, output, free=False)[self.lag_ :]
        with np.errstate(over="ignore", invalid="ignore"):
            steady = rolled @ rolled <= STEADY * (self.residuals_ @ self.residuals_)
        if not steady:
            warnings.warn("residuals do not settle: the model has none; try other noise_lags", FitWarning, stacklevel=3)
            self.__dict__.update(plain)

    def _settle(self, inputs: Array, output: Array, factors: IntArray) -> None:
        """Extended least squares: coefficients from residuals, residuals from coefficients, until both stay."""
        target, before = output[self.lag_ :], np.empty(0)
        for _ in range(ROUNDS):
            rows = self._rows(inputs, output, self._noise(), factors)
            path = take(rows, target, len(factors), len(factors))
            if path.order.size < len(factors):  # residuals that say nothing new
                return
            self._keep(factors, rows, path, len(factors))
            now, close = self.coefficients_, SETTLED * (np.abs(self.coefficients_) + self.errors_)
            if before.size and (np.abs(now - before) <= close).all():
                return
            before = now
        warnings.warn(f"extended least squares did not settle in {ROUNDS} rounds", FitWarning, stacklevel=3)

    def _rows(self, inputs: Array, output: Array, noise: Array, factors: IntArray) -> Array:
        rows, most = prepare(inputs, output, noise, self._layout, self.lag_, factors)
        low, high = extent(output[self.lag_ :])
        if not max(most, -low, high) <= LARGEST:
            raise SandlotError(f"X or y is too large for a degree of {self.degree}; give it in other units")
        return rows

    def _noise(self) -> Array:
        """The residuals of the fit, of all samples."""
        return np.concatenate([np.zeros(self.lag_), self.residuals_])

    def _roll(self, inputs: Array, output: Array, free: bool) -> Array:
        if output.size != inputs.shape[1]:
            raise SandlotError(f"y has {output.size} samples and X {inputs.shape[1]}; give as many of both")
        return roll_on(
            np.ascontiguousarray(inputs.T), output, self._layout, self.lag_, self.factors_, self.coefficients_, free
        )

    def _past(self) -> bool:
        """Whether it looks at what the output was before."""
        return any(each.kind != "input" for each in self.variables_)

    def _check_fitted(self) -> None:
        if not hasattr(self, "coefficients_"):
            raise SandlotError("this model has not been fitted; call fit(X, y) first")

    def _check_settings(self) -> None:
        if not _whole(self.degree) or self.degree < 1:
            raise SandlotError(f"degree={self.degree} is not possible; allowed: whole numbers from 1 on")
        if isinstance(self.count, str) and self.count not in ("bic", "err", "cv"):
            raise SandlotError(f"count={self.count} is not possible; allowed: a number, or one of bic, err, cv")
        if not isinstance(self.count, str) and not _whole(self.count):
            raise SandlotError(f"count={self.count} is not possible; allowed: a whole number, or one of bic, err, cv")
        if (not isinstance(self.count, str) and self.count < 1) or self.most < 1:
            raise SandlotError("a model needs at least one term")
        if self.count == "cv" and self.folds < 2:
            raise SandlotError(f"folds={self.folds} is not possible; allowed: from 2 on")


def _series(values: ArrayLike, inputs: int | None = None) -> Array:
    """Each input over time: (inputs, samples)."""
    array = np.asarray(values, np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise SandlotError(f"X has {array.ndim} axes; it is (samples, inputs)")
    if inputs is not None and array.shape[1] != inputs:
        raise SandlotError(f"X has {array.shape[1]} inputs; this model was fitted with {inputs}")
    if array.shape[0] == 0:
        raise SandlotError("X has no samples")
    series = np.ascontiguousarray(array.T)
    if not finite(series.reshape(-1)):
        raise SandlotError("X has values that are not numbers; leave these samples out")
    return series


def _whole(value: object) -> bool:
    return isinstance(value, Integral)
