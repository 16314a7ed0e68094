"""What the robot knows of the ground ahead: the seam between the world and perception."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from sandlot.physics.climbing.elevation import elevations
from sandlot.robots.climbers import Climbers
from sandlot.typing import Array, IntArray

CELL = 0.01
"""Length of a cell of the elevation map [m]."""


class Elevation(Protocol):
    """An elevation map ahead of each robot. The task calls ``restart`` at each reset, and then ``read`` once a step."""

    def restart(self, which: IntArray) -> None:
        """Forget what these robots have seen."""

    def read(self, climbers: Climbers, which: IntArray, generators: Sequence[np.random.Generator]) -> Array:
        """Look ahead and return the map.

        Args:
            climbers: All robots.
            which: (some,) the robots that look.
            generators: Of each of them, for the noise of its sensor.

        Returns:
            (some, cells) heights above the middle of the body [m]. Cell i is `CELL` i ahead of the middle of the body,
            along its heading.
        """


class TrueElevation:
    """The ground as it is: the highest point of each cell."""

    def __init__(self, cells: int) -> None:
        """Of so many cells."""
        self._cells = cells

    def restart(self, which: IntArray) -> None:
        """Nothing to forget."""

    def read(self, climbers: Climbers, which: IntArray, generators: Sequence[np.random.Generator]) -> Array:
        """Read the map from the course."""
        found = np.empty((len(which), self._cells))
        starts, yaw = climbers.position[which][:, [0, 2]], climbers.attitude[which, 2]
        elevations(climbers.ground, which, np.ascontiguousarray(starts), np.cos(yaw), CELL, found)
        return found
