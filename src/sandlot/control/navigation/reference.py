"""Where a rover is relative to where it began: its scans are matched with those that it made at rest before."""

import math

import numpy as np

from sandlot.geometry.planar import between, compose
from sandlot.mapping.matching.field import add_points, make_field
from sandlot.mapping.matching.matcher import Expected, Match, match
from sandlot.mapping.matching.points import scan_points
from sandlot.mapping.submaps import place
from sandlot.recordings.scans import Scan
from sandlot.typing import Array

LEVELS = 5
"""Of the likelihoods that are searched."""
SLIP, LEAST = (0.3, 0.4), (0.01, 0.02)
"""Standard deviation of odometry: share of what it says was driven and turned, and at least [m, rad]."""


class Reference:
    """A local map of scans at rest, in whose frame the rover has a pose.

    Attributes:
        pose: (3,) of the rover when it made its last scan that was matched [m, m, rad]; the first was at the origin.
        reason: Why the last scan was refused; empty if it was matched.
    """

    def __init__(self, max_range: float = 12.0) -> None:
        """An empty map; beams longer than ``max_range`` [m] are left out."""
        self._field, self._range = make_field(2.0 * max_range, LEVELS), max_range
        self.pose: Array = np.zeros(3)
        self.reason = ""
        self._odometry: Array | None = None

    def extend(self, scans: tuple[Scan, ...]) -> None:
        """Add scans that were made at rest where the rover is now."""
        for scan in scans:
            add_points(self._field, place(scan_points(scan, max_range=self._range), self.pose))
            self._odometry = np.array(scan.odometry)

    def follow(self, scans: tuple[Scan, ...], at_rest: bool = False) -> Array:
        """Find out where the rover is: (3,) at the time of the last scan [m, m, rad].

        Args:
            scans: Made since the last call. Those at rest are matched as one.
            at_rest: Whether the rover stood still meanwhile.
        """
        if at_rest and scans:
            points = np.concatenate([scan_points(scan, max_range=self._range) for scan in scans])
            self._match(points, scans[-1])
        else:
            for scan in scans:
                velocity = scan.speed, 0.0, scan.turn_rate
                self._match(scan_points(scan, velocity=velocity, max_range=self._range), scan)
        return self.pose

    def _match(self, points: Array, scan: Scan) -> Match:
        odometry = np.array(scan.odometry)
        step = np.zeros(3) if self._odometry is None else between(self._odometry, odometry)
        distance = LEAST[0] + SLIP[0] * math.hypot(step[0], step[1])
        turn = LEAST[1] + SLIP[1] * abs(step[2])
        found = match(self._field, points, Expected(compose(self.pose, step), distance, turn))
        self.reason = found.reason
        if not found.reason:
            self.pose, self._odometry = found.pose, odometry
        return found
