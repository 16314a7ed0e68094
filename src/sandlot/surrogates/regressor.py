"""The base of a regressor of scikit-learn: its classes, its checks of data and its errors.

Without scikit-learn, models are fitted and predict all the same; only its own tools need its base classes.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sandlot.errors import FitError
from sandlot.surrogates.candidates import check_lags, is_collection
from sandlot.surrogates.terms import finite
from sandlot.typing import Array

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import column_or_1d, validate_data
except ModuleNotFoundError:
    BaseEstimator, RegressorMixin = (type(name, (), {}) for name in ("BaseEstimator", "RegressorMixin"))
    NotFittedError, column_or_1d, validate_data = ValueError, None, None


class UnfittedError(FitError, NotFittedError):
    """The model is not fitted yet; also scikit-learn's `NotFittedError`."""


def all_lags(given: Any) -> list[int]:
    """Every lag of any input, in whatever form ``input_lags`` has them; none if it is in no possible form."""
    lags = given.values() if isinstance(given, Mapping) else given if is_collection(given) else ()
    return [lag for each in lags for lag in (each if is_collection(each) else [each])]


def expected_failed_checks(model: Any) -> dict[str, str]:
    """Checks of ``sklearn.utils.estimator_checks.check_estimator`` that a model with a past fails, and why.

    Raises:
        FitError: If lags are impossible.
    """
    past = [*check_lags("output_lags", model.output_lags, 1), *check_lags("noise_lags", model.noise_lags, 1)]
    if not isinstance(model.input_lags, Mapping) and not is_collection(model.input_lags):
        check_lags("input_lags", model.input_lags, 0)
    if not any([*past, *all_lags(model.input_lags)]):
        return {}
    return {
        "check_methods_sample_order_invariance": "a prediction depends on the samples before it",
        "check_methods_subset_invariance": "the first samples of a subset have no past to predict from",
    }


class Regressor(RegressorMixin, BaseEstimator):
    """Checks data as scikit-learn does; arrays that need no conversion take a path without its overhead."""

    def _check_fitted(self) -> None:
        if not hasattr(self, "coefficients_"):
            raise UnfittedError("this model is not fitted; call fit(X, y) first")

    def _check_inputs(self, X: ArrayLike, reset: bool = False) -> Array:
        """X as (samples, inputs); in a fit (``reset``), remember their number and names."""
        if self._is_plain(X, reset):
            inputs = np.asarray(X)
            if reset:
                self.n_features_in_ = inputs.shape[1]
                self.__dict__.pop("feature_names_in_", None)
        elif validate_data is None:
            inputs = self._convert(X, reset)
        else:
            inputs = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite=False)
        inputs = _own(inputs)
        if not finite(inputs.reshape(-1)):
            raise FitError("X has NaN or infinity; leave these samples out")
        return inputs

    def _is_plain(self, X: Any, reset: bool) -> bool:
        if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2 or not X.size:
            return False
        return reset or (X.shape[1] == self.n_features_in_ and "feature_names_in_" not in self.__dict__)

    def _convert(self, X: Any, reset: bool) -> Array:
        """As `_check_inputs`, without scikit-learn."""
        inputs, names = np.asarray(X, np.float64), [str(name) for name in getattr(X, "columns", ())]
        if inputs.ndim != 2 or not inputs.size:
            raise FitError(f"X has shape {inputs.shape}; it should be (samples, inputs), at least one of each")
        if reset:
            self.n_features_in_ = inputs.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            if names:
                self.feature_names_in_ = np.array(names, object)
        if inputs.shape[1] != self.n_features_in_:
            raise FitError(f"X has {inputs.shape[1]} features, but this model is expecting {self.n_features_in_}")
        if names and names != list(getattr(self, "feature_names_in_", names)):
            raise FitError(f"X has columns {', '.join(names)}; the fit had {', '.join(self.feature_names_in_)}")
        return inputs

    def _check_output(self, y: ArrayLike | None, samples: int) -> Array:
        """Y as (samples,)."""
        if y is None:
            raise FitError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if not (type(y) is np.ndarray and y.ndim == 1):
            y = np.asarray(y).reshape(-1) if column_or_1d is None else column_or_1d(y, warn=True)
        if np.iscomplexobj(y):
            raise FitError("y is complex; it should be real")
        output = _own(y)
        if output.size != samples:
            raise FitError(f"y has {output.size} samples and X {samples}; give as many of both")
        return output


def _own(values: ArrayLike) -> Array:
    """An array as kernels are compiled for: contiguous and writable, copied if not (joblib's are read-only)."""
    array = np.asarray(values, np.float64)
    return array if array.flags.c_contiguous and array.flags.writeable else array.copy(order="C")
