"""How a controller drives a rover, simulated or real: tracks for a time, halt, scan. The true pose is no part of it."""

from dataclasses import dataclass
from typing import Protocol, TypeVar

from sandlot.recordings.scans import Pose, Scan
from sandlot.typing import Array

Number = TypeVar("Number", float, Array)


@dataclass(frozen=True, slots=True)
class Sensed:
    """What a rover has sensed during an order.

    Attributes:
        time: At its end [s].
        odometry: Pose by odometry, relative to where the rover was switched on.
        counts: Of the encoders of the left and the right track, since then.
        scans: Turns of the lidar that were completed during the order, oldest first.
    """

    time: float
    odometry: Pose
    counts: tuple[int, int]
    scans: tuple[Scan, ...]


@dataclass(frozen=True, slots=True)
class Chassis:
    """What a rover knows of itself.

    Attributes:
        radius: Of a disc around the body [m].
        top_speed: Of a track [m/s].
        turning_width: Difference between the travels of the tracks for a turn of 1 rad, as far as is known [m].
        travel: Travel of a track per count of its encoder [m].
        tick: Orders last a whole number of ticks [s].
    """

    radius: float
    top_speed: float
    turning_width: float
    travel: float
    tick: float

    def tracks(self, speed: float, turn_rate: float) -> tuple[float, float]:
        """`tracks` of this rover."""
        return tracks(speed, turn_rate, self.turning_width)


def tracks(speed: Number, turn_rate: Number, turning_width: float) -> tuple[Number, Number]:
    """Speeds of the left and the right track [m/s] for a speed [m/s] and a turn rate [rad/s], or arrays of them.

    The same with distances and angles: travels of the tracks [m] for a distance [m] and a turn [rad].
    """
    aside = 0.5 * turning_width * turn_rate
    return speed - aside, speed + aside


class Driver(Protocol):
    """A tracked rover that takes orders one after the other; each returns when it is done."""

    @property
    def chassis(self) -> Chassis:
        """Size, speed and encoders."""

    def drive(self, left: float, right: float, seconds: float) -> Sensed:
        """Let the tracks run at these speeds [m/s] for a time [s]; they go on until the next order."""

    def halt(self) -> Sensed:
        """Switch both motors off, and return when the tracks are at rest."""

    def scan(self, turns: int = 1) -> Sensed:
        """Halt, and let the lidar make so many whole turns at rest; only these are returned."""
