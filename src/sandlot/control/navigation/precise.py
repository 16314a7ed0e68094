"""Precise moves and turns: the rover knows where it is while it drives, steers along its line, and comes back to it."""

import math
from collections.abc import Callable

import numpy as np

from sandlot.control.navigation.maneuvers import Limits, Outcome, run_tracks
from sandlot.control.navigation.reference import Reference
from sandlot.geometry.planar import between, compose, wrap
from sandlot.robots.driver import Driver
from sandlot.typing import Array

PRECISE = Limits(distance=0.006, angle=math.radians(0.25), corrections=60)
"""A tenth of the source's tolerance."""
TURNS = 5
"""Of the lidar at rest for a measurement."""
STEER = 4.0
"""The rover comes back to its line over about one part in so many of a metre [1/m]."""
GAIN = 1.0
"""Speed over the distance left, and turn rate over the angle left [1/s]."""
SLOW, FAST = 0.05, 0.25
"""Lowest and highest speed of a move [m/s]."""
SLOW_TURN, FAST_TURN = 0.15, 1.0
"""Lowest and highest turn rate [rad/s]."""
NEAR, NEAR_ANGLE = 0.04, 0.06
"""Driving with feedback ends so near to the target [m, rad]; the rest is a correction at rest."""
BACK = 0.4
"""A rover beside its line drives back by this and comes again [m]."""
LOST = 5
"""The rover halts if so many scans in a row do not match."""
CREEP = 0.06
"""Speed of corrections [m/s]."""
TICKS = 10
"""Ticks between commands: with an RPLIDAR, one turn."""
PATIENCE = 4.0
"""Driving with feedback is given up after so many times the time it should take."""


class PreciseManeuvers:
    """Moves and turns relative to where the rover should be, so that their errors do not add up.

    Attributes:
        target: (3,) where the last maneuver should have ended, seen from where the first began [m, m, rad].
        pose: (3,) where the rover is by its scans.
    """

    def __init__(self, driver: Driver, limits: Limits = PRECISE) -> None:
        """Take a rover; it scans its surroundings at rest."""
        self._driver, self._limits, self._reference = driver, limits, Reference()
        self.target: Array = np.zeros(3)
        self._reference.extend(driver.scan(2 * TURNS).scans)

    @property
    def pose(self) -> Array:
        """By the last scan that matched."""
        return self._reference.pose

    def move(self, distance: float) -> Outcome:
        """Move ahead along the present line by a distance [m]."""
        self.target = compose(self.target, [distance, 0.0, 0.0])
        return self._finish(self._drive(self.target), -math.copysign(BACK, distance))

    def turn(self, angle: float) -> Outcome:
        """Turn to the left by an angle [rad], and come back to the place where the turn began."""
        self.target = compose(self.target, [0.0, 0.0, angle])
        side = math.copysign(1.0, angle) if abs(angle) > NEAR_ANGLE else 0.0
        return self._finish(self._spin(self.target[2], side), self._room())

    def _finish(self, reason: str, back: float) -> Outcome:
        """Correct at rest until all errors are within limits.

        Args:
            reason: Why the maneuver has failed already; empty if it has not.
            back: Where there is room to leave the target and come again: ahead or, if negative, back [m].
        """
        limits, error = self._limits, math.nan
        for k in range(limits.corrections + 1):
            if reason:
                return Outcome(k, error, reason)
            ahead, aside, yaw = self._measure()
            error = math.hypot(ahead, aside)
            if self._reference.reason:
                return Outcome(k, error, self._reference.reason)
            if error <= limits.distance and abs(yaw) <= limits.angle:
                return Outcome(k, error)
            if abs(aside) > 0.7 * limits.distance:
                reason = self._come_again(back)
            elif abs(yaw) > limits.angle:
                self._nudge(0.0, -limits.angle_damping * yaw)
            else:
                self._nudge(-limits.distance_damping * ahead, 0.0)
        return Outcome(limits.corrections, error, f"not within limits after {limits.corrections} corrections")

    def _measure(self) -> Array:
        """The pose at rest, as seen from the target: (3,) ahead, aside [m], yaw [rad]."""
        return between(self.target, self._reference.follow(self._driver.scan(TURNS).scans, at_rest=True))

    def _nudge(self, distance: float, angle: float) -> None:
        """A small correction by the encoders."""
        travels = self._driver.chassis.tracks(distance, angle)
        self._reference.follow(run_tracks(self._driver, *travels, CREEP).scans)

    def _come_again(self, back: float) -> str:
        """Leave the target along its line, and drive to it from there."""
        return self._drive(compose(self.target, [back, 0.0, 0.0])) or self._drive(self.target)

    def _room(self) -> float:
        """Ahead or back, wherever the target has more room by the last scan at rest [m]."""
        scans = self._driver.scan(TURNS).scans
        self._reference.follow(scans, at_rest=True)
        ranges, bearings = np.array([scan.ranges for scan in scans]), scans[0].bearings
        yaw = wrap(bearings + self.pose[2] - self.target[2])
        lane = np.abs(ranges * np.sin(yaw)) < 1.2 * self._driver.chassis.radius
        along = ranges * np.cos(yaw)
        front, rear = (float(np.min(side * along, where=lane & (side * along > 0.0), initial=99.0)) for side in (1, -1))
        return BACK if front >= rear else -BACK

    def _drive(self, target: Array) -> str:
        """Drive to a target straight ahead or behind, along its line; returns why that failed."""

        def command() -> tuple[float, float] | None:
            ahead, aside, yaw = between(target, self.pose)
            if abs(ahead) <= NEAR:
                return None
            speed = -math.copysign(min(max(GAIN * abs(ahead), SLOW), FAST), ahead)
            rate = -abs(speed) * (STEER**2 * aside * math.copysign(1.0, speed) + 2.0 * STEER * yaw)
            return speed, min(max(rate, -FAST_TURN), FAST_TURN)

        return self._follow(command, abs(between(target, self.pose)[0]) / SLOW)

    def _spin(self, yaw: float, side: float) -> str:
        """Turn on the spot to a yaw [rad], to a side (1 left, -1 right, 0 the shorter); returns why that failed."""

        def command() -> tuple[float, float] | None:
            left = wrap(float(yaw - self.pose[2]))
            if abs(left) > 0.5 * math.pi and left * side < 0.0:
                left += 2.0 * math.pi * side  # the longer way
            if abs(left) <= NEAR_ANGLE:
                return None
            return 0.0, math.copysign(min(max(GAIN * abs(left), SLOW_TURN), FAST_TURN), left)

        return self._follow(command, math.pi / SLOW_TURN)

    def _follow(self, command: Callable[[], tuple[float, float] | None], seconds: float) -> str:
        """Drive by commands, a new one after each turn of the lidar, then halt; returns why that failed.

        Args:
            command: Returns a speed [m/s] and a turn rate [rad/s] for the present pose, or None to halt.
            seconds: How long it should take at most [s].
        """
        chassis, lost, late = self._driver.chassis, 0, math.inf
        while (wanted := command()) is not None:
            sensed = self._driver.drive(*chassis.tracks(*wanted), TICKS * chassis.tick)
            late = min(late, sensed.time + PATIENCE * seconds)
            self._reference.follow(sensed.scans)
            lost = lost + 1 if self._reference.reason else 0
            if lost > LOST or sensed.time > late:
                self._driver.halt()
                return self._reference.reason or "the rover does not get to its target"
        self._reference.follow(self._driver.halt().scans)
        return ""
