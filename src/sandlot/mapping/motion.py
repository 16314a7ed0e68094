"""Predicts where the next scan is: from odometry, an inertial unit's yaw, or the velocity so far."""

import math
from collections import deque
from statistics import median
from typing import NamedTuple

import numpy as np

from sandlot.geometry.planar import between, wrap
from sandlot.recordings.scans import Scan
from sandlot.typing import Array

SHORTEST, FIRST_INTERVAL = 0.25, 0.1
"""Time stamps jitter. Intervals between scans are taken to be at least this share of the median of the latest ones; and
this long [s], where time does not advance from the first scan to the second."""
LATEST = 5
"""Intervals of which the median is taken."""
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
        odometry: Whether to use the odometry and the inertial yaw of the scans, where they have any.
    """

    def __init__(self, odometry: bool = True) -> None:
        self._use = odometry
        self._last: Scan | None = None
        self._yaw = math.nan
        self._intervals: deque[float] = deque(maxlen=LATEST)
        self._squares, self._steps, self._interval = np.square(FIRST), np.zeros(3), 0.0

    def predict(self, scan: Scan, yaw: float = math.nan) -> Moved:
        """The motion since the last scan; ``yaw`` is that of an inertial unit, NaN for that of the scan [rad]."""
        if self._last is None:
            return Moved(np.zeros(3), *FIRST, False, np.zeros(3))
        interval = self._elapsed(self._last, scan)
        measured = self._use and all(map(math.isfinite, (*scan.odometry, *self._last.odometry)))
        measured = measured and math.dist(self._last.odometry[:2], scan.odometry[:2]) < MAX_STEP
        if measured:
            pose = between(self._last.odometry, scan.odometry)
            driven, turned = math.hypot(pose[0], pose[1]), abs(float(pose[2]))
            distance, turn = (least + rate * driven + per * turned for least, rate, per in (SLIP, TURN_SLIP))
            velocity = pose / interval
        else:
            usual = self._interval or interval
            velocity = self._steps / usual
            pose = velocity * min(interval, LONGER * usual)
            distance, turn = np.clip(np.sqrt(self._squares), *BOUNDS).tolist()
        yaw = self._inertial(scan, yaw)
        if math.isfinite(yaw) and math.isfinite(self._yaw):
            pose[2], turn = wrap(yaw - self._yaw), INERTIAL
            velocity[2] = pose[2] / interval
        return Moved(pose, distance, turn, measured, velocity)

    def update(self, scan: Scan, yaw: float, moved: Array) -> None:
        """Take a scan as the last one; the robot has ``moved`` (3,) since the one before [m, rad]."""
        if self._last is not None:
            wrong = between(self.predict(scan).pose, moved)
            squares = np.array([wrong[0] ** 2 + wrong[1] ** 2, wrong[2] ** 2])
            self._squares = (1.0 - FADE) * self._squares + FADE * np.minimum(squares, 4.0 * self._squares)
            # Steps and intervals get the same weights, so that their ratio is a mean velocity, also after a gap.
            recent, interval = RECENT if self._interval else 1.0, self._elapsed(self._last, scan)
            self._intervals.append(interval)
            self._interval += recent * (interval - self._interval)
            self._steps = self._steps + recent * (moved - self._steps)
        self._last, self._yaw = scan, self._inertial(scan, yaw)

    def _inertial(self, scan: Scan, yaw: float) -> float:
        return scan.inertial_yaw if self._use and not math.isfinite(yaw) else yaw

    def _elapsed(self, before: Scan, now: Scan) -> float:
        """Time between two scans [s]; the usual one, if time does not advance."""
        elapsed, usual = now.time - before.time, median(self._intervals or (FIRST_INTERVAL,))
        if not elapsed > 0.0:
            return usual
        return max(elapsed, SHORTEST * usual) if self._intervals else elapsed
