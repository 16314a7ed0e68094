"""Many swimming snakes at once, at two fidelities with one interface.

`FastSwimmers` follow the reduced model of `physics.swimming.water`; `ReferenceSwimmers` are MuJoCo simulations with
contacts and, if asked, a ball. What they do is told by commands: where every joint should be at the next one.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from sandlot.errors import SandlotError
from sandlot.robots.snake import Snake, link_angles, link_centres
from sandlot.typing import Array, BoolArray


class Swimmers(ABC):
    """A number of equal bodies, each alone in its own water.

    Attributes:
        snake: Their body.
        count: How many.
        time: Since the start [s].
    """

    def __init__(self, snake: Snake, count: int, current: Sequence[float] = (0.0, 0.0)) -> None:
        """Bodies at rest, straight, with the front of the head at the origin, heading along x.

        Args:
            snake: Their body.
            count: How many.
            current: Velocity of the water [m/s].
        """
        self.snake, self.count, self.time = snake, count, 0.0
        self.current = np.asarray(current, np.float64)

    @abstractmethod
    def command(self, targets: Array) -> None:
        """Go on to the next command; ``targets`` (count, joints) is where the joints should then be [rad].

        Raises:
            SandlotError: If a body that has not exploded is told angles that are not numbers.
        """

    def _check(self, targets: Array) -> None:
        """Refuse targets that are not numbers, but for bodies that have exploded: nothing matters to these."""
        wrong = ~np.isfinite(targets).all(axis=1)
        if wrong.any():
            told = np.flatnonzero(wrong & ~self.exploded).tolist()
            if told:
                raise SandlotError(f"body {told[0]} is told joint angles that are not numbers; allowed: angles [rad]")

    @property
    @abstractmethod
    def centre(self) -> Array:
        """Centre of mass: (count, 2) [m]."""

    @property
    @abstractmethod
    def head(self) -> Array:
        """Angle of the head link: (count,) [rad]."""

    @property
    @abstractmethod
    def angles(self) -> Array:
        """Of the joints: (count, joints) [rad]."""

    @property
    @abstractmethod
    def rates(self) -> Array:
        """Of the joints: (count, joints) [rad/s]."""

    @property
    @abstractmethod
    def velocity(self) -> Array:
        """Of the centre of mass: (count, 2) [m/s]."""

    @property
    @abstractmethod
    def angular_momentum(self) -> Array:
        """About the centre of mass: (count,) [kg*m^2/s]."""

    @property
    @abstractmethod
    def drive(self) -> Array:
        """Mean share of the acceleration the servos wanted that the motors could give: (count,)."""

    @property
    def directions(self) -> Array:
        """Angle of every link: (count, links) [rad]."""
        return link_angles(self.head, self.angles)

    @property
    def centres(self) -> Array:
        """Centre of every link: (count, links, 2) [m]."""
        return link_centres(self.centre, self.directions, self.snake.length)

    @property
    def exploded(self) -> BoolArray:
        """Which simulations are no longer to be trusted: not a number, or faster than any motor: (count,)."""
        sane = np.abs(self.rates).max(axis=1) < 3.0 * self.snake.max_rate
        sane &= np.linalg.norm(self.velocity - self.current, axis=1) < self._fastest
        return ~(sane & np.isfinite(self.centre).all(axis=1))

    @property
    def _fastest(self) -> float:
        """Faster than this through the water nothing is that joints can move [m/s]."""
        return self.snake.max_rate * self.snake.arclength


def start_centre(snake: Snake) -> Array:
    """Where the centre of mass is when the front of the head is at the origin: (2,) [m]."""
    return np.array([-0.5 * snake.arclength, 0.0])
