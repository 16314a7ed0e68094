"""Predicts where the next scan is: from odometry, an inertial unit's yaw, or the velocity so far."""

import math
from typing import NamedTuple

import numpy as np

from sandlot.geometry.planar import between, wrap
from sandlot.recordings.scans import Scan
from sandlot.typing import Array

SHORTEST, LONGEST = 0.05, 2.0
"""Intervals between scans are taken to be between these, since time stamps jitter [s]."""
MAX_STEP = 5.0
"""Odometry that moves further than this from one scan to the next is a fault, and not used [m]."""
SLIP = (0.02, 0.1, 0.05)
"""Standard deviation of a position by odometry: at least [m], per metre, and per radian [m]."""
TURN_SLIP = (0.02, 0.1, 0.4)
"""The same of a yaw [rad]: tracks that skid turn much less than they should."""
INERTIAL = 0.01
"""Standard deviation of a turn measured by an inertial unit [rad]."""
FIRST, BOUNDS, FADE = (0.15, 0.2), ((0.1, 0.1), (0.3, 0.5)), 0.1
"""Error of a prediction from the velocity [m, rad]: at first, its bounds, and the weight of the latest error."""
RECENT, LONGER = 0.6, 1.5
"""Weight of the latest step in the velocity; and a predicted step is at most so many times as long as recent ones."""


class Moved(NamedTuple):
    """A predicted motion since the last scan.

    Attributes:
        pose: (3,) in the frame of the robot at the last scan [m, rad].
        distance: Standard deviation of the position [m].
        turn: Standard deviation of the yaw [rad].
        measured: Whether odometry measured it.
        velocity: (3,) forward, to the left [m/s], and turn rate [rad/s].
    """

    pose: Array
    distance: float
    turn: float
    measured: bool
    velocity: Array


class Motion:
    """Predicts motions, scan by scan.

    Args:
        odometry: Whether to use the odometry of the scans, where they have any.
    """

    def __init__(self, odometry: bool = True) -> None:
        self._use = odometry
        self._last: Scan | None = None
        self._yaw = math.nan
        self._squares, self._steps, self._interval = np.square(FIRST), np.zeros(3), SHORTEST

    def predict(self, scan: Scan, yaw: float = math.nan) -> Moved:
        """The motion since the last scan; ``yaw`` is that of an inertial unit, NaN without one [rad]."""
        if self._last is None:
            return Moved(np.zeros(3), *FIRST, False, np.zeros(3))
        interval = _interval(self._last, scan)
        measured = self._use and all(map(math.isfinite, (*scan.odometry, *self._last.odometry)))
        measured = measured and math.dist(self._last.odometry[:2], scan.odometry[:2]) < MAX_STEP
        if measured:
            pose = between(self._last.odometry, scan.odometry)
            driven, turned = math.hypot(pose[0], pose[1]), abs(float(pose[2]))
            distance, turn = (least + rate * driven + per * turned for least, rate, per in (SLIP, TURN_SLIP))
        else:
            pose = self._steps * min(interval / self._interval, LONGER)
            distance, turn = np.clip(np.sqrt(self._squares), *BOUNDS).tolist()
        if math.isfinite(yaw) and math.isfinite(self._yaw):
            pose[2], turn = wrap(yaw - self._yaw), INERTIAL
        return Moved(pose, distance, turn, measured, pose / interval)

    def update(self, scan: Scan, yaw: float, moved: Array) -> None:
        """Take a scan as the last one; the robot has ``moved`` (3,) since the one before [m, rad]."""
        if self._last is not None:
            wrong = between(self.predict(scan).pose, moved)
            squares = np.array([wrong[0] ** 2 + wrong[1] ** 2, wrong[2] ** 2])
            self._squares = (1.0 - FADE) * self._squares + FADE * np.minimum(squares, 4.0 * self._squares)
            self._interval += RECENT * (_interval(self._last, scan) - self._interval)
            self._steps = self._steps + RECENT * (moved - self._steps)
        self._last, self._yaw = scan, yaw


def _interval(before: Scan, now: Scan) -> float:
    return min(max(now.time - before.time, SHORTEST), LONGEST)
