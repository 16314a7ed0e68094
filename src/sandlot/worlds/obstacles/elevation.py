"""What the robot knows of the ground ahead: the seam between the world and perception."""

from typing import Protocol

import numpy as np

from sandlot.physics.climbing.elevation import elevations
from sandlot.robots.climbers import Climbers
from sandlot.typing import Array, IntArray

CELL = 0.01
"""Length of a cell of the elevation map [m]."""


class Elevation(Protocol):
    """An elevation map ahead of each robot. The task calls ``restart`` at each reset and ``read`` once a step."""

    def restart(self, which: IntArray, generators: list[np.random.Generator]) -> None:
        """Forget what these robots have seen; the sensors' noise is drawn from their generators."""

    def read(self, climbers: Climbers) -> Array:
        """Heights of the cells above the middle of the body: (count, cells) [m].

        Cell i is `CELL` i ahead of the middle of the body, along its heading.
        """


class TrueElevation:
    """The ground as it is: the highest point of each cell."""

    def __init__(self, cells: int) -> None:
        """Of so many cells."""
        self._cells = cells

    def restart(self, which: IntArray, generators: list[np.random.Generator]) -> None:
        """Nothing to forget."""

    def read(self, climbers: Climbers) -> Array:
        """Heights of the cells above the middle of the body: (count, cells) [m]."""
        found = np.empty((climbers.count, self._cells))
        starts = np.ascontiguousarray(climbers.position[:, [0, 2]])
        elevations(climbers.ground, starts, np.cos(climbers.attitude[:, 2]), CELL, found)
        return found
