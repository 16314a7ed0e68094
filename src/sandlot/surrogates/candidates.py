"""What a NARMAX model is chosen from: variables with their lags, and every term they make; made once, and kept."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.surrogates.terms import KINDS, NOISE, NONE, Variable, monomials, variables
from sandlot.typing import IntArray

Lags = tuple[int, ...]


@dataclass(frozen=True)
class Candidates:
    """Variables and terms; read only, since models of the same settings share them.

    Attributes:
        variables: What terms are made of.
        layout: (variables, 3) kind, index and lag of each.
        lag: The greatest lag.
        factors: (terms, degree) which variables each term is the product of; see `terms.monomials`.
        process: Those of them without residuals.
    """

    variables: tuple[Variable, ...]
    layout: IntArray
    lag: int
    factors: IntArray
    process: IntArray

    @property
    def noisy(self) -> bool:
        """Whether there are terms with residuals."""
        return len(self.process) < len(self.factors)


def check_lags(name: str, given: Sequence[int], least: int) -> Lags:
    """Lags, steps ago; refuses what are none, or fewer than the least.

    Raises:
        SandlotError: If it is so.
    """
    try:
        lags = tuple(int(lag) for lag in given)
        fine = len(set(lags)) == len(lags) and all(int(lag) == lag >= least for lag in given)
    except (TypeError, ValueError, OverflowError):
        fine = False
    if not fine:
        raise SandlotError(f"{name}={given} is not possible; allowed: different numbers from {least} on")
    return lags


@functools.lru_cache(maxsize=32)
def candidates(
    names: tuple[str, ...], input_lags: Lags, output_lags: Lags, noise_lags: Lags, degree: int
) -> Candidates:
    """Everything that can be in a model.

    Args:
        names: Of the inputs.
        input_lags: Steps ago, 0 is now; for all inputs.
        output_lags: Steps ago, from 1.
        noise_lags: Steps ago, from 1.
        degree: Most factors of a term.

    Raises:
        SandlotError: If there can be no such thing.
    """
    others = [*("y" * bool(output_lags)), *("e" * bool(noise_lags))]
    if len({*names, *others}) < len(names) + len(others):
        raise SandlotError(f"names={names} must differ, also from y, the output, and e, its residuals")
    found = tuple(variables(names, input_lags, output_lags, noise_lags))
    layout = np.array([(KINDS[each.kind], each.index, each.lag) for each in found], np.int64).reshape(-1, 3)
    factors = monomials(len(found), degree)
    process = factors[~_noisy(factors, found)]
    layout.flags.writeable = process.flags.writeable = False
    return Candidates(found, layout, max([each.lag for each in found], default=0), factors, process)


def _noisy(factors: IntArray, found: tuple[Variable, ...]) -> NDArray[np.bool_]:
    """Which terms have a residual among their factors."""
    noisy = np.array([KINDS[each.kind] == NOISE for each in found] + [False])
    result: NDArray[np.bool_] = noisy[np.where(factors == NONE, len(found), factors)].any(1)
    return result
