"""Moves and turns of a tracked rover: blind by its encoders, or measured and corrected as the indoor source does it.

The source (its section 6.5) moves, compares a scan with the one predicted from the scan before, and corrects a share
of the error, until that is small. It corrects only the kind of error of the maneuver: the distance of a move, the angle
of a turn. `sandlot.control.navigation.precise` corrects all three.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from pydantic import Field

from sandlot.mapping.matching.points import scan_points
from sandlot.mapping.shifting import DEFAULT, Discretisation, rotation_error, translation_error
from sandlot.recordings.scans import Scan
from sandlot.robots.driver import Driver, Sensed
from sandlot.settings import Settings

STALLED = 3.0
"""An order that takes so many times as long as its tracks need is given up."""


class Limits(Settings):
    """When a maneuver is good enough, and how it is corrected; the defaults are the source's.

    Attributes:
        distance: Largest error of a position [m].
        angle: Largest error of a yaw [rad].
        distance_damping: Share of a measured distance error that is corrected at once; coasting adds to it.
        angle_damping: The same of an angle.
        corrections: A maneuver is given up after so many.
    """

    distance: float = Field(0.05, gt=0.0)
    angle: float = Field(math.radians(2.0), gt=0.0)
    distance_damping: float = Field(0.6, gt=0.0, le=1.0)
    angle_damping: float = Field(0.7, gt=0.0, le=1.0)
    corrections: int = Field(12, ge=0, le=1000)


SOURCE = Limits()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a maneuver ended.

    Attributes:
        corrections: How many there were.
        error: Last measured error of the distance [m] or the angle [rad]; NaN if none was measured.
        reason: Why the maneuver was given up; empty if it is good.
    """

    corrections: int
    error: float
    reason: str = ""


class Maneuvers(Protocol):
    """Moves ahead or back, and turns on the spot."""

    def move(self, distance: float) -> Outcome:
        """Move ahead by a distance [m], or back if it is negative."""

    def turn(self, angle: float) -> Outcome:
        """Turn to the left by an angle [rad], or to the right if it is negative."""


def run_tracks(driver: Driver, left: float, right: float, speed: float) -> Sensed:
    """Let tracks run by so much [m], then halt.

    Each motor is switched off when its encoder has counted the distance, as in the source: the track then coasts.

    Args:
        driver: The rover.
        left: Travel of the left track; negative is back [m].
        right: Travel of the right track [m].
        speed: Of both [m/s].
    """
    chassis, begin = driver.chassis, driver.halt()
    sensed, late = begin, begin.time + STALLED * (max(abs(left), abs(right)) / speed + 1.0)

    def needed(wanted: float, track: int) -> float:
        """The speed of a track, 0 when it has gone far enough."""
        gone = abs(sensed.counts[track] - begin.counts[track]) * chassis.travel
        return math.copysign(speed, wanted) if gone < abs(wanted) else 0.0

    while sensed.time < late:
        speeds = needed(left, 0), needed(right, 1)
        if speeds == (0.0, 0.0):
            break
        sensed = driver.drive(speeds[0], speeds[1], chassis.tick)
    return driver.halt()


class BlindManeuvers:
    """Maneuvers by the encoders alone."""

    def __init__(self, driver: Driver) -> None:
        """Of this rover."""
        self._driver = driver

    def move(self, distance: float) -> Outcome:
        """Run both tracks by the distance [m]."""
        run_tracks(self._driver, distance, distance, self._driver.chassis.top_speed)
        return Outcome(0, math.nan)

    def turn(self, angle: float) -> Outcome:
        """Run the tracks against each other by what the angle [rad] needs, as far as is known."""
        chassis = self._driver.chassis
        run_tracks(self._driver, *chassis.tracks(0.0, angle), chassis.top_speed)
        return Outcome(0, math.nan)


Compare = Callable[[Scan, Scan, float], float]
"""Scans before and after a maneuver, and how far it was to go [m or rad]; returns how much further it went."""


class CorrectedManeuvers:
    """The source's maneuvers: move, measure by comparing two scans, correct."""

    def __init__(
        self, driver: Driver, moves: Compare | None = None, turns: Compare | None = None, limits: Limits = SOURCE
    ) -> None:
        """Take a rover and what compares scans.

        Args:
            driver: The rover.
            moves: Measures by how much a move was too long [m]; `compare_moves` if not given.
            turns: Measures by how much a turn was too far to the left [rad]; `compare_turns` if not given.
            limits: When a maneuver is good enough.
        """
        self._driver, self._blind, self._limits = driver, BlindManeuvers(driver), limits
        self._moves, self._turns = moves or compare_moves, turns or compare_turns

    def move(self, distance: float) -> Outcome:
        """Move until the distance [m] is right; the yaw is not looked at."""
        limits = self._limits
        return self._correct(distance, self._blind.move, self._moves, limits.distance, limits.distance_damping)

    def turn(self, angle: float) -> Outcome:
        """Turn until the angle [rad] is right; the position is not looked at."""
        limits = self._limits
        return self._correct(angle, self._blind.turn, self._turns, limits.angle, limits.angle_damping)

    def _correct(
        self, wanted: float, do: Callable[[float], Outcome], compare: Compare, limit: float, damping: float
    ) -> Outcome:
        before = still(self._driver)
        do(wanted)
        for k in range(self._limits.corrections + 1):
            error = compare(before, still(self._driver), wanted)
            if not math.isfinite(error):
                return Outcome(k, error, "the scans before and after the maneuver cannot be compared")
            if abs(error) <= limit:
                return Outcome(k, error)
            if k < self._limits.corrections:
                do(-damping * error)
        return Outcome(k, error, f"not within limits after {k} corrections")


COARSE = Discretisation(resolution=0.04)
"""For a first pass of the comparison; the second is at the source's 10 mm."""
MOST_TURN, COARSE_STEP, FINE_STEP = math.radians(45.0), math.radians(1.5), math.radians(0.25)
"""Largest error of a turn that is looked for, and the steps of both passes [rad]."""


def compare_moves(before: Scan, after: Scan, distance: float) -> float:
    """By how much a move was too long, as the source measures it, in two passes [m]."""
    one, other = scan_points(before), scan_points(after)
    coarse = translation_error(one, other, distance, COARSE).value
    near = 2.0 * COARSE.resolution / DEFAULT.size
    return translation_error(one, other, distance, DEFAULT, near, coarse).value


def compare_turns(before: Scan, after: Scan, angle: float) -> float:
    """By how much a turn was too far to the left, as the source measures it, in two passes [rad]."""
    one, other = scan_points(before), scan_points(after)
    coarse = rotation_error(one, other, angle, COARSE, MOST_TURN, COARSE_STEP).value
    return coarse + rotation_error(one, other, angle + coarse, DEFAULT, COARSE_STEP, FINE_STEP).value


def still(driver: Driver, turns: int = 5) -> Scan:
    """Halt, and take the median of each beam over some turns of the lidar; beams are often lost."""
    scans = driver.scan(turns).scans
    ranges = np.array([scan.ranges for scan in scans])
    known = np.isfinite(ranges).any(axis=0)
    middle = np.full(ranges.shape[1], np.nan, np.float32)
    middle[known] = np.nanmedian(ranges[:, known], axis=0)
    last = scans[-1]
    return Scan(last.time, middle, last.bearings, odometry=last.odometry, speed=0.0, turn_rate=0.0)
