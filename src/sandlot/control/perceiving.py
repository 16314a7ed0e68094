"""A controller that turns by what it sees: medians of a scan's segments in, and an equation says how to turn.

It has no map and does not know where it is. What it does can be read: it is one equation.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.sensing.laser import Laser
from sandlot.typing import Array


class Equation(Protocol):
    """Such as a `sandlot.surrogates.narmax.Narmax`."""

    def predict(self, X: Array) -> Array:
        """Turns [rad/s] for medians (samples, segments) [m]."""


class Perceiver:
    """From ranges to speed and turn, by an equation.

    A segment without any return is what it was before; at first, as far as any that the equation knows. What is nearer
    or further than it knows is taken for the nearest or furthest that it does: polynomials know nothing beyond.

    Attributes:
        medians: (segments,) what it saw last [m].
    """

    def __init__(
        self, equation: Equation, laser: Laser, speed: float, top: float, nearest: Array, furthest: Array
    ) -> None:
        """Get ready.

        Args:
            equation: From medians to a turn.
            laser: Of the robot.
            speed: At which to drive, always [m/s].
            top: Fastest turn to both sides [rad/s].
            nearest: (segments,) what the equation knows, from the right to the left [m].
            furthest: (segments,) [m]

        Raises:
            SandlotError: If the equation knows nothing of a segment.
        """
        self.nearest, self.furthest = np.asarray(nearest, np.float64), np.asarray(furthest, np.float64)
        if self.nearest.shape != self.furthest.shape or not (self.nearest <= self.furthest).all():
            raise SandlotError("every segment needs a nearest and a furthest median, in this order")
        self.equation, self.speed, self.top = equation, speed, top
        self.medians = self.furthest.copy()
        # Observations are of single precision, in which a range may be below the laser's most.
        self._most = np.float32(laser.most)
        self._parts = np.array_split(np.arange(laser.beams), self.medians.size)

    def __call__(self, observation: NDArray[np.floating]) -> Array:
        """What to do next: (2,) speed [m/s] and turn [rad/s].

        Args:
            observation: Begins with (beams,) ranges [m]; the laser's most, or not a number, where nothing came back.
        """
        for k, part in enumerate(self._parts):
            ranges = observation[part]
            returned = ranges[ranges < self._most]
            if returned.size:
                self.medians[k] = np.median(returned)
        self.medians = np.clip(self.medians, self.nearest, self.furthest)
        turn = float(self.equation.predict(self.medians[None])[0])
        return np.array([self.speed, min(max(turn, -self.top), self.top)])
