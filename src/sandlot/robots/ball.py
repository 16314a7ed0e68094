"""The ball that swimming snakes push and carry."""

import math
from typing import NamedTuple

from sandlot.robots.snake import DRAG


class Ball(NamedTuple):
    """A ball in the water.

    Attributes:
        radius: [m]
        mass: [kg]
        drag: Drag coefficient, for the area of its cross-section [N*s/m^3].
    """

    radius: float = 1.0
    mass: float = 0.42
    drag: float = DRAG

    @property
    def damping(self) -> float:
        """Drag force over speed [N*s/m]."""
        return self.drag * (math.pi * self.radius**2)

    @property
    def inertia(self) -> float:
        """About its centre [kg*m^2]."""
        return 0.4 * self.mass * self.radius**2


BALL = Ball()
"""The ball of the source, with drag."""
