"""Logs of a tracked Dagu Rover 5 with an RPLIDAR A1: per line encoder ticks, milliseconds and 360 ranges.

Ticks and milliseconds are 16-bit counters that start anywhere and wrap around. Beams go clockwise, and the first looks
ahead: in logs of that robot, ranges shift to higher indices when it turns left, and those around index 0 shrink when it
drives.
"""

import math
from collections.abc import Iterator

import numpy as np

from sandlot.errors import quote
from sandlot.geometry.planar import wrap
from sandlot.recordings.logs.formats import ROVER5_WORDS
from sandlot.recordings.logs.source import Source
from sandlot.recordings.scans import Pose, Scan, no_returns

WORDS, BEAMS = ROVER5_WORDS, ROVER5_WORDS - 3
COUNTER = 2**16
"""Ticks and milliseconds wrap around here."""
MAX_TICKS = 10_000
"""Maximum ticks from one line to the next, about 5 m; more is a fault of the encoder, and counts as no motion."""


def read_rover5(
    source: Source,
    *,
    ticks_per_turn: float = 1000 / 3,
    wheel_diameter: float = 0.0582,
    track_base: float = 0.19,
    laser_offset: float = -0.035,
) -> Iterator[Scan]:
    """Read the scans of a Rover 5 with an RPLIDAR; the pose is integrated from the ticks.

    Args:
        source: The log. Each line: left ticks, right ticks, milliseconds, and 360 ranges [mm], 0 without a return.
        ticks_per_turn: Of a wheel.
        wheel_diameter: [m].
        track_base: Distance between the tracks [m]. Tracks skid, so the robot turns less than this predicts.
        laser_offset: Distance of the laser ahead of the robot's centre [m].

    Yields:
        One scan for each line.

    Raises:
        DamagedError: A line is not of that form.
    """
    metres_per_tick = math.pi * wheel_diameter / ticks_per_turn
    bearings = -np.radians(np.arange(BEAMS, dtype=np.float64))
    pose, time = Pose(0.0, 0.0, 0.0), 0.0
    before: list[int] | None = None
    jumps: list[int] = []
    for number, line in source.lines():
        values = _integers(source, number, line)
        speed = turn_rate = math.nan
        if before is None:
            source.settings |= {
                "start": values[2] / 1000,
                "laser_position": [laser_offset, 0.0],
                "ticks_per_turn": ticks_per_turn,
                "wheel_diameter": wheel_diameter,
                "track_base": track_base,
            }
        else:
            ticks = [_difference(now, then) for now, then in zip(values[:2], before[:2], strict=True)]
            interval = (values[2] - before[2]) % COUNTER / 1000
            time += interval
            if max(map(abs, ticks)) > MAX_TICKS:
                jumps.append(max(map(abs, ticks)))
            else:
                left, right = (metres_per_tick * each for each in ticks)
                distance, turned = (left + right) / 2, (right - left) / track_base
                pose = _drive(pose, distance, turned)
                if interval > 0.0:
                    speed, turn_rate = distance / interval, turned / interval
        before = values[:3]
        ranges = no_returns(np.array(values[3:]) / 1000, 0.0, math.inf)
        yield Scan(time, ranges, bearings, pose, pose, speed, turn_rate)
    if jumps:
        source.note(
            f"the encoder ticks jump {len(jumps):,} times, by up to {max(jumps):,}; "
            "the robot is taken to stand still there, so poses after a jump are uncertain"
        )


def _integers(source: Source, number: int, line: str) -> list[int]:
    words = line.split(None, WORDS)
    if len(words) != WORDS:
        many = f"more than {WORDS}" if len(words) > WORDS else str(len(words))
        raise source.damaged(number, f"{many} numbers; a line has {WORDS}: two ticks, milliseconds and {BEAMS} ranges")
    try:
        values = [int(word) for word in words if len(word) <= 6]
    except ValueError as error:
        raise source.damaged(number, f"some of its words are not whole numbers ({quote(error)})") from error
    if len(values) < WORDS or max(map(abs, values)) >= COUNTER or min(values[2:]) < 0:
        raise source.damaged(number, f"a number does not fit into 16 bits; ranges are 0 to {COUNTER - 1:,} mm")
    return values


def _difference(now: int, before: int) -> int:
    """The change of a counter that wraps around at `COUNTER`."""
    return (now - before + COUNTER // 2) % COUNTER - COUNTER // 2


def _drive(pose: Pose, distance: float, turned: float) -> Pose:
    """The pose after a circular arc; the chord points along the yaw at mid-arc."""
    chord = distance * (math.sin(turned / 2) / (turned / 2) if turned else 1.0)
    middle = pose.yaw + turned / 2
    return Pose(pose.x + chord * math.cos(middle), pose.y + chord * math.sin(middle), wrap(pose.yaw + turned))
