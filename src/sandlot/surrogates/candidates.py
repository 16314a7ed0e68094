"""The candidate terms of a NARMAX model: all products of its lagged variables, computed once per setting and cached."""

import functools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from sandlot.errors import FitError
from sandlot.surrogates.terms import KINDS, NOISE, NONE, Variable, monomials, variables
from sandlot.typing import BoolArray, IntArray

Lags = tuple[int, ...]


@dataclass(frozen=True)
class Candidates:
    """Variables and candidate terms; read only, since models with the same settings share them.

    Attributes:
        variables: The lagged inputs, outputs and residuals.
        layout: (variables, 3) kind, index and lag of each.
        lag: The largest lag.
        factors: (terms, degree) index of the variables of each product; see `terms.monomials`.
        process: The factors of the terms without residuals.
    """

    variables: tuple[Variable, ...]
    layout: IntArray
    lag: int
    factors: IntArray
    process: IntArray

    @property
    def noisy(self) -> bool:
        """Whether some terms have residuals."""
        return len(self.process) < len(self.factors)


def is_collection(given: Any) -> bool:
    """Whether lags are in a form that can be read again and again, as those of an iterator cannot."""
    if isinstance(given, np.ndarray):
        return given.ndim > 0
    return isinstance(given, (Sequence, Set)) and not isinstance(given, (str, bytes))


def check_lags(name: str, given: Any, least: int) -> Lags:
    """Lags as whole numbers of steps.

    Raises:
        FitError: If they are not different whole numbers from ``least`` on.
    """
    if not is_collection(given):
        raise FitError(f"{name}={given!r} is not possible; give a sequence such as (1,)")
    try:
        lags = tuple(int(lag) for lag in given)
        fine = len(set(lags)) == len(lags) and all(int(lag) == lag >= least for lag in given)
    except (TypeError, ValueError, OverflowError):
        fine = False
    if not fine:
        raise FitError(f"{name}={given} is not possible; allowed: different whole numbers from {least} on")
    return lags


def check_input_lags(given: Any, names: Sequence[str]) -> tuple[Lags, ...]:
    """Lags of each input.

    Args:
        given: Lags for all inputs, or a sequence with the lags of each, or a mapping from names of inputs to their
            lags; inputs that it leaves out are not used.
        names: Names of the inputs.

    Raises:
        FitError: If lags are impossible, or are given for inputs that do not exist.
    """
    if isinstance(given, Mapping):
        unknown = [str(name) for name in given if name not in names]
        if unknown:
            raise FitError(f"input_lags has {', '.join(unknown)}; the inputs are {', '.join(names)}")
        return tuple(check_lags(f"input_lags of {name}", given.get(name, ()), 0) for name in names)
    if is_collection(given) and not isinstance(given, Set) and len(given) and not any(map(np.isscalar, given)):
        if len(given) != len(names):
            raise FitError(f"input_lags has lags of {len(given)} inputs; there are {len(names)}")
        return tuple(check_lags(f"input_lags of {name}", lags, 0) for name, lags in zip(names, given, strict=True))
    return len(names) * (check_lags("input_lags", given, 0),)


def find(names: tuple[str, ...], input_lags: Any, output_lags: Any, noise_lags: Any, degree: int) -> Candidates:
    """All candidate terms, as `candidates`, for lags as a user gives them.

    Raises:
        FitError: If lags are impossible.
    """
    given = names, input_lags, output_lags, noise_lags, degree
    try:
        return _find(*given)
    except TypeError:  # lists and mappings cannot be cached
        return _find.__wrapped__(*given)


@functools.lru_cache(maxsize=32)
def _find(names: tuple[str, ...], input_lags: Any, output_lags: Any, noise_lags: Any, degree: int) -> Candidates:
    past = check_lags("output_lags", output_lags, 1), check_lags("noise_lags", noise_lags, 1)
    return candidates(names, check_input_lags(input_lags, names), *past, degree)


@functools.lru_cache(maxsize=32)
def candidates(
    names: tuple[str, ...], input_lags: tuple[Lags, ...], output_lags: Lags, noise_lags: Lags, degree: int
) -> Candidates:
    """All candidate terms.

    Args:
        names: Names of the inputs.
        input_lags: Steps back in time, from 0, of each input.
        output_lags: Steps back in time, from 1.
        noise_lags: Steps back in time, from 1.
        degree: Maximum number of factors of a term.

    Raises:
        FitError: If two names are the same.
    """
    others = [*("y" * bool(output_lags)), *("e" * bool(noise_lags))]
    if len({*names, *others}) < len(names) + len(others):
        raise FitError(f"names={names} must differ from each other, and from y (the output) and e (its residuals)")
    found = tuple(variables(names, input_lags, output_lags, noise_lags))
    layout = np.array([(KINDS[each.kind], each.index, each.lag) for each in found], np.int64).reshape(-1, 3)
    factors = monomials(len(found), degree)
    process = factors[~_noisy(factors, found)]
    layout.flags.writeable = process.flags.writeable = False
    return Candidates(found, layout, max([each.lag for each in found], default=0), factors, process)


def _noisy(factors: IntArray, found: tuple[Variable, ...]) -> BoolArray:
    """Whether each term has a residual among its factors: (terms,)."""
    noisy = np.array([KINDS[each.kind] == NOISE for each in found] + [False])
    result: BoolArray = noisy[np.where(factors == NONE, len(found), factors)].any(1)
    return result
