"""A random walk that avoids obstacles and turns at intervals, so that a robot scans its surroundings from everywhere.

Nehmzow, Kerr and Billings (2009) gathered their samples with such a walk; they do not describe its details.

The robot drives ahead, more slowly with less room. At intervals it stops and turns to a random direction. At an
obstacle it turns to the side with more room until the path is clear, and then by a random angle more. It uses only its
laser.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sandlot.settings import Settings
from sandlot.typing import Array


class Wander(Settings):
    """Settings of a random walk.

    Attributes:
        speed: Speed ahead where there is room [m/s].
        turn_rate: When turning [rad/s].
        radius: Radius of the robot [m].
        margin: Clearance to keep on both sides [m].
        stop: An obstacle ahead that is closer to the robot's hull than this is avoided [m].
        every: Time of driving between random turns [s].
    """

    speed: float = Field(0.8, gt=0.0)
    turn_rate: float = Field(1.2, gt=0.0)
    radius: float = Field(0.3, gt=0.0)
    margin: float = Field(0.05, ge=0.0)
    stop: float = Field(0.4, gt=0.0)
    every: float = Field(12.0, gt=0.0)


class Wanderer:
    """A policy that wanders, for one episode.

    Attributes:
        settings: Of the walk.
        doing: ``drive``, ``turn`` to a random direction, or ``avoid``.
    """

    def __init__(self, settings: Wander, bearings: Array, interval: float, seed: np.random.SeedSequence) -> None:
        """Begin a walk.

        Args:
            settings: Of the walk.
            bearings: (beams,) of the ranges in the observations [rad].
            interval: Time between observations [s].
            seed: For its random turns.
        """
        self.settings = settings
        self.doing: Literal["drive", "turn", "avoid"] = "drive"
        self._cosines, self._sines = np.cos(bearings), np.sin(bearings)
        self._left = bearings > 0.0
        self._interval = interval
        self._rng = np.random.default_rng(seed)
        self._driven, self._side, self._rest, self._turned = 0.0, 1.0, 0.0, 0.0

    def __call__(self, observation: NDArray[np.floating]) -> Array:
        """The next command: (2,) speed [m/s] and turn rate [rad/s].

        Args:
            observation: Begins with (beams,) ranges [m].
        """
        given = self.settings
        ranges = np.asarray(observation[: self._cosines.size], np.float64)
        room = self._room(ranges)
        # The longer it has turned without finding room, the less room it accepts, down to a quarter of ``stop``.
        if room > 2.0 * given.stop:
            self._turned = 0.0
        stop = given.stop * max(1.0 - self._turned / (2.0 * math.pi), 0.25)
        if self.doing == "drive" and self._driven >= given.every:
            self.doing, self._driven = "turn", 0.0
            self._side, self._rest = self._rng.choice((-1.0, 1.0)), self._rng.uniform(0.3, math.pi)
        if self.doing == "drive" and room < stop:
            left, right = (float(np.mean(np.minimum(ranges[side], 2.0))) for side in (self._left, ~self._left))
            self.doing, self._side = "avoid", 1.0 if left > right else -1.0
            self._rest = self._rng.uniform(0.2, 1.0)
        if self.doing != "drive":
            # Avoiding goes on until the path is clear, and then by the random angle ``_rest``.
            if self.doing == "turn" or room > 2.0 * stop:
                self._rest -= given.turn_rate * self._interval
            self._turned += given.turn_rate * self._interval
            if self._rest > 0.0:
                return np.array([0.0, self._side * given.turn_rate])
            self.doing = "drive"
        self._driven += self._interval
        return np.array([given.speed * min(max(room, 0.15), 1.0) if room >= stop else 0.0, 0.0])

    def _room(self, ranges: Array) -> float:
        """Distance from the robot's hull to the nearest obstacle in its lane [m]."""
        ahead, aside = ranges * self._cosines, ranges * self._sines
        lane = (np.abs(aside) < self.settings.radius + self.settings.margin) & (ahead > 0.0)
        return float(ahead[lane].min() - self.settings.radius) if lane.any() else math.inf
