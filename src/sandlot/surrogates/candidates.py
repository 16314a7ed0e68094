"""The candidate terms of a NARMAX model: all products of its lagged variables, computed once per setting and cached."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sandlot.errors import ModelError
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


def check_lags(name: str, given: Sequence[int], least: int) -> Lags:
    """Lags as whole numbers of steps.

    Raises:
        ModelError: If they are not different whole numbers from ``least`` on.
    """
    try:
        lags = tuple(int(lag) for lag in given)
        fine = len(set(lags)) == len(lags) and all(int(lag) == lag >= least for lag in given)
    except (TypeError, ValueError, OverflowError):
        fine = False
    if not fine:
        raise ModelError(f"{name}={given} is not possible; allowed: different whole numbers from {least} on")
    return lags


@functools.lru_cache(maxsize=32)
def candidates(
    names: tuple[str, ...], input_lags: Lags, output_lags: Lags, noise_lags: Lags, degree: int
) -> Candidates:
    """All candidate terms.

    Args:
        names: Names of the inputs.
        input_lags: Steps back in time, from 0, for all inputs.
        output_lags: Steps back in time, from 1.
        noise_lags: Steps back in time, from 1.
        degree: Maximum number of factors of a term.

    Raises:
        ModelError: If two names are the same.
    """
    others = [*("y" * bool(output_lags)), *("e" * bool(noise_lags))]
    if len({*names, *others}) < len(names) + len(others):
        raise ModelError(f"names={names} must differ from each other, and from y (the output) and e (its residuals)")
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
