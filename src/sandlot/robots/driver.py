"""How a controller drives a rover, simulated or real: tracks for a time, halt, scan. The true pose is no part of it."""

from dataclasses import dataclass
from typing import Protocol

from sandlot.recordings.scans import Pose, Scan


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
