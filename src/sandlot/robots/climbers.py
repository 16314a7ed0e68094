"""Many climbing robots at once, at two fidelities with one interface.

`FastClimbers` follow the planar model (`sandlot.physics.climbing`); `ReferenceClimbers` are MuJoCo simulations in
space. Each robot drives on a course of its own. A command sets the angles that the two axles turn towards and the
speeds of the belts, and lasts `INTERVAL`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sandlot.errors import SettingError
from sandlot.physics.climbing.ground import empty_ground, set_ground
from sandlot.places.courses import Course
from sandlot.robots.climber import AXLE_LIMIT, Climber, mass_centre
from sandlot.typing import Array, BoolArray, IntArray

INTERVAL = 0.05
"""Between commands [s]."""
FRONT_AXLE, BACK_AXLE, LEFT, RIGHT = range(4)
"""Columns of a command: angles of the axles [rad], speeds of the left and the right belts [m/s]."""
MAX_RATE = 100.0
"""Rate of the body that no valid simulation has [rad/s]."""
MAX_SPEED = 30.0
"""Speed of the body that no valid simulation has [m/s]."""


@dataclass(frozen=True, eq=False)
class Start:
    """How a robot starts: at rest on level ground, with the middle of its body above x.

    Attributes:
        x: [m]
        yaw: 0 is square to the obstacle [rad]; only `ReferenceClimbers` can start at another.
        axles: (front, back) angles of the axles [rad].
    """

    x: float = 0.0
    yaw: float = 0.0
    axles: tuple[float, float] = (0.0, 0.0)


START = Start()


class Climbers(ABC):
    """A batch of robots, each on its own course.

    Attributes:
        climber: The robot.
        count: How many.
        courses: Of each robot.
        ground: Outlines of these courses, for compiled functions.
    """

    def __init__(self, climber: Climber, courses: Sequence[Course]) -> None:
        """Put robots at the start of their courses, stretched out and at rest.

        Args:
            climber: The robot.
            courses: One for each robot.
        """
        self.climber, self.count, self.courses = climber, len(courses), list(courses)
        self._commands = np.zeros(self.count, np.int64)
        self.ground = empty_ground(self.count)
        for k in range(self.count):
            self._set_ground(k)

    def _set_ground(self, which: int) -> None:
        course = self.courses[which]
        self.ground = set_ground(self.ground, which, course.outlines(), course.near, course.end)

    def command(self, targets: Array, running: BoolArray | None = None) -> None:
        """Simulate until the next command.

        Args:
            targets: (count, 4) front and rear axle angle [rad], speed of the left and of the right belts [m/s]. Angles
                beyond +-180 degrees and speeds beyond the motors' are limited.
            running: (count,) which robots are simulated; the others stay as they are. All if left out.

        Raises:
            SettingError: If the targets of a robot whose simulation has not exploded are NaN or infinite.
        """
        targets = np.asarray(targets, np.float64)
        wrong = ~np.isfinite(targets).all(axis=1) & ~self.exploded
        if wrong.any():
            raise SettingError(f"the command of robot {wrong.argmax()} is NaN or infinite; allowed: [rad] and [m/s]")
        top = self.climber.belts.speed
        limits = np.array([AXLE_LIMIT, AXLE_LIMIT, top, top])
        running = np.ones(self.count, np.bool_) if running is None else running
        self._simulate(np.clip(targets, -limits, limits), running)
        self._commands += running

    @abstractmethod
    def _simulate(self, targets: Array, running: BoolArray) -> None:
        """Simulate robots that are running (count,) for `INTERVAL` with targets (count, 4) within their limits."""

    def restart(
        self, which: IntArray, courses: Sequence[Course] | None = None, starts: Sequence[Start] | None = None
    ) -> None:
        """Put some robots at a start at time 0, while the others go on.

        Args:
            which: (some,) indices of the robots.
            courses: One for each of them; the same as before if left out.
            starts: One for each of them; `START` if left out.
        """
        which = np.asarray(which, np.int64)
        if courses is not None:
            for k, course in zip(which.tolist(), courses, strict=True):
                self.courses[k] = course
                self._set_ground(k)
        self._place(which, courses is not None, [START] * len(which) if starts is None else starts)
        self._commands[which] = 0

    @abstractmethod
    def _place(self, which: IntArray, new_courses: bool, starts: Sequence[Start]) -> None:
        """Put robots (some,) at their starts, on ``self.courses``."""

    @property
    def time(self) -> Array:
        """Since the start of each robot: (count,) [s]."""
        return np.asarray(self._commands * INTERVAL, np.float64)

    @property
    @abstractmethod
    def position(self) -> Array:
        """Middle of the body: (count, 3) [m]."""

    @property
    @abstractmethod
    def attitude(self) -> Array:
        """Roll, pitch and yaw of the body: (count, 3) [rad]. Pitch is positive with the nose down, from -pi to pi."""

    @property
    @abstractmethod
    def velocity(self) -> Array:
        """Of the middle of the body, forward, left and up in its horizontal frame: (count, 3) [m/s]."""

    @property
    @abstractmethod
    def rates(self) -> Array:
        """Rates of the body about the axes of its horizontal frame: (count, 3) [rad/s]."""

    @property
    @abstractmethod
    def axles(self) -> Array:
        """Angles of the front and the rear axle: (count, 2) [rad]."""

    @property
    @abstractmethod
    def axle_rates(self) -> Array:
        """Their rates: (count, 2) [rad/s]."""

    @property
    @abstractmethod
    def axle_torques(self) -> Array:
        """Torques of their motors at the last step: (count, 2) [N*m]."""

    @property
    @abstractmethod
    def belts(self) -> Array:
        """Belt speeds, front left, front right, rear left, rear right: (count, 4) [m/s]."""

    @property
    @abstractmethod
    def thrusts(self) -> Array:
        """Forces of the belt motors at the last step, in the same order: (count, 4) [N]."""

    @property
    def mass_centre(self) -> Array:
        """Mass centre from the middle of the body, forward and up in its horizontal frame (annex A): (count, 2) [m]."""
        return mass_centre(self.climber, self.attitude[:, 1], self.axles)

    @property
    def tilt(self) -> Array:
        """Cosine of the angle between the body's up and the world's: (count,)."""
        roll, pitch, _ = self.attitude.T
        return np.asarray(np.cos(roll) * np.cos(pitch))

    @property
    def exploded(self) -> BoolArray:
        """Which simulations are invalid: (count,). NaN compares false, so it counts as exploded."""
        valid = np.abs(self.rates).max(axis=1) < MAX_RATE
        valid &= np.linalg.norm(self.velocity, axis=1) < MAX_SPEED
        return ~(valid & np.isfinite(self.position).all(axis=1))


def clearance(track: Any, hip: Any, axles: Array) -> Array:
    """Heights of the middles of level bodies above level ground on which robots stand: (...) [m].

    Args:
        track: With the sizes ``wheel``, ``tip`` and ``reach`` of a `Track`, as numbers or as arrays (...) [m].
        hip: Height of the axles above the middle of the body, a number or (...) [m].
        axles: (..., 2) angles of the front and the rear axle [rad].
    """
    tips = np.maximum(-np.sin(axles[..., 0]), np.sin(axles[..., 1])) * track.reach + track.tip
    return np.asarray(np.maximum(track.wheel, tips) - hip)
