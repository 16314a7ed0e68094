"""Many swimming snakes at once, at two fidelities with one interface.

`FastSwimmers` follow the fast model (`sandlot.physics.swimming.chain`); `ReferenceSwimmers` are MuJoCo
simulations with contacts and, if asked, a ball. A command sets the angle that every motor turns
towards.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from sandlot.errors import SettingError
from sandlot.robots.snake import Snake, link_angles, link_centres
from sandlot.typing import Array, BoolArray, IntArray

MAX_RATE = 300.0
"""Joint rate that no valid simulation has [rad/s]."""


class Swimmers(ABC):
    """A batch of equal bodies, each alone in its own water.

    Attributes:
        snake: Their body.
        count: How many.
        current: (2,) velocity of the water [m/s].
        solid_balls: Whether the bodies have balls that they can touch and move.
    """

    solid_balls: bool = False

    def __init__(self, snake: Snake, count: int, current: Sequence[float], balls: Array | None) -> None:
        """Make straight bodies at rest, with the front of the head at the origin and yaw 0.

        Args:
            snake: Their body.
            count: How many.
            current: Velocity of the water [m/s].
            balls: (count, 2) where the balls are [m]; none if left out.
        """
        self.snake, self.count, self._has_balls = snake, count, balls is not None
        self.current = np.asarray(current, np.float64)
        self._commands = np.zeros(count, np.int64)

    @abstractmethod
    def command(self, targets: Array, running: BoolArray | None = None) -> None:
        """Simulate until the next command.

        Args:
            targets: (count, joints) the angles that motors turn towards [rad].
            running: (count,) which bodies are simulated, while the others stay as they are; all if left out.

        Raises:
            SettingError: If the targets of a body that has not exploded are NaN or infinite.
        """

    def _check(self, targets: Array) -> None:
        """Refuse targets that are NaN or infinite, except for bodies that have exploded."""
        wrong = ~np.isfinite(targets).all(axis=1)
        if wrong.any():
            bodies = np.flatnonzero(wrong & ~self.exploded).tolist()
            if bodies:
                raise SettingError(
                    f"the commanded joint angles of body {bodies[0]} are NaN or infinite; allowed: angles [rad]"
                )

    @abstractmethod
    def restart(self, which: IntArray, balls: Array | None = None) -> None:
        """Put some bodies back to their start at time 0, while the others go on.

        Args:
            which: (some,) indices of the bodies.
            balls: (some, 2) where their balls are [m]; if left out, where they were when the bodies were made.
        """

    @property
    def time(self) -> Array:
        """Since the start of each body: (count,) [s]."""
        return np.asarray(self._commands * self.snake.interval, np.float64)

    @property
    def balls(self) -> Array:
        """Where the balls are: (count, 2) [m]. Unless `solid_balls`, a ball is a mark that nothing touches.

        Raises:
            SettingError: If the bodies have no balls.
        """
        self._check_balls()
        return self._ball_positions

    @property
    @abstractmethod
    def _ball_positions(self) -> Array:
        """Where the balls are, if there are any: (count, 2) [m]."""

    def _check_balls(self) -> None:
        if not self._has_balls:
            raise SettingError("these swimmers have no balls; give balls=... where they are made")

    @property
    @abstractmethod
    def centre(self) -> Array:
        """Centre of mass: (count, 2) [m]."""

    @property
    @abstractmethod
    def head(self) -> Array:
        """Yaw of the head link: (count,) [rad]."""

    @property
    @abstractmethod
    def angles(self) -> Array:
        """Joint angles, from the head on: (count, joints) [rad]."""

    @property
    @abstractmethod
    def rates(self) -> Array:
        """Joint rates, from the head on: (count, joints) [rad/s]."""

    @property
    @abstractmethod
    def velocity(self) -> Array:
        """Of the centre of mass: (count, 2) [m/s]."""

    @property
    @abstractmethod
    def angular_momentum(self) -> Array:
        """About the centre of mass: (count,) [kg*m^2/s]."""

    @property
    def drive(self) -> Array:
        """Mean share of the motors that are below their torque limit, over joints and steps: (count,)."""
        return self._drive_sum / np.maximum(self._commands, 1)

    @property
    @abstractmethod
    def _drive_sum(self) -> Array:
        """Sum over all commands since the start of their mean shares: (count,)."""

    @property
    def directions(self) -> Array:
        """Yaw of every link: (count, links) [rad]."""
        return link_angles(self.head, self.angles)

    @property
    def heading(self) -> Array:
        """Mean yaw of the links: (count,) [rad]."""
        return self.directions.mean(axis=1)

    @property
    def centres(self) -> Array:
        """Centre of every link: (count, links, 2) [m]."""
        return link_centres(self.centre, self.directions, self.snake.length)

    @property
    def exploded(self) -> BoolArray:
        """Which simulations are invalid: (count,). NaN compares false, so it counts as exploded."""
        valid = np.abs(self.rates).max(axis=1) < MAX_RATE
        valid &= np.linalg.norm(self.velocity - self.current, axis=1) < self._max_speed
        return ~(valid & np.isfinite(self.centre).all(axis=1))

    @property
    def _max_speed(self) -> float:
        """Upper bound of the speed through the water that joints can cause [m/s]."""
        return MAX_RATE / 3.0 * self.snake.arclength


def start_centre(snake: Snake) -> Array:
    """Where the centre of mass is when the front of the head is at the origin: (2,) [m]."""
    return np.array([-0.5 * snake.arclength, 0.0])
