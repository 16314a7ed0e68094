"""What a robot with a laser writes down: where it was, and how far it saw in every direction.

Every importer gives one `Scan` at a time; `quantities` are the names under which
a recording keeps them, and `Tally` finds out on the way what a user wants to know
of a log before trusting it.
"""

import math
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.recordings.frames import ONCE, Frame, Quantity

MOST_BEAMS = 100_000
"""Of a scan. More is a damaged count."""

MOST_ANGLE = 7.0
"""Of a laser's first beam, and from one to the next [rad]: more than a turn is damage."""

GAP = 1.0
"""Shortest time without a scan that is called a gap [s]."""

GAP_INTERVALS = 5.0
"""A gap is also longer than so many usual intervals."""


class Pose(NamedTuple):
    """Where something is and where it looks: x, y [m], heading [rad]."""

    x: float
    y: float
    heading: float


NOWHERE = Pose(math.nan, math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Scan:
    """One turn of a laser, and where the robot was.

    Attributes:
        time: [s].
        ranges: (beams,) [m], NaN where nothing came back.
        bearings: (beams,) of the beams relative to the heading, counter-clockwise [rad].
        pose: Best known, of the robot.
        odometry: Where its odometry says it is.
        speed: Forward [m/s], NaN if unknown.
        turn: Counter-clockwise [rad/s], NaN if unknown.
    """

    time: float
    ranges: NDArray[np.float32]
    bearings: NDArray[np.float64]
    pose: Pose = NOWHERE
    odometry: Pose = NOWHERE
    speed: float = math.nan
    turn: float = math.nan

    def frame(self) -> Frame:
        """The scan as a recording keeps it."""
        return {
            "time": np.float64(self.time),
            "position": np.array(self.pose[:2], np.float64),
            "heading": np.float64(self.pose.heading),
            "odometry_position": np.array(self.odometry[:2], np.float64),
            "odometry_heading": np.float64(self.odometry.heading),
            "speed": np.float64(self.speed),
            "turn": np.float64(self.turn),
            "ranges": self.ranges,
            "bearings": self.bearings,
        }


def quantities(beams: int) -> dict[str, Quantity]:
    """What a recording of a robot with a laser of so many beams holds."""
    return {
        "time": Quantity("s", "time of the scan"),
        "position": Quantity("m", "best known position of the robot, x and y", ("axis",), (2,)),
        "heading": Quantity("rad", "best known heading of the robot, counter-clockwise from x"),
        "odometry_position": Quantity("m", "position by odometry, x and y", ("axis",), (2,)),
        "odometry_heading": Quantity("rad", "heading by odometry"),
        "speed": Quantity("m/s", "speed forward"),
        "turn": Quantity("rad/s", "turn rate, counter-clockwise"),
        "ranges": Quantity("m", "distance seen by each beam; NaN: nothing came back", ("beam",), (beams,), "float32"),
        "bearings": Quantity("rad", "direction of each beam from the heading", ("beam",), (beams,), every=ONCE),
    }


@dataclass(frozen=True)
class Findings:
    """What was found in a log.

    Attributes:
        format: Of the log.
        scans: How many.
        beams: Of each.
        duration: From the first scan to the last [s].
        distance: Driven, by the best known positions [m]; NaN if there are none.
        missing: Share of beams without a return, 0 to 1.
        gaps: How often there was no scan for over a second and five times the usual interval.
        longest_gap: [s]; 0 if there is none.
        backwards: How often a scan is older than the one before it.
        damage: Why reading ended early; empty if all could be read.
        notes: What else there is to know.
    """

    format: str
    scans: int
    beams: int
    duration: float
    distance: float
    missing: float
    gaps: int
    longest_gap: float
    backwards: int
    damage: str
    notes: tuple[str, ...]


class Tally:
    """Counts scan by scan, in little memory however long the log."""

    def __init__(self) -> None:
        self.scans = 0
        self.beams = 0
        self._missing = 0
        self._distance = 0.0
        self._known = False
        self._place = (math.nan, math.nan)
        self._first = self._last = self._previous = math.nan
        self._backwards = 0
        # Intervals by their logarithm, in steps of 1 %: enough for a median, and no more than 3,000 numbers.
        self._intervals: Counter[int] = Counter()
        self._longest = 0.0

    def add(self, scan: Scan) -> None:
        """Count one more."""
        if self.scans == 0:
            self._first = self._last = scan.time
        else:
            self._add_interval(scan.time - self._previous)
        self._previous, self._last = scan.time, max(self._last, scan.time)
        self.scans += 1
        self.beams = len(scan.ranges)
        self._missing += int(np.isnan(scan.ranges).sum())
        x, y = scan.pose[:2]
        if math.isfinite(x) and math.isfinite(y):
            step = math.hypot(x - self._place[0], y - self._place[1])
            self._distance += step if self._known else 0.0
            self._known, self._place = True, (x, y)

    def _add_interval(self, interval: float) -> None:
        if interval < 0.0:
            self._backwards += 1
        else:
            self._intervals[_bin(interval)] += 1
            self._longest = max(self._longest, interval)

    def findings(self, kind: str, notes: tuple[str, ...] = (), damage: str = "") -> Findings:
        """All that was counted."""
        gaps = self._gaps()
        total = self.scans * self.beams
        return Findings(
            format=kind,
            scans=self.scans,
            beams=self.beams,
            duration=self._last - self._first if self.scans else 0.0,
            distance=self._distance if self._known else math.nan,
            missing=self._missing / total if total else 0.0,
            gaps=gaps,
            longest_gap=self._longest if gaps else 0.0,
            backwards=self._backwards,
            damage=damage,
            notes=notes,
        )

    def _gaps(self) -> int:
        half, passed, median = self._intervals.total() / 2, 0, 0.0
        for place in sorted(self._intervals):
            passed += self._intervals[place]
            if passed >= half:
                median = math.exp(place / 100)
                break
        least = _bin(max(GAP, GAP_INTERVALS * median))
        return sum(many for place, many in self._intervals.items() if place > least)


def _bin(interval: float) -> int:
    return round(100 * math.log(min(max(interval, 1e-6), 1e6)))


def no_returns(ranges: NDArray[np.float64], nearest: float, farthest: float) -> NDArray[np.float32]:
    """Ranges as a recording keeps them: NaN where they are not above ``nearest`` or not below ``farthest`` [m]."""
    with np.errstate(invalid="ignore", over="ignore"):
        seen = (ranges > nearest) & (ranges < farthest)
        return np.where(seen, ranges, np.nan).astype(np.float32)


def relative(pose: Pose, to: Pose) -> Pose:
    """A pose as seen from another one."""
    dx, dy = pose.x - to.x, pose.y - to.y
    cos, sin = math.cos(to.heading), math.sin(to.heading)
    return Pose(cos * dx + sin * dy, cos * dy - sin * dx, wrap(pose.heading - to.heading))


def placed(pose: Pose, at: Pose) -> Pose:
    """Where a pose is that is given as seen from ``at``; the opposite of `relative`."""
    cos, sin = math.cos(at.heading), math.sin(at.heading)
    return Pose(at.x + cos * pose.x - sin * pose.y, at.y + sin * pose.x + cos * pose.y, wrap(pose.heading + at.heading))


def wrap(angle: float) -> float:
    """The same direction, from -pi to pi [rad]."""
    return math.remainder(angle, 2 * math.pi)
