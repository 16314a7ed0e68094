"""Logs of CARMEN, the toolkit that most public laser logs were written with: FLASER, ROBOTLASER1 and ODOM lines.

A line is a message: its name, its values, the time it was sent, the host, and the time it was logged. Other messages
are left out, and counted.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from sandlot.errors import quote
from sandlot.geometry.planar import between, compose
from sandlot.recordings.logs.source import Source, count, numbers
from sandlot.recordings.scans import MAX_ANGLE, MAX_BEAMS, Pose, Scan, no_returns
from sandlot.typing import Array

MAX_RANGE = 80.0
"""Of a FLASER line, which does not state it [m]: a SICK LMS writes 81.83 and the like without a return."""
LASERS = ("FLASER", "ROBOTLASER1")
OFFSET = "robot_frontlaser_offset"
MAX_KINDS = 64
"""Of messages in a log; more means damage."""


def read_carmen(source: Source) -> Iterator[Scan]:
    """Read the scans of a CARMEN log.

    FLASER holds the (possibly corrected) pose of the laser, and the pose of the robot by odometry; the laser's offset
    on the robot is subtracted from the first, and kept in the settings. In ROBOTLASER1 both are the robot's pose.
    Speeds are those of the last ODOM line, else those in ROBOTLASER1. Times count from the first scan. If there are
    FLASER and ROBOTLASER1 lines, only the kind that comes first is read: many programs write both for the same scan.

    Yields:
        One scan for each FLASER or ROBOTLASER1 line.

    Raises:
        DamagedError: A line is malformed.
    """
    left_out: Counter[str] = Counter()
    speeds: tuple[float, float] | None = None
    offset = 0.0
    laser = ""
    start: float | None = None
    for number, line in source.lines():
        words = split(line)
        name = words[0]
        try:
            if name.startswith("#"):
                continue
            if name == "PARAM":
                if len(words) > 2 and words[1] == OFFSET:
                    (offset,) = numbers(words[2:3])
            elif name == "ODOM":
                speeds = _parse_odom(words)
            elif name in LASERS and laser in ("", name):
                scan = _parse_flaser(words, offset) if name == "FLASER" else parse_robotlaser(words)
                laser = name
            else:
                _leave_out(name, left_out)
        except ValueError as error:
            raise source.damaged(number, f"not a valid {name[:20]!r} line of a CARMEN log: {quote(error)}") from error
        if name == laser:
            if start is None:
                start = scan.time
                source.settings["start"] = start
                source.settings["laser_position"] = [offset, 0.0] if name == "FLASER" else list(laser_mount(words)[:2])
            speed, turn_rate = speeds or (scan.speed, scan.turn_rate)
            yield Scan(scan.time - start, scan.ranges, scan.bearings, scan.pose, scan.odometry, speed, turn_rate)
    if left_out:
        names = ", ".join(f"{name} ({many:,})" for name, many in left_out.most_common(5))
        source.note(f"lines left out: {names}{', and others' if len(left_out) > 5 else ''}")


def split(line: str) -> list[str]:
    """The words of a line; of a scan, not many more than its count of readings needs."""
    name, *_ = words = line.split(None, 12)
    place = {"FLASER": 1, "ROBOTLASER1": 8}.get(name, len(words))
    if place >= len(words) or not words[place].isdecimal() or len(words[place]) > 6:
        return words
    return line.split(None, 2 * int(words[place]) + 25 if place == 8 else int(words[place]) + 12)


def _parse_odom(words: Sequence[str]) -> tuple[float, float]:
    """Speed [m/s] and turn rate [rad/s] of an ODOM line."""
    if len(words) < 10:
        raise ValueError(f"{len(words)} words, at least 10 are needed")
    speed, turn_rate = numbers(words[1:7])[3:5]
    return speed, turn_rate


def _parse_flaser(words: Sequence[str], offset: float) -> Scan:
    """A scan of the front laser, whose field of view is half a turn.

    Args:
        words: The line: count, ranges, pose of the laser, pose of the robot by odometry, and times.
        offset: Distance of the laser ahead of the robot's centre [m].
    """
    beams = _beams(words, 1)
    if len(words) != 11 + beams:
        raise ValueError(f"it says {beams:,} readings but has {len(words):,} words, not {11 + beams:,}")
    values = numbers(words[2 : 9 + beams])
    laser, robot = Pose(*values[beams : beams + 3]), Pose(*values[beams + 3 : beams + 6])
    # An even number of beams leaves out the last direction: 180 of them are one degree apart.
    step = math.pi / (beams if beams % 2 == 0 else max(beams - 1, 1))
    bearings = -math.pi / 2 + step * np.arange(beams, dtype=np.float64)
    pose = Pose(*compose(laser, (-offset, 0.0, 0.0)).tolist()) if offset else laser
    return Scan(values[-1], no_returns(np.array(values[:beams]), 0.0, MAX_RANGE), bearings, pose, robot)


def parse_robotlaser(words: Sequence[str]) -> Scan:
    """A scan of a ROBOTLASER1 line, which states the laser's first angle, step and maximum range.

    If both speeds are zero, they may not have been filled in, and are taken as unknown.
    """
    beams, tail = _parts(words)
    start, _, step, max_range = numbers(words[2:6])
    if abs(start) > MAX_ANGLE or abs(step) > MAX_ANGLE:
        raise ValueError(f"impossible angles: the first is {start:g} rad, the step {step:g} rad")
    ranges = np.array(numbers(words[9 : 9 + beams]))
    values = numbers(words[tail : tail + 12])
    laser, robot = Pose(*values[:3]), Pose(*values[3:6])
    bearings: Array = start + step * np.arange(beams, dtype=np.float64) + float(between(robot, laser)[2])
    speed, turn_rate = values[6:8] if any(values[6:8]) else (math.nan, math.nan)
    seen = no_returns(ranges, 0.0, max_range if max_range > 0.0 else math.inf)
    return Scan(values[11], seen, bearings, robot, robot, speed, turn_rate)


def laser_mount(words: Sequence[str]) -> Pose:
    """Pose of the laser of a ROBOTLASER1 line on the robot."""
    _, tail = _parts(words)
    values = numbers(words[tail : tail + 6])
    x, y, yaw = between(values[3:6], values[:3]).tolist()
    return Pose(round(x, 6) + 0.0, round(y, 6) + 0.0, yaw)


def _parts(words: Sequence[str]) -> tuple[int, int]:
    """Number of beams of a ROBOTLASER1 line, and index of the first word after all ranges and remissions."""
    beams = _beams(words, 8)
    remissions = count(words[9 + beams], beams)
    tail = 10 + beams + remissions
    if len(words) != tail + 14:
        raise ValueError(f"it says {beams:,} readings and {remissions:,} remissions but has {len(words):,} words")
    return beams, tail


def _beams(words: Sequence[str], place: int) -> int:
    """The count at ``place``, if more words than that follow."""
    if len(words) <= place:
        raise ValueError("it ends before its number of readings")
    beams = count(words[place], MAX_BEAMS)
    if beams == 0:
        raise ValueError("it has no readings")
    if len(words) < place + 2 + beams:
        raise ValueError(f"it says {beams:,} readings but has only {len(words)} words")
    return beams


def _leave_out(name: str, left_out: Counter[str]) -> None:
    if not re.fullmatch("[A-Z][A-Z0-9_]{0,39}", name) or (len(left_out) >= MAX_KINDS and name not in left_out):
        raise ValueError("CARMEN has no message of that name")
    left_out[name] += 1
