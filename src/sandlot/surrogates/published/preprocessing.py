"""Preprocessing of the published nets, in the order of the source; each step can be switched off.

Two printed equations cannot be meant as they are printed. The normalisation subtracts half the range, which maps a
series to (-1, 1) only if its smallest value is 0: here it subtracts the middle. ``dyaw < 0.25`` would remove almost
every frame: here it is -0.25. ``v - mean > deviation`` removes only fast frames; that is kept as printed.
"""

from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from sandlot.surrogates.published.motion import INPUTS, TARGETS, Motion
from sandlot.typing import Array, BoolArray

MAX_DYAW, MAX_TILT = 0.25, 1.22
"""Version 1 removes frames beyond these [rad]."""
DEVIATIONS = 3.0
"""Version 2 removes frames whose dx or dy is this many standard deviations or more from the mean."""
STEP, LARGEST = 0.2, 0.8
"""Of the quantisation."""
SMOOTHING = 0.1
"""Share of a new value in exponential smoothing; the source does not give its own."""
WIDTH = 250
"""Of the moving average [frames]."""


@dataclass(frozen=True)
class Steps:
    """Which steps of preprocessing are made.

    Attributes:
        version: Of the source, 1 or 2: which outliers, which smoothing, and in which order.
        outliers: Whether frames with outliers are removed.
        quantise: Whether values are rounded towards zero to multiples of 0.2.
        smooth: Whether each series is smoothed.
    """

    version: Literal[1, 2]
    outliers: bool = True
    quantise: bool = True
    smooth: bool = True

    def without(self, step: Literal["outliers", "quantise", "smooth"]) -> Self:
        """The same, with one step switched off."""
        return replace(
            self,
            outliers=self.outliers and step != "outliers",
            quantise=self.quantise and step != "quantise",
            smooth=self.smooth and step != "smooth",
        )


@dataclass(frozen=True, eq=False)
class Scale:
    """Smallest and largest value of each column of a training set: (8,) each; maps them to -1 and 1."""

    low: Array
    high: Array

    @classmethod
    def of(cls, values: Array) -> Self:
        """Of all frames (frames, 8)."""
        return cls(values.min(axis=0), values.max(axis=0))

    def apply(self, values: Array) -> Array:
        """Values (frames, 8) from -1 to 1, if they are within the training set's."""
        return (values - 0.5 * (self.high + self.low)) / self._half

    def restore(self, values: Array, name: str) -> Array:
        """A column (frames,) in its own unit."""
        k = (*INPUTS, *TARGETS).index(name)
        return values * self._half[k] + 0.5 * (self.high[k] + self.low[k])

    @property
    def _half(self) -> Array:
        half = 0.5 * (self.high - self.low)
        return np.where(half > 0.0, half, 1.0)


def inliers(motion: Motion, version: int) -> BoolArray:
    """Frames that are kept: (frames,)."""
    if version == 1:
        speed = motion.column("speed")
        tilt = np.maximum(np.abs(motion.column("pitch")), np.abs(motion.column("roll")))
        slow = speed - speed.mean() <= speed.std()
        return (np.abs(motion.column("dyaw")) <= MAX_DYAW) & (tilt <= MAX_TILT) & slow
    shifts = np.column_stack([motion.column("dx"), motion.column("dy")])
    return np.asarray(np.all(np.abs(shifts - shifts.mean(axis=0)) < DEVIATIONS * shifts.std(axis=0), axis=1))


def quantise(values: Array) -> Array:
    """Values from -1 to 1, rounded towards zero to multiples of 0.2, and to at most 0.8."""
    steps = np.trunc(np.round(values / STEP, 12))  # 0.6 / 0.2 is not quite 3
    return np.clip(STEP * steps, -LARGEST, LARGEST)


def smooth_exponentially(values: Array) -> Array:
    """Each column (frames, n) after an exponential filter that begins with its first value."""
    smoothed = values.copy()
    for k in range(1, len(values)):
        smoothed[k] = SMOOTHING * values[k] + (1.0 - SMOOTHING) * smoothed[k - 1]
    return smoothed


def moving_average(values: Array) -> Array:
    """Each column (frames, n) convolved with 250 times 1/250; beyond its ends a series counts as 0, as in NumPy."""
    kernel = np.full(WIDTH, 1.0 / WIDTH)
    return np.column_stack([np.convolve(column, kernel, mode="same") for column in values.T])


def prepare(
    sessions: list[Motion], steps: Steps, scale: Scale | None = None
) -> tuple[list[Array], list[BoolArray], Scale]:
    """Preprocess sessions, each as a series of its own.

    Args:
        sessions: Of a rover.
        steps: What is done.
        scale: Of the training set; found from these sessions if not given.

    Returns:
        For each session its values (kept frames, 8) from -1 to 1; which of its frames were kept; and the scale.
    """
    kept = [
        inliers(each, steps.version) if steps.outliers else np.ones(len(each.values), np.bool_) for each in sessions
    ]
    raw = [each.values[mine] for each, mine in zip(sessions, kept, strict=True)]
    scale = Scale.of(np.concatenate(raw)) if scale is None else scale
    found = []
    for values in raw:
        scaled = scale.apply(values)
        if steps.version == 1:
            scaled = quantise(scaled) if steps.quantise else scaled
            scaled = smooth_exponentially(scaled) if steps.smooth else scaled
        else:
            scaled = moving_average(scaled) if steps.smooth else scaled
            scaled = quantise(scaled) if steps.quantise else scaled
        found.append(scaled)
    return found, kept, scale
