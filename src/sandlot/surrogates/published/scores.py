"""How good predictions are, by the measures of the source and by the usual one."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from sandlot.typing import Array


@dataclass(frozen=True)
class Score:
    """Predictions against what was recorded.

    Attributes:
        mse: Mean squared error.
        r2: Squared correlation, which the source calls the coefficient of determination. It does not see a wrong scale
            or offset.
        determined: 1 minus the mean squared error over the variance: the usual coefficient of determination.
    """

    mse: float
    r2: float
    determined: float

    @classmethod
    def of(cls, predicted: Array, recorded: Array) -> Self:
        """Of predictions (n,) against records (n,)."""
        mse, variance = float(np.mean((predicted - recorded) ** 2)), float(np.var(recorded))
        varies = variance > 0.0 and float(np.var(predicted)) > 0.0
        r2 = float(np.corrcoef(predicted, recorded)[0, 1] ** 2) if varies else 0.0
        return cls(mse, r2, 1.0 - mse / variance if variance > 0.0 else np.nan)


def rank_correlation(one: Array, other: Array) -> float:
    """Spearman's rank correlation of two series (n,)."""
    from scipy import stats  # loaded when needed: it takes a second, in each worker

    return float(stats.spearmanr(one, other).statistic)
