"""A random walk that avoids obstacles and turns at intervals, so that a robot sees its surroundings from everywhere.

That is how Nehmzow, Kerr and Billings (2009) gathered their samples; they do not say how it went about it.

The robot drives ahead, more slowly where there is less room. Every so often it stops and turns to a random direction.
Where something is in its way, it turns to the side that is freer until the way is clear, and a little further by
chance. It knows only what its laser sees.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sandlot.settings import Settings
from sandlot.typing import Array


class Wander(Settings):
    """How to walk.

    Attributes:
        speed: Ahead, where there is room [m/s].
        turn: When turning [rad/s].
        radius: Of the robot [m].
        margin: Room to keep on both sides [m].
        stop: Something ahead that is nearer than this to the robot's hull is in the way [m].
        every: Seconds of driving between random turns.
    """

    speed: float = Field(0.8, gt=0.0)
    turn: float = Field(1.2, gt=0.0)
    radius: float = Field(0.3, gt=0.0)
    margin: float = Field(0.05, ge=0.0)
    stop: float = Field(0.4, gt=0.0)
    every: float = Field(12.0, gt=0.0)


class Wanderer:
    """A controller that wanders, from ranges to speed and turn.

    Attributes:
        settings: How it walks.
        doing: ``drive``, ``turn`` by chance, or ``avoid``.
    """

    def __init__(self, settings: Wander, bearings: Array, interval: float, seed: np.random.SeedSequence) -> None:
        """Get ready.

        Args:
            settings: How to walk.
            bearings: (beams,) of the ranges it will be given [rad].
            interval: Between observations [s].
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
        """What to do next: (2,) speed [m/s] and turn [rad/s].

        Args:
            observation: Begins with (beams,) ranges [m].
        """
        given = self.settings
        ranges = np.asarray(observation[: self._cosines.size], np.float64)
        room = self._room(ranges)
        # The longer it has turned in vain, the less room must do, down to a quarter; until there is plenty again.
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
            # Avoiding goes on until the way is clear, and then by its random rest.
            if self.doing == "turn" or room > 2.0 * stop:
                self._rest -= given.turn * self._interval
            self._turned += given.turn * self._interval
            if self._rest > 0.0:
                return np.array([0.0, self._side * given.turn])
            self.doing = "drive"
        self._driven += self._interval
        return np.array([given.speed * min(max(room, 0.15), 1.0) if room >= stop else 0.0, 0.0])

    def _room(self, ranges: Array) -> float:
        """From the robot's hull to the first thing in the lane ahead of it [m]."""
        ahead, aside = ranges * self._cosines, ranges * self._sines
        lane = (np.abs(aside) < self.settings.radius + self.settings.margin) & (ahead > 0.0)
        return float(ahead[lane].min() - self.settings.radius) if lane.any() else math.inf
