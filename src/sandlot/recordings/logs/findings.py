"""What a user wants to know about a log before trusting it: how long, how far, what is missing."""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from sandlot.recordings.scans import Scan

MIN_GAP = 1.0
"""Shortest time without a scan that counts as a gap [s]."""
GAP_INTERVALS = 5.0
"""A gap is also longer than so many median intervals."""


@dataclass(frozen=True)
class Findings:
    """Summary of a log.

    Attributes:
        format: Of the log.
        scans: Number of scans.
        beams: Of each scan.
        duration: From the first scan to the last [s].
        distance: Path length by the best known positions [m]; NaN if there are none.
        missing: Share of beams without a return, 0 to 1.
        gaps: How often there was no scan for over a second and five median intervals.
        longest_gap: [s]; 0 without gaps.
        backwards: How often a scan is older than the one before it.
        damage: Why reading ended early; empty if all of the log was read.
        notes: What else the user should know.
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
    """Collects findings scan by scan, in constant memory."""

    def __init__(self) -> None:
        self.scans = 0
        self.beams = 0
        self._missing = 0
        self._distance = 0.0
        self._known = False
        self._position = (math.nan, math.nan)
        self._first = self._last = self._previous = math.nan
        self._backwards = self._unchanged = 0
        # Intervals by their logarithm, in steps of 1 %: enough for a median, and at most 3,000 numbers.
        self._intervals: Counter[int] = Counter()
        self._longest = 0.0

    def add(self, scan: Scan) -> None:
        """Count one scan."""
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
            step = math.hypot(x - self._position[0], y - self._position[1])
            self._distance += step if self._known else 0.0
            self._known, self._position = True, (x, y)

    def _add_interval(self, interval: float) -> None:
        if interval < 0.0:
            self._backwards += 1
        else:
            self._unchanged += interval == 0.0
            self._intervals[_bin(interval)] += 1
            self._longest = max(self._longest, interval)

    def findings(self, kind: str, notes: tuple[str, ...] = (), damage: str = "") -> Findings:
        """The summary of all scans so far."""
        gaps = self._gaps()
        total = self.scans * self.beams
        if self._unchanged > self.scans / 2:
            notes += (f"{self._unchanged:,} of {self.scans:,} scans have the same time as the one before; "
                      "do not trust the times",)  # fmt: skip
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
        least = _bin(max(MIN_GAP, GAP_INTERVALS * median))
        return sum(count for place, count in self._intervals.items() if place > least)


def _bin(interval: float) -> int:
    return round(100 * math.log(min(max(interval, 1e-6), 1e6)))
