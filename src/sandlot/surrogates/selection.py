"""Selects the terms of a NARMAX model, and how many."""

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from sandlot.errors import FitError
from sandlot.surrogates.orthogonal import Path, bic, coefficients, forward, take
from sandlot.surrogates.terms import extent
from sandlot.typing import Array


def is_whole(value: object) -> bool:
    """Whether a value is a whole number, of Python or NumPy; True and False are none."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def is_from(value: Any, least: int) -> bool:
    """Whether a value is a whole number from ``least`` on."""
    return is_whole(value) and bool(value >= least)


def is_share(value: Any) -> bool:
    """Whether a value is a number from 0 to 1."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return number and bool(0.0 <= value <= 1.0)


def allow(name: str, value: object, possible: bool, allowed: str) -> None:
    """Refuse a setting that is not possible.

    Raises:
        FitError: If it is not, with what is allowed.
    """
    if not possible:
        raise FitError(f"{name}={value!r} is not possible; allowed: {allowed}")


class FitWarning(UserWarning):
    """A model was fitted, but the data do not determine it well; or it is scored without the segments of its fit."""


@dataclass(frozen=True)
class Selection:
    """How many terms a model gets; see `sandlot.surrogates.narmax.Narmax`.

    Raises:
        FitError: If a setting is impossible.
    """

    n_terms: int | str
    max_terms: int
    threshold: float
    folds: int

    def __post_init__(self) -> None:
        rule = isinstance(self.n_terms, str) and self.n_terms in ("bic", "err", "cv")
        allow("n_terms", self.n_terms, rule or is_from(self.n_terms, 1), "whole numbers from 1 on, or bic, err or cv")
        allow("max_terms", self.max_terms, is_from(self.max_terms, 1), "whole numbers from 1 on")
        allow("threshold", self.threshold, is_share(self.threshold), "numbers from 0 to 1")
        allow("folds", self.folds, is_from(self.folds, 2), "whole numbers from 2 on")

    def select(self, rows: Array, target: Array) -> tuple[Path, int]:
        """Order the terms by importance, and decide how many of them to keep.

        Args:
            rows: (terms, samples or more) as `terms.design` makes; overwritten as `orthogonal.take` does.
            target: (samples,) output.
        """
        limit = self.max_terms if isinstance(self.n_terms, str) else self.n_terms
        room = max(1, target.size // 2)
        if min(rows.shape[0], limit) > room:
            warnings.warn(f"only {target.size} samples: at most {room} terms", FitWarning, stacklevel=4)
        low, high = extent(target)
        if high - low <= 1e-12 * max(-low, high):
            warnings.warn("the output is constant: the model is a constant", FitWarning, stacklevel=4)
            return take(rows, target, 1, 1), 1
        crossed = self.n_terms == "cv" and target.size >= 2 * self.folds
        whole = rows.copy() if crossed else rows
        path = take(rows, target, min(limit, room, rows.shape[0]), 0)
        if path.collinear:
            warnings.warn(f"{path.collinear} collinear terms are left out", FitWarning, stacklevel=4)
        if not isinstance(self.n_terms, str):
            return path, path.order.size
        if self.n_terms == "err":
            enough = np.flatnonzero(1.0 - np.cumsum(path.err) <= self.threshold)
            return path, int(enough[0]) + 1 if enough.size else path.order.size
        if crossed:
            errors = np.maximum(self._cross_validate(whole, target, path.order.size), 1e-15 * path.energy)
        else:
            errors = bic(path, target.size)
        return path, int(np.argmin(errors)) + 1

    def _cross_validate(self, rows: Array, target: Array, max_terms: int) -> Array:
        """Squared error on left-out folds, by number of terms: (max_terms,)."""
        errors = np.zeros(max_terms)
        for part in np.array_split(np.arange(target.size), self.folds):
            kept = np.delete(np.arange(target.size), part)
            path = forward(rows[:, kept], target[kept], max_terms)
            left_out = rows[path.order][:, part]
            for k in range(max_terms):
                n = min(k + 1, path.order.size)
                errors[k] += float(((target[part] - coefficients(path, n) @ left_out[:n]) ** 2).sum())
        return errors
