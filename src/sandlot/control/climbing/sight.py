"""What the climbing robot's controllers observe, by name."""

from dataclasses import dataclass

import numpy as np

from sandlot.errors import SandlotError
from sandlot.mapping.elevation_map import CELL
from sandlot.typing import Array, BoolArray

STATES = 10
"""Numbers of an observation before the elevation map: roll, pitch, velocity (3), rates (3), axle angles (2)."""
STILL = 0.01
"""A slower robot is stuck [m/s]."""


@dataclass(frozen=True, eq=False)
class Sight:
    """Observations of n robots.

    Attributes:
        roll: (n,) [rad]
        pitch: (n,) positive with the nose down [rad].
        velocity: (n, 3) forward, left and up [m/s].
        axles: (n, 2) angles of the front and the rear axle [rad].
        maps: (n, rows, cells) elevation above the middle of the body [m].
        states: (n, 10) all of the above but the maps, and the rates.
    """

    roll: Array
    pitch: Array
    velocity: Array
    axles: Array
    maps: Array
    states: Array

    @property
    def ahead(self) -> Array:
        """The row straight ahead: (n, cells) [m]."""
        return self.maps[:, self.maps.shape[1] // 2]


def split(observations: Array, rows: int) -> Sight:
    """Name the parts of observations (n, 10 + rows * cells) of the obstacles world.

    Raises:
        SandlotError: If they do not have so many rows.
    """
    seen = np.asarray(observations, np.float64)
    cells, rest = divmod(seen.shape[1] - STATES, rows)
    if rest or cells < 1:
        raise SandlotError(f"observations of {seen.shape[1]} numbers have no elevation map of {rows} rows")
    states = seen[:, :STATES]
    maps = seen[:, STATES:].reshape(len(seen), rows, cells)
    return Sight(states[:, 0], states[:, 1], states[:, 2:5], states[:, 8:], maps, states)


def stuck(velocity: Array) -> BoolArray:
    """Whether robots are stuck, by section 5.3: slower than 1 cm/s, or moving back.

    Args:
        velocity: (n, 3) forward, left and up [m/s].
    """
    return np.asarray((np.linalg.norm(velocity, axis=1) < STILL) | (velocity[:, 0] < 0.0), np.bool_)


def distances(cells: int) -> Array:
    """How far ahead of the middle of the body each cell is: (cells,) [m], equation 27."""
    return CELL * np.arange(cells).astype(np.float64)
