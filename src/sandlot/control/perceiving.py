"""A policy that steers by one readable equation: medians of a scan's segments in, a turn rate out.

It has no map and does not know its pose.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.sensing.laser import Laser
from sandlot.typing import Array


class Equation(Protocol):
    """Predicts turn rates; for example a `sandlot.surrogates.narmax.Narmax`."""

    def predict(self, X: Array) -> Array:
        """Turn rates (samples,) [rad/s] for medians (samples, segments) [m]."""


class Perceiver:
    """A policy from ranges to speed and turn rate, by an equation, for one episode.

    A segment without any return keeps its last median; before its first return it has the largest median of the fit.
    Medians are clipped to the range of the fit, as polynomials do not extrapolate.

    Attributes:
        medians: (segments,) of the last scan [m].
    """

    def __init__(
        self, equation: Equation, laser: Laser, speed: float, max_turn_rate: float, nearest: Array, furthest: Array
    ) -> None:
        """Begin an episode.

        Args:
            equation: From medians to a turn rate.
            laser: Of the robot.
            speed: Constant forward speed [m/s].
            max_turn_rate: To both sides [rad/s].
            nearest: (segments,) smallest medians that the equation was fitted to, from right to left [m].
            furthest: (segments,) largest ones [m].

        Raises:
            SandlotError: If a segment has no range of medians.
        """
        self.nearest, self.furthest = np.asarray(nearest, np.float64), np.asarray(furthest, np.float64)
        if self.nearest.shape != self.furthest.shape or not (self.nearest <= self.furthest).all():
            raise SandlotError("every segment needs a nearest and a furthest median, in this order")
        self.equation, self.speed, self.max_turn_rate = equation, speed, max_turn_rate
        self.medians = self.furthest.copy()
        # Observations are of single precision, in which a range may be below the laser's max_range.
        self._max_range = np.float32(laser.max_range)
        self._parts = np.array_split(np.arange(laser.beams), self.medians.size)

    def __call__(self, observation: NDArray[np.floating]) -> Array:
        """The next command: (2,) speed [m/s] and turn rate [rad/s].

        Args:
            observation: Begins with (beams,) ranges [m]; the laser's max_range, or NaN, without a return.
        """
        for k, part in enumerate(self._parts):
            ranges = observation[part]
            returned = ranges[ranges < self._max_range]
            if returned.size:
                self.medians[k] = np.median(returned)
        self.medians = np.clip(self.medians, self.nearest, self.furthest)
        turn_rate = float(self.equation.predict(self.medians[None])[0])
        return np.array([self.speed, min(max(turn_rate, -self.max_turn_rate), self.max_turn_rate)])
