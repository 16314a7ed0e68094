"""A laser scan with the pose of the robot: what lidars, log importers and mappers share, and how it is recorded."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.recordings.frames import ONCE, Frame, Quantity
from sandlot.recordings.vocabulary import quantity
from sandlot.typing import Array

MAX_BEAMS = 100_000
"""Of a scan; a larger count means damage."""
MAX_ANGLE = 7.0
"""Of a laser's first beam, and from one beam to the next [rad]; more than a full turn means damage."""
NUMBERS = ("time", "x", "y", "yaw", "odometry_x", "odometry_y", "odometry_yaw", "speed", "turn_rate")
"""Quantities of a scan that are one number."""


class Pose(NamedTuple):
    """Position x, y [m] and yaw [rad]."""

    x: float
    y: float
    yaw: float


UNKNOWN_POSE = Pose(math.nan, math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Scan:
    """One scan of a laser, and where the robot was.

    Attributes:
        time: [s].
        ranges: (beams,) [m], NaN without a return.
        bearings: (beams,) direction of each beam relative to the yaw, counter-clockwise [rad].
        pose: Best known pose of the robot.
        odometry: Pose by odometry.
        speed: Forward [m/s]; NaN if unknown.
        turn_rate: Counter-clockwise [rad/s]; NaN if unknown.
        ages: (beams,) how long before ``time`` each beam was measured [s]; None if all were measured at once.
        inertial_yaw: Yaw by an inertial unit, from an unknown offset [rad]; NaN without one. Recordings do not keep it.
    """

    time: float
    ranges: NDArray[np.float32]
    bearings: Array
    pose: Pose = UNKNOWN_POSE
    odometry: Pose = UNKNOWN_POSE
    speed: float = math.nan
    turn_rate: float = math.nan
    ages: Array | None = None
    inertial_yaw: float = math.nan

    @property
    def began(self) -> float:
        """When its first beam was measured [s]."""
        return self.time - (float(self.ages.max()) if self.ages is not None and len(self.ages) else 0.0)

    def frame(self) -> Frame:
        """The scan as a frame of a recording."""
        numbers = (self.time, *self.pose, *self.odometry, self.speed, self.turn_rate)
        named = {name: np.float64(value) for name, value in zip(NUMBERS, numbers, strict=True)}
        return {**named, "ranges": self.ranges, "bearings": self.bearings}


def quantities(beams: int) -> dict[str, Quantity]:
    """The quantities of a recording of a laser with so many beams."""
    return {
        **{name: quantity(name) for name in NUMBERS},
        "ranges": quantity("ranges", ("beam",), (beams,), "float32"),
        "bearings": quantity("bearings", ("beam",), (beams,), every=ONCE),
    }


def no_returns(ranges: Array, min_range: float, max_range: float) -> NDArray[np.float32]:
    """Ranges as a recording keeps them: NaN unless above ``min_range`` and below ``max_range`` [m]."""
    with np.errstate(invalid="ignore", over="ignore"):
        seen = (ranges > min_range) & (ranges < max_range)
        return np.where(seen, ranges, np.nan).astype(np.float32)
