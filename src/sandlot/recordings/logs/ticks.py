"""Logs of a tracked robot with a turning laser: a line of encoder ticks, milliseconds and ranges for every turn.

The numbers of the robot are those of a Dagu Rover 5 with an RPLIDAR A1. Ticks count
up from wherever they were, as 16 bit, and so do the milliseconds. In logs of that robot ranges shift
to higher indices when it turns left and shrink around index 0 when it drives: beams
go clockwise, the first looks ahead.
"""

import math
from collections.abc import Iterator

import numpy as np

from sandlot.recordings.logs.scans import Pose, Scan, no_returns, wrap
from sandlot.recordings.logs.source import Source

BEAMS = 360
WORDS = 3 + BEAMS
ROUND = 2**16
"""Ticks and milliseconds begin again here."""


def read_ticks(
    source: Source,
    *,
    ticks_per_turn: float = 1000 / 3,
    wheel_diameter: float = 0.0582,
    track_base: float = 0.19,
    laser_offset: float = -0.035,
) -> Iterator[Scan]:
    """Read the scans of a Rover 5 with an RPLIDAR; where it was comes from its ticks.

    Args:
        source: The log. Each line: left ticks, right ticks, milliseconds, and 360 ranges [mm], 0 where nothing
            came back.
        ticks_per_turn: Of a wheel.
        wheel_diameter: [m].
        track_base: Distance of the tracks [m]. Tracks skid, so the robot turns less than this says.
        laser_offset: How far before the robot's middle the laser is [m].

    Yields:
        One scan for each line.

    Raises:
        DamagedError: A line is not of that form.
    """
    way = math.pi * wheel_diameter / ticks_per_turn
    bearings = -np.radians(np.arange(BEAMS, dtype=np.float64))
    pose, time = Pose(0.0, 0.0, 0.0), 0.0
    before: list[int] | None = None
    for number, line in source.lines():
        values = _integers(source, number, line)
        speed = turn = math.nan
        if before is None:
            source.settings |= {"start": values[2] / 1000, "laser_position": [laser_offset, 0.0]}
            source.settings |= {
                "ticks_per_turn": ticks_per_turn,
                "wheel_diameter": wheel_diameter,
                "track_base": track_base,
            }
        else:
            left, right = (way * _shortest(now - then) for now, then in zip(values[:2], before[:2], strict=True))
            interval = (values[2] - before[2]) % ROUND / 1000
            pose = _drive(pose, (left + right) / 2, (right - left) / track_base)
            time += interval
            if interval > 0.0:
                speed, turn = (left + right) / 2 / interval, (right - left) / track_base / interval
        before = values[:3]
        ranges = no_returns(np.array(values[3:]) / 1000, 0.0, math.inf)
        yield Scan(time, ranges, bearings, pose, pose, speed, turn)


def _integers(source: Source, number: int, line: str) -> list[int]:
    words = line.split(None, WORDS)
    if len(words) != WORDS:
        many = f"more than {WORDS}" if len(words) > WORDS else str(len(words))
        raise source.damaged(number, f"{many} numbers; a line has {WORDS}: two ticks, milliseconds and {BEAMS} ranges")
    try:
        values = [int(word) for word in words if len(word) <= 6]
    except ValueError as error:
        raise source.damaged(number, f"not all of it are whole numbers ({error})") from error
    if len(values) < WORDS or max(map(abs, values)) >= ROUND or min(values[2:]) < 0:
        raise source.damaged(number, f"a number is outside of what 16 bits hold; ranges are 0 to {ROUND - 1:,} mm")
    return values


def _shortest(ticks: int) -> int:
    """A difference of counters that begin again at `ROUND`."""
    return (ticks + ROUND // 2) % ROUND - ROUND // 2


def _drive(pose: Pose, distance: float, turn: float) -> Pose:
    """Where a robot is after an arc; its chord has the direction of its middle."""
    chord = distance * (math.sin(turn / 2) / (turn / 2) if turn else 1.0)
    middle = pose.heading + turn / 2
    return Pose(pose.x + chord * math.cos(middle), pose.y + chord * math.sin(middle), wrap(pose.heading + turn))
