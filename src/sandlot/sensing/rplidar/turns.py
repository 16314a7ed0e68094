"""Whole turns of the head: samples cut where a turn begins, sorted by direction, as scans for mappers."""

import math
from dataclasses import dataclass

import numpy as np

from sandlot.recordings.scans import Scan, no_returns
from sandlot.sensing.rplidar.samples import TURN, Samples, join
from sandlot.typing import Array

MAX_SAMPLES = 50_000
"""Of a turn; if there are more, the head does not turn, and the samples are dropped."""
MIN_SHARE = 0.5
"""A turn that covers less than this share of a full one is not returned."""
MIN_RANGE = 0.05
"""Nearer returns are noise [m]."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the head.

    Attributes:
        samples: Sorted by bearing, -pi to pi.
        end: When the turn ended [s].
        period: How long it took [s].
        complete: Whether nothing was lost in it.
    """

    samples: Samples
    end: float
    period: float
    complete: bool

    def scan(self, max_range: float = math.inf, yaw: float = 0.0) -> Scan:
        """The turn as a scan, with the beams that the device has measured.

        Args:
            max_range: Farther returns are left out [m].
            yaw: Of the lidar's front on the robot, counter-clockwise [rad].
        """
        bearings = self.samples.bearings + yaw
        bearings = np.where(bearings > math.pi, bearings - 2.0 * math.pi, bearings)
        bearings = np.where(bearings <= -math.pi, bearings + 2.0 * math.pi, bearings)
        order = np.argsort(bearings, kind="stable")
        ranges = no_returns(self.samples.ranges, MIN_RANGE, max_range)
        return Scan(self.end, ranges[order], bearings[order], ages=(self.end - self.samples.times)[order])

    def even_scan(self, beams: int, max_range: float = math.inf, yaw: float = 0.0) -> Scan:
        """The turn as a scan of beams in fixed directions, as recordings need them: of each, the nearest return.

        A beam has no return if no sample in its share of the turn has one. The age of a beam is where the head of a
        lidar that turns clockwise from the front is then.

        Args:
            beams: Their number; directions are `even_bearings`.
            max_range: Farther returns are left out [m].
            yaw: Of the lidar's front on the robot, counter-clockwise [rad].
        """
        measured = self.scan(max_range, yaw)
        bearings = even_bearings(beams)
        which = np.floor((measured.bearings + math.pi) * (beams / (2.0 * math.pi))).astype(np.int64) % beams
        ranges = np.full(beams, np.inf, np.float32)
        np.fmin.at(ranges, which, measured.ranges)
        ranges[np.isinf(ranges)] = np.nan
        return Scan(self.end, ranges, bearings, ages=even_ages(bearings, self.period, yaw))


def even_bearings(beams: int) -> Array:
    """Middles of equal parts of a turn, from straight back on counter-clockwise: (beams,) [rad]."""
    return (np.arange(beams, dtype=np.float64) + 0.5) * (2.0 * math.pi / beams) - math.pi


def even_ages(bearings: Array, period: float, yaw: float = 0.0) -> Array:
    """How long before the end of a turn, which begins in front and goes clockwise, each beam is measured: (n,) [s]."""
    ages: Array = np.mod(bearings - yaw, 2.0 * math.pi) / (2.0 * math.pi) * period
    return ages


class Turns:
    """Makes turns of samples, as they come.

    A turn ends where the device says that the next one begins. If that sample was lost, it ends where the angle has
    passed the one at which the turn began. Samples before the first beginning are dropped.
    """

    def __init__(self) -> None:
        self._parts: list[Samples] = []
        self._count = 0
        self._begun = False  # whether it is known where the turn began
        self._whole = False  # whether nothing was lost since

    def add(self, samples: Samples) -> list[Turn]:
        """Take samples, and return the turns that they complete."""
        turns: list[Turn] = []
        cuts = np.flatnonzero(samples.starts | samples.gaps).tolist()
        for begin, end in zip([0, *cuts], [*cuts, len(samples)], strict=True):
            if begin in cuts:
                self._cut(samples, begin, turns)
            if end > begin:
                self._parts.append(samples[begin:end])
                self._count += end - begin
            if self._count > MAX_SAMPLES:
                self._parts, self._count, self._begun, self._whole = [], 0, False, False
        return turns

    def _cut(self, samples: Samples, at: int, turns: list[Turn]) -> None:
        """Decide whether a turn ends before a sample, which begins one or follows a loss."""
        start, gap = bool(samples.starts[at]), bool(samples.gaps[at])
        if not start and not (self._parts and self._passed(samples, at)):
            self._whole = False
            return
        if self._parts and self._begun:
            found = _turn(join(self._parts), float(samples.times[at]), self._whole and not gap)
            turns.extend([found] if found else [])
        self._parts, self._count, self._begun, self._whole = [], 0, True, start

    def _passed(self, samples: Samples, at: int) -> bool:
        """Whether the head has begun another turn while samples were lost."""
        first, last = int(self._parts[0].angles[0]), self._parts[-1]
        before, now = (int(last.angles[-1]) - first) % TURN, (int(samples.angles[at]) - first) % TURN
        lost = float(samples.times[at] - last.times[-1])
        so_far = float(last.times[-1] - self._parts[0].times[0])
        # A turn may begin slightly behind the angle of its first sample, as samples are not in order.
        return (now < before and before > 0.25 * TURN) or (before > 0 and lost > max(so_far * TURN / before, 0.02))


def _turn(samples: Samples, end: float, whole: bool) -> Turn | None:
    """A turn; None if it covers too little."""
    covered = len(np.unique(samples.angles // (TURN // 36)))  # of 36 equal parts
    if covered < 36 * MIN_SHARE:
        return None
    order = np.argsort(samples.bearings, kind="stable")
    period = end - float(samples.times[0])
    return Turn(samples[order], end, period, whole)
