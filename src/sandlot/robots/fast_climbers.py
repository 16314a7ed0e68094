"""Climbing robots in the planar model of `sandlot.physics.climbing`: straight ahead, left and right alike."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from sandlot.errors import SettingError
from sandlot.physics.climbing.robot import (
    BACK,
    BELTS,
    BODY,
    COLUMNS,
    CONTACTS,
    FRONT,
    MIDDLE,
    MISSED,
    MOTORS,
    ROBOT,
    SPEED,
    X,
    Z,
    mass_centres,
)
from sandlot.physics.climbing.step import advance
from sandlot.places.courses import Course
from sandlot.robots.climber import Climber
from sandlot.robots.climbers import INTERVAL, START, Climbers, Start, clearance
from sandlot.typing import Array, BoolArray, IntArray

STEP = 0.005
"""Of the physics [s]."""


def record(climber: Climber) -> Any:
    """The robot for compiled functions: an array of one record of `ROBOT`."""
    body, track, axles, belts = climber.body, climber.track, climber.axles, climber.belts
    made = np.zeros(1, ROBOT).view(np.recarray)
    sizes = (0.5 * axles.span, axles.height, track.wheel, track.tip, track.reach)
    pair, radius = 2.0 * track.mass, 0.5 * body.height
    masses = (body.mass, pair, pair, climber.body_inertia[1], *2 * [2.0 * climber.track_inertia[1]], 0.0, 0.0)
    servo = (axles.speed, axles.torque, axles.gain, axles.damping, axles.inertia)
    motor = (2.0 * climber.thrust, belts.speed, 2.0 * belts.damping, 2.0 * belts.inertia)
    straight = max(0.5 * body.length - radius, 1e-6)
    made[0] = (*sizes, straight, radius, *masses, track.friction, body.friction, *servo, *motor)
    return made


class FastClimbers(Climbers):
    """Robots in the compiled planar model. The belts of both sides get the mean of both speeds.

    Attributes:
        robots: (count,) records of `sandlot.physics.climbing.robot.ROBOT`, which may be changed, each for itself.
        state: (count, columns) as of `sandlot.physics.climbing.robot`.
    """

    def __init__(self, climber: Climber, courses: Sequence[Course], *, step: float = STEP, threads: int = 1) -> None:
        """Put robots at the start of their courses.

        Args:
            climber: The robot.
            courses: One for each robot.
            step: Of the physics [s].
            threads: Number of threads among which the robots are divided.
        """
        super().__init__(climber, courses)
        self._step, self._steps = step, round(INTERVAL / step)
        self.robots = np.repeat(record(climber), self.count).view(np.recarray)
        self.state = np.zeros((self.count, COLUMNS))
        self._labels = np.full((self.count, CONTACTS), -1, np.int64)
        self._impulses = np.zeros((self.count, CONTACTS, 2))
        self._ends = np.linspace(0, self.count, threads + 1).astype(np.int64).tolist()
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._place(np.arange(self.count), True, [START] * self.count)

    def _place(self, which: IntArray, new_courses: bool, starts: Sequence[Start]) -> None:
        for start in starts:
            if start.yaw != 0.0:
                raise SettingError(
                    f"yaw={start.yaw:g} is only for fidelity=reference: the fast model drives straight ahead"
                )
        rows = np.zeros((len(which), COLUMNS))
        robots: Any = self.robots[which]
        axles = np.reshape([each.axles for each in starts], (-1, 2))
        ground = [self.courses[k].height(each.x) for k, each in zip(which.tolist(), starts, strict=True)]
        rows[:, [FRONT, BACK]], rows[:, MIDDLE] = axles, [each.x for each in starts]
        rows[:, MIDDLE + 1] = ground + clearance(robots, robots.hip, axles)
        offsets = mass_centres(robots, rows[:, BODY : BACK + 1].T)
        rows[:, [X, Z]] = rows[:, MIDDLE : MIDDLE + 2] + offsets
        self.state[which], self._labels[which] = rows, -1

    def _simulate(self, targets: Array, running: BoolArray) -> None:
        given = np.column_stack([targets[:, :2], targets[:, 2:].mean(axis=1)])

        def run(first: int, last: int) -> None:
            memory = (self.state, self._labels, self._impulses)
            advance(self.robots, self.ground, *memory, given, running, first, last, self._steps, self._step)

        if self._pool is None:
            run(0, self.count)
        else:
            list(self._pool.map(run, self._ends[:-1], self._ends[1:]))

    @property
    def exploded(self) -> BoolArray:
        """Which simulations are invalid, also for want of room for a contact: (count,)."""
        return super().exploded | (self.state[:, MISSED] > 0.0)

    @property
    def position(self) -> Array:
        """Middle of the body: (count, 3) [m]."""
        return _in_plane(self.state[:, MIDDLE], self.state[:, MIDDLE + 1])

    @property
    def attitude(self) -> Array:
        """Roll, pitch and yaw of the body: (count, 3) [rad]."""
        pitch = -self.state[:, BODY]
        return _along_y(np.arctan2(np.sin(pitch), np.cos(pitch)))

    @property
    def velocity(self) -> Array:
        """Of the middle of the body, forward, left and up: (count, 3) [m/s]."""
        return _in_plane(self.state[:, MIDDLE + 2], self.state[:, MIDDLE + 3])

    @property
    def rates(self) -> Array:
        """Rates of the body about the axes of its horizontal frame: (count, 3) [rad/s]."""
        return _along_y(-self.state[:, SPEED + BODY])

    @property
    def axles(self) -> Array:
        """Angles of the front and the rear axle: (count, 2) [rad]."""
        return self.state[:, [FRONT, BACK]] - self.state[:, [BODY]]

    @property
    def axle_rates(self) -> Array:
        """Their rates: (count, 2) [rad/s]."""
        return self.state[:, [SPEED + FRONT, SPEED + BACK]] - self.state[:, [SPEED + BODY]]

    @property
    def axle_torques(self) -> Array:
        """Torques of their motors at the last step: (count, 2) [N*m]."""
        return self.state[:, MOTORS : MOTORS + 2].copy()

    @property
    def belts(self) -> Array:
        """Belt speeds, front left, front right, rear left, rear right: (count, 4) [m/s]."""
        return np.repeat(self.state[:, BELTS : BELTS + 2], 2, axis=1)

    @property
    def thrusts(self) -> Array:
        """Forces of the belt motors at the last step, in the same order: (count, 4) [N]."""
        return np.repeat(0.5 * self.state[:, MOTORS + 2 : MOTORS + 4], 2, axis=1)


def _in_plane(x: Array, z: Array) -> Array:
    return np.stack([x, np.zeros_like(x), z], axis=1)


def _along_y(values: Array) -> Array:
    return np.stack([np.zeros_like(values), values, np.zeros_like(values)], axis=1)
