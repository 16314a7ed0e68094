"""NARMAX: a readable polynomial that predicts an output from inputs and, if wanted, from past outputs.

Nonlinear AutoRegressive Moving Average with eXogenous inputs (Chen and Billings 1989): a sum of a few terms, each a
product of lagged inputs, outputs and residuals. Without lags it is a polynomial of its inputs. `regression` fits it.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from sandlot.errors import FitError
from sandlot.extras import need
from sandlot.surrogates import equations, validity
from sandlot.surrogates.candidates import find
from sandlot.surrogates.centring import centre, moments
from sandlot.surrogates.regression import Regression
from sandlot.surrogates.regressor import Regressor, all_lags
from sandlot.surrogates.rolling import FREE, roll
from sandlot.surrogates.segments import longest, rows, split
from sandlot.surrogates.selection import FitWarning, Selection, allow, is_from
from sandlot.surrogates.terms import Variable, evaluate, finite
from sandlot.typing import Array

__all__ = ["FitWarning", "Narmax"]

MOST_STEPS = 1_000_000_000
"""No more steps ahead are possible; for more there is the free run."""


class Narmax(Regressor):
    """A NARMAX model, a regressor of scikit-learn.

    Args:
        degree: Maximum number of factors of a term.
        input_lags: Lags of the inputs, in steps; 0 is the current step. For all inputs, or a sequence with the lags of
            each, or a mapping from names to lags, which leaves out inputs that are not used.
        output_lags: Lags of the output, from 1; empty for a static model.
        noise_lags: Lags of the residuals, from 1.
        n_terms: Number of terms: a number; ``bic``, by the Bayesian information criterion; ``err``, until all but
            ``threshold`` is explained; ``cv``, by cross-validation.
        max_terms: Upper limit for ``bic``, ``err`` and ``cv``.
        threshold: For ``err``: share of the output's energy that may remain unexplained.
        folds: For ``cv``: number of folds; each is a contiguous part of the samples.
        names: Names of the inputs; those of a DataFrame's columns, or ``x1``, ``x2`` ... if left out.
        steps_ahead: How many steps ahead ``predict`` and ``score`` predict; None for a free run.
        centre: Whether inputs and outputs far from 0 are centred; see `sandlot.surrogates.centring`.

    Attributes:
        variables_: The lagged inputs, outputs and residuals, with their centres.
        factors_: (terms, degree) index of the variables of each term; -1 fills unused places.
        coefficients_: (terms,)
        errors_: (terms,) standard errors of the coefficients.
        err_: (terms,) error reduction ratios.
        residuals_: (samples - lag_ of each segment,) of the fit, one step ahead.
        lag_: The largest lag.
        centres_: (inputs,) subtracted from the inputs; 0 where not centred.
        output_centre_: Subtracted from the output, whose sum of terms it is added to; 0 if not centred.
        mean_: Mean output.
        n_features_in_: Number of inputs.
        feature_names_in_: Names of a DataFrame's columns; only if X had any.

    Examples:
        >>> model = Narmax(degree=4, names=("x", "y")).fit(positions, ranges)
        >>> print(model)
    """

    def __init__(
        self,
        degree: int = 2,
        input_lags: Sequence[int] | Sequence[Sequence[int]] | Mapping[str, Sequence[int]] = (0,),
        output_lags: Sequence[int] = (),
        noise_lags: Sequence[int] = (),
        n_terms: int | Literal["bic", "err", "cv"] = "bic",
        max_terms: int = 30,
        threshold: float = 1e-3,
        folds: int = 5,
        names: Sequence[str] | None = None,
        steps_ahead: int | None = 1,
        centre: bool = True,
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
        self.steps_ahead = steps_ahead
        self.centre = centre

    def fit(self, X: ArrayLike, y: ArrayLike, segments: ArrayLike | None = None) -> Self:
        """Select terms and compute their coefficients.

        Args:
            X: (samples, inputs), in order of time if there are lags.
            y: (samples,)
            segments: (samples,) label of the episode or recording of each sample; samples of one are consecutive. No
                lag reaches from one into another; those of at most ``lag_`` samples are not used.

        Raises:
            FitError: If a setting is impossible, or the data have another shape, NaN or infinity. It is a ValueError,
                as are scikit-learn's own errors.
        """
        allow("degree", self.degree, is_from(self.degree, 1), "whole numbers from 1 on")
        allow("centre", self.centre, isinstance(self.centre, (bool, np.bool_)), "True and False")
        self._steps()
        selection = Selection(self.n_terms, self.max_terms, self.threshold, self.folds)
        inputs = self._check_inputs(X, reset=True)
        output = self._check_output(y, len(inputs))
        if not finite(output):
            raise FitError("y has NaN or infinity; leave these samples out")
        found = find(self._names(), self.input_lags, self.output_lags, self.noise_lags, self.degree)
        bounds = split(segments, output.size)
        if longest(bounds) <= found.lag:
            where = "" if segments is None else " in the longest segment"
            raise FitError(f"{longest(bounds)} samples{where} are not enough for lags of {found.lag}; give more")
        self.variables_, self.lag_, self._layout = list(found.variables), found.lag, found.layout
        self._had_segments = segments is not None
        series = np.ascontiguousarray(inputs.T)
        *of_inputs, of_output = moments(series, output).tolist()
        found_centres = [centre(*each) if self.centre else 0.0 for each in (*of_inputs, of_output)]
        self.mean_, self._is_centred = of_output[0], any(found_centres)
        self.centres_, self.output_centre_ = np.array(found_centres[:-1]), found_centres[-1]
        if self._is_centred:
            series, output = series - self.centres_[:, None], output - self.output_centre_
            self.variables_ = [replace(each, centre=self._centre_of(each)) for each in self.variables_]
        fit = Regression(series, output, bounds, rows(bounds, found.lag), found, selection, self.degree).fit()
        self.factors_, self.err_, self.coefficients_, self.errors_, self.residuals_ = fit
        return self

    def predict(self, X: ArrayLike, y: ArrayLike | None = None, segments: ArrayLike | None = None) -> Array:
        """Predict the output; ``steps_ahead`` steps ahead if the model has lagged outputs or residuals.

        Args:
            X: (samples, inputs)
            y: (samples,) measured output. The first ``lag_`` predictions of each segment are copies of it; the next
                ``steps_ahead - 1`` are fewer steps ahead, since they start from these. Without it, the first ``lag_``
                are ``mean_``, and a model with lagged outputs runs free from there.
            segments: As in `fit`.

        Raises:
            FitError: If the data have another shape, NaN or infinity.
        """
        self._check_fitted()
        inputs = self._check_inputs(X)
        if self.lag_ == 0:
            return self._static(inputs)
        if y is None:
            return self._roll(inputs, np.full(len(inputs), self.mean_), segments, FREE)
        measured = self._check_output(y, len(inputs))
        if not finite(measured):
            raise FitError("y has NaN or infinity; leave these samples out")
        return self._roll(inputs, measured, segments, self._steps())

    def free_run(self, X: ArrayLike, start: ArrayLike = ()) -> Array:
        """Predict the output from the inputs alone; lagged outputs are the model's own predictions.

        Args:
            X: (samples, inputs)
            start: The first ``lag_`` outputs.

        Raises:
            FitError: If there are fewer outputs to start from, or one is NaN or infinity.
        """
        self._check_fitted()
        inputs, begin = self._check_inputs(X), np.asarray(start, np.float64).reshape(-1)
        if begin.size < self.lag_:
            raise FitError(f"start has {begin.size} outputs; this model needs the first {self.lag_}")
        if not finite(begin[: self.lag_]):
            raise FitError(f"start has NaN or infinity; this model needs the first {self.lag_} outputs")
        if self.lag_ == 0:
            return self._static(inputs)
        output = np.zeros(len(inputs))
        size = min(self.lag_, output.size)
        output[:size] = begin[:size]
        return self._roll(inputs, output, None, FREE)

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        segments: ArrayLike | None = None,
    ) -> float:
        """Coefficient of determination (R squared) of the predictions ``steps_ahead`` steps ahead.

        The first ``lag_`` samples of each segment are not scored: predictions start from them. Nor are, of a model with
        lagged outputs or residuals, the next ``steps_ahead - 1``, which are predicted fewer steps ahead. The score of a
        free run that diverges is minus infinity. Warns (`FitWarning`) if the fit had segments and this has none.
        """
        r2_score = need("sklearn.metrics", "learn").r2_score
        self._check_fitted()
        if self._had_segments and segments is None and self.lag_:
            warnings.warn("the fit had segments, the score has none: lags reach across them", FitWarning, stacklevel=2)
        predicted = self.predict(X, y, segments)
        measured = self._check_output(y, predicted.size)
        past = any(each.kind != "input" for each in self.variables_)
        first = self.lag_ + (max(self._steps(), 1) - 1 if past else 0)
        scored = rows(split(segments, predicted.size), first)
        weight = None if sample_weight is None else np.asarray(sample_weight)[scored]
        if not measured[scored].size:
            ahead = f", {self.steps_ahead} steps ahead" if first > self.lag_ else ""
            raise FitError(f"{measured.size} samples are not enough to score a model with lags of {self.lag_}{ahead}")
        if not finite(measured):
            raise FitError("y has NaN or infinity; leave these samples out")
        if not finite(predicted):
            return -np.inf
        with np.errstate(over="ignore"):
            return float(r2_score(measured[scored], predicted[scored], sample_weight=weight))

    def validity(self, X: ArrayLike, lags: int = 20, segments: ArrayLike | None = None) -> xr.Dataset:
        """Correlations of the residuals with themselves and with the inputs; see `validity.correlations`.

        Args:
            X: (samples, inputs) the inputs of the fit.
            lags: Maximum lag, in steps.
            segments: Those of the fit.
        """
        self._check_fitted()
        inputs = self._check_inputs(X) - self.centres_
        return validity.correlations(self.residuals_, inputs[rows(split(segments, len(inputs)), self.lag_)], lags)

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

    def _names(self) -> tuple[str, ...]:
        """Names of the inputs."""
        given = getattr(self, "feature_names_in_", None) if self.names is None else self.names
        if given is None:
            return tuple(f"x{k + 1}" for k in range(self.n_features_in_))
        possible = isinstance(given, Iterable) and not isinstance(given, (str, bytes, Iterator, Set))
        possible = possible and getattr(given, "ndim", 1) == 1 and all(isinstance(name, str) for name in given)
        allow("names", given, possible, "a sequence of texts, one for each input")
        names = tuple(given)
        if len(names) != self.n_features_in_:
            raise FitError(f"{len(names)} names for {self.n_features_in_} inputs; give one for each")
        columns = tuple(getattr(self, "feature_names_in_", ()))
        if names != columns and sorted(names) == sorted(columns):
            order = ", ".join(columns)
            raise FitError(f"names are those of X's columns in another order; leave them out, or give {order}")
        return names

    def _steps(self) -> int:
        """Number of steps ahead, as `roll` takes it."""
        if self.steps_ahead is None:
            return FREE
        possible = is_from(self.steps_ahead, 1) and self.steps_ahead <= MOST_STEPS
        allow("steps_ahead", self.steps_ahead, possible, f"whole numbers from 1 to {MOST_STEPS}, or None")
        return int(self.steps_ahead)

    def __sklearn_tags__(self) -> Any:
        """A model of the past alone predicts nothing of independent samples, as those that `check_estimator` makes."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = 0 not in all_lags(self.input_lags)
        return tags

    def _centre_of(self, variable: Variable) -> float:
        if variable.kind == "input":
            return float(self.centres_[variable.index])
        return self.output_centre_ if variable.kind == "output" else 0.0

    def _static(self, inputs: Array) -> Array:
        if self._is_centred:
            inputs = inputs - self.centres_
        predicted = evaluate(inputs.take(self._layout[:, 1], 1), self.factors_, self.coefficients_)
        return self.output_centre_ + predicted if self.output_centre_ else predicted

    def _roll(self, inputs: Array, output: Array, segments: ArrayLike | None, steps: int) -> Array:
        model = self._layout, split(segments, len(inputs)), self.lag_, self.factors_, self.coefficients_
        if not self._is_centred:
            return roll(inputs, output, *model, steps)
        return self.output_centre_ + roll(inputs - self.centres_, output - self.output_centre_, *model, steps)
