"""Statistics of the studies: means with confidence intervals, and tests between groups."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Interval:
    """A mean and the ends of its confidence interval."""

    mean: float
    low: float
    high: float


def mean_interval(sample: ArrayLike, confidence: float = 0.95) -> Interval:
    """Mean with Student's confidence interval; for a single value its width is 0."""
    values = np.asarray(sample, np.float64)
    mean = float(values.mean())
    if values.size < 2:
        return Interval(mean, mean, mean)
    from scipy import stats  # takes most of a second to import: an error in a name should not wait for it

    half = float(stats.sem(values) * stats.t.ppf(0.5 + confidence / 2, values.size - 1))
    return Interval(mean, mean - half, mean + half)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Correct p-values for multiple tests (Holm 1979)."""
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p)
    corrected = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    result = np.empty_like(p)
    result[order] = np.minimum(corrected, 1.0)
    return result


@dataclass(frozen=True)
class Comparison:
    """A group against a baseline.

    Attributes:
        group: Name of the group.
        baseline: Name of the group it is compared with.
        quantity: Name of the compared quantity.
        ratio: Mean of the group over mean of the baseline; infinite if only the latter is zero, NaN if both are.
        p: Mann-Whitney U, two-sided, Holm-corrected over the groups compared together.
        effect: Vargha-Delaney A: the chance that a value of the group exceeds one of the baseline; 0.5 for no effect.
    """

    group: str
    baseline: str
    quantity: str
    ratio: float
    p: float
    effect: float

    def above(self, significance: float = 0.05) -> bool:
        """Whether the group is significantly larger than the baseline."""
        return self.p < significance and self.effect > 0.5

    def below(self, significance: float = 0.05) -> bool:
        """Whether the group is significantly smaller than the baseline."""
        return self.p < significance and self.effect < 0.5


def compare(groups: Mapping[str, NDArray[np.float64]], baseline: str, quantity: str) -> list[Comparison]:
    """Compare every other group with the one named ``baseline``."""
    from scipy import stats

    base = groups[baseline]
    others = {name: group for name, group in groups.items() if name != baseline}
    tests = [stats.mannwhitneyu(group, base, alternative="two-sided") for group in others.values()]
    return [
        Comparison(
            name,
            baseline,
            quantity,
            _over(float(group.mean()), float(base.mean())),
            float(p),
            float(test.statistic / (group.size * base.size)),
        )
        for (name, group), test, p in zip(others.items(), tests, holm([test.pvalue for test in tests]), strict=True)
    ]


def together(tests: Sequence[Comparison]) -> list[Comparison]:
    """Correct the p-values of tests that support one claim for their number (Holm 1979)."""
    return [replace(test, p=float(p)) for test, p in zip(tests, holm([test.p for test in tests]), strict=True)]


def _over(mean: float, base: float) -> float:
    """The ratio of two means: infinite if only ``base`` is zero, NaN if both are."""
    return mean / base if base else mean * math.inf
