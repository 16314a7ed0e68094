"""NARMAX: a readable polynomial that predicts an output from inputs and, if wanted, from past outputs.

Nonlinear AutoRegressive Moving Average with eXogenous inputs (Chen and Billings 1989): a sum of a few terms, each a
product of lagged inputs, outputs and residuals. Without lags it is a polynomial of its inputs. `regression` fits it.
"""

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from sandlot.errors import ModelError
from sandlot.extras import need
from sandlot.surrogates import equations, validity
from sandlot.surrogates.candidates import candidates, check_lags
from sandlot.surrogates.regression import Regression
from sandlot.surrogates.selection import FitWarning, Selection, is_whole
from sandlot.surrogates.terms import evaluate, finite, roll
from sandlot.typing import Array

try:
    from sklearn.base import BaseEstimator, RegressorMixin
except ModuleNotFoundError:  # Models fit and predict without scikit-learn; only its own tools need its base classes.
    BaseEstimator, RegressorMixin = (type(name, (), {}) for name in ("BaseEstimator", "RegressorMixin"))

__all__ = ["FitWarning", "Narmax"]


class Narmax(RegressorMixin, BaseEstimator):
    """A NARMAX model, a regressor of scikit-learn.

    Args:
        degree: Maximum number of factors of a term.
        input_lags: Lags of the inputs, in steps; 0 is the current step.
        output_lags: Lags of the output, from 1; empty for a static model.
        noise_lags: Lags of the residuals, from 1.
        n_terms: Number of terms: a number; ``bic``, by the Bayesian information criterion; ``err``, until all but
            ``threshold`` is explained; ``cv``, by cross-validation.
        max_terms: Upper limit for ``bic``, ``err`` and ``cv``.
        threshold: For ``err``: share of the output's energy that may remain unexplained.
        folds: For ``cv``: number of folds; each is a contiguous part of the samples.
        names: Names of the inputs; ``x1``, ``x2`` ... if left out.

    Attributes:
        variables_: The lagged inputs, outputs and residuals.
        factors_: (terms, degree) index of the variables of each term; -1 fills unused places.
        coefficients_: (terms,)
        errors_: (terms,) standard errors of the coefficients.
        err_: (terms,) error reduction ratios.
        residuals_: (samples - lag_,) of the fit, one step ahead.
        lag_: The largest lag.

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
        n_terms: int | Literal["bic", "err", "cv"] = "bic",
        max_terms: int = 30,
        threshold: float = 1e-3,
        folds: int = 5,
        names: Sequence[str] | None = None,
    ) -> None:
        self.degree = degree
        self.input_lags = input_lags
        self.output_lags = output_lags
        self.noise_lags = noise_lags
        self.n_terms = n_terms
        self.max_terms = max_terms
        self.threshold = threshold
        self.folds = folds
        self.names = names

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Select terms and compute their coefficients.

        Args:
            X: (samples, inputs), in order of time if there are lags.
            y: (samples,)

        Raises:
            ModelError: If a setting is impossible, or the data have another shape, NaN or infinity.
        """
        if not is_whole(self.degree) or self.degree < 1:
            raise ModelError(f"degree={self.degree} is not possible; allowed: whole numbers from 1 on")
        selection = Selection(self.n_terms, self.max_terms, self.threshold, self.folds)
        inputs, output = _series(X), np.ascontiguousarray(y, np.float64).reshape(-1)
        _check_length(inputs, output)
        if not finite(output):
            raise ModelError("y has NaN or infinity; leave these samples out")
        self.n_features_in_ = len(inputs)
        names = tuple(self.names or [f"x{k + 1}" for k in range(len(inputs))])
        if len(names) != len(inputs):
            raise ModelError(f"{len(names)} names for {len(inputs)} inputs; give one for each")
        given = {"input_lags": (self.input_lags, 0), "output_lags": (self.output_lags, 1)}
        given["noise_lags"] = (self.noise_lags, 1)
        lags = [check_lags(name, each, least) for name, (each, least) in given.items()]
        found = candidates(names, *lags, self.degree)
        if output.size <= found.lag:
            raise ModelError(f"{output.size} samples are not enough for lags of {found.lag}; give more")
        self.variables_, self.lag_, self._layout = list(found.variables), found.lag, found.layout
        fit = Regression(inputs, output, found, selection, self.degree).fit()
        self.factors_, self.err_, self.coefficients_, self.errors_, self.residuals_ = fit
        return self

    def predict(self, X: ArrayLike, y: ArrayLike | None = None) -> Array:
        """Predict the output; one step ahead if the model has lagged outputs or residuals.

        Args:
            X: (samples, inputs)
            y: (samples,) measured output, needed by models with lagged outputs or residuals. The first ``lag_``
                predictions are copies of it, or NaN if it is left out.

        Raises:
            ModelError: If y is needed and left out.
        """
        self._check_fitted()
        inputs = _series(X, self.n_features_in_)
        if self.lag_ == 0:
            return evaluate(inputs.T.take(self._layout[:, 1], 1), self.factors_, self.coefficients_)
        if y is None and any(each.kind != "input" for each in self.variables_):
            raise ModelError("this model uses past outputs: call predict(X, y) with measured y, or free_run(X, start)")
        measured = np.full(inputs.shape[1], np.nan) if y is None else np.ascontiguousarray(y, np.float64).reshape(-1)
        return self._roll(inputs, measured, free=False)

    def free_run(self, X: ArrayLike, start: ArrayLike = ()) -> Array:
        """Predict the output from the inputs alone; lagged outputs are the model's own predictions.

        Args:
            X: (samples, inputs)
            start: The first ``lag_`` outputs.

        Raises:
            ModelError: If there are fewer outputs to start from.
        """
        self._check_fitted()
        inputs, begin = _series(X, self.n_features_in_), np.ascontiguousarray(start, np.float64).reshape(-1)
        if begin.size < self.lag_:
            raise ModelError(f"start has {begin.size} outputs; this model needs the first {self.lag_}")
        output = np.zeros(inputs.shape[1])
        size = min(self.lag_, output.size)
        output[:size] = begin[:size]
        return self._roll(inputs, output, free=True)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Coefficient of determination (R squared) of the predictions one step ahead."""
        r2_score = need("sklearn.metrics", "learn").r2_score
        measured = np.asarray(y, np.float64).reshape(-1)
        predicted = self.predict(X, measured)
        weight = None if sample_weight is None else np.asarray(sample_weight)[self.lag_ :]
        return float(r2_score(measured[self.lag_ :], predicted[self.lag_ :], sample_weight=weight))

    def validity(self, X: ArrayLike, lags: int = 20) -> xr.Dataset:
        """Correlations of the residuals with themselves and with the inputs; see `validity.correlations`.

        Args:
            X: (samples, inputs) the inputs of the fit.
            lags: Maximum lag, in steps.
        """
        self._check_fitted()
        return validity.correlations(self.residuals_, _series(X, self.n_features_in_).T[self.lag_ :], lags)

    def table(self) -> xr.Dataset:
        """Every term with its coefficient, standard error and ERR, in the order of selection."""
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
        """The equation, and below it a table of its terms."""
        return equations.text(self) if hasattr(self, "coefficients_") else repr(self)

    def _roll(self, inputs: Array, output: Array, free: bool) -> Array:
        _check_length(inputs, output)
        series = np.ascontiguousarray(inputs.T)
        return roll(series, output, self._layout, self.lag_, self.factors_, self.coefficients_, free)

    def _check_fitted(self) -> None:
        if not hasattr(self, "coefficients_"):
            raise ModelError("this model is not fitted; call fit(X, y) first")


def _series(values: ArrayLike, inputs: int | None = None) -> Array:
    """Each input over time: (inputs, samples)."""
    array = np.asarray(values, np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ModelError(f"X has {array.ndim} axes; it should be (samples, inputs)")
    if inputs is not None and array.shape[1] != inputs:
        raise ModelError(f"X has {array.shape[1]} inputs; this model was fitted with {inputs}")
    if array.shape[0] == 0:
        raise ModelError("X has no samples")
    series = np.ascontiguousarray(array.T)
    if not finite(series.reshape(-1)):
        raise ModelError("X has NaN or infinity; leave these samples out")
    return series


def _check_length(inputs: Array, output: Array) -> None:
    if output.size != inputs.shape[1]:
        raise ModelError(f"y has {output.size} samples and X {inputs.shape[1]}; give as many of both")
