"""Logs of CARMEN, the toolkit that most public laser logs were written with: FLASER, ROBOTLASER1 and ODOM lines.

A line is a message: its name, its values, then when it was sent, by which host,
and when it was logged. Other messages are left out, and counted.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sandlot.recordings.logs.scans import MOST_ANGLE, MOST_BEAMS, Pose, Scan, no_returns, placed, relative
from sandlot.recordings.logs.source import Source, count, numbers

FARTHEST = 80.0
"""Of a FLASER line, which does not say it [m]: a SICK LMS writes 81.83 and the like when nothing came back."""

LASERS = ("FLASER", "ROBOTLASER1")
OFFSET = "robot_frontlaser_offset"
MOST_KINDS = 64
"""Of messages in a log. More are damage."""


def read_carmen(source: Source) -> Iterator[Scan]:
    """Read the scans of a CARMEN log.

    FLASER holds the pose of the laser, corrected if somebody has, and that of the robot by odometry; the laser's place
    on the robot is taken out of the first, and kept in the settings. Of ROBOTLASER1, the robot's pose is both. Speeds
    are those of the last ODOM line, or else those in ROBOTLASER1. Times count from the first scan. If there are FLASER
    and ROBOTLASER1 lines, those that come first are read; many programs write both of the same scan.

    Yields:
        One scan for each FLASER or ROBOTLASER1 line.

    Raises:
        DamagedError: A line is not what its name says.
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
                speeds = odometry(words)
            elif name in LASERS and laser in ("", name):
                scan = flaser(words, offset) if name == "FLASER" else robotlaser(words)
                laser = name
            else:
                _leave_out(name, left_out)
        except ValueError as error:
            raise source.damaged(number, f"no {name[:20]!r} line of a CARMEN log: {error}") from error
        if name == laser:
            if start is None:
                start = scan.time
                source.settings["start"] = start
                source.settings["laser_position"] = [offset, 0.0] if name == "FLASER" else list(mounting(words)[:2])
            speed, turn = speeds or (scan.speed, scan.turn)
            yield Scan(scan.time - start, scan.ranges, scan.bearings, scan.pose, scan.odometry, speed, turn)
    if left_out:
        said = ", ".join(f"{name} ({many:,})" for name, many in left_out.most_common(5))
        source.note(f"lines left out: {said}{', and others' if len(left_out) > 5 else ''}")


def split(line: str) -> list[str]:
    """The words of a line, of a scan no more than its count asks for."""
    name, *_ = words = line.split(None, 12)
    place = {"FLASER": 1, "ROBOTLASER1": 8}.get(name, len(words))
    if place >= len(words) or not words[place].isdecimal() or len(words[place]) > 6:
        return words
    return line.split(None, 2 * int(words[place]) + 25 if place == 8 else int(words[place]) + 12)


def odometry(words: Sequence[str]) -> tuple[float, float]:
    """Speed [m/s] and turn rate [rad/s] in an ODOM line."""
    if len(words) < 10:
        raise ValueError(f"{len(words)} words, at least 10 are needed")
    speed, turn = numbers(words[1:7])[3:5]
    return speed, turn


def flaser(words: Sequence[str], offset: float) -> Scan:
    """A scan of the laser in front, which sees half a turn.

    Args:
        words: The line: count, ranges, pose of the laser, pose of the robot by odometry, and when.
        offset: How far before the robot's middle the laser is [m].
    """
    beams = _beams(words, 1)
    if len(words) != 11 + beams:
        raise ValueError(f"it says {beams:,} readings but has {len(words):,} words, not {11 + beams:,}")
    values = numbers(words[2 : 9 + beams])
    laser, robot = Pose(*values[beams : beams + 3]), Pose(*values[beams + 3 : beams + 6])
    # An even number of beams leaves out the last direction: 180 of them are one degree apart.
    step = math.pi / (beams if beams % 2 == 0 else max(beams - 1, 1))
    bearings = -math.pi / 2 + step * np.arange(beams, dtype=np.float64)
    pose = placed(Pose(-offset, 0.0, 0.0), laser) if offset else laser
    return Scan(values[-1], no_returns(np.array(values[:beams]), 0.0, FARTHEST), bearings, pose, robot)


def robotlaser(words: Sequence[str]) -> Scan:
    """A scan of a laser that says how it looks around: its first direction, steps and reach.

    Speeds of zero may mean that nobody has filled them in, and are taken as unknown if both are.
    """
    beams, tail = _parts(words)
    start, _, step, farthest = numbers(words[2:6])
    if abs(start) > MOST_ANGLE or abs(step) > MOST_ANGLE:
        raise ValueError(f"it begins at {start:g} rad and goes on by {step:g} rad, which is not possible")
    ranges = np.array(numbers(words[9 : 9 + beams]))
    values = numbers(words[tail : tail + 12])
    laser, robot = Pose(*values[:3]), Pose(*values[3:6])
    mount = relative(laser, robot)
    bearings: NDArray[np.float64] = start + step * np.arange(beams, dtype=np.float64) + mount.heading
    reach = farthest if farthest > 0.0 else math.inf
    speed, turn = values[6:8] if any(values[6:8]) else (math.nan, math.nan)
    return Scan(values[11], no_returns(ranges, 0.0, reach), bearings, robot, robot, speed, turn)


def mounting(words: Sequence[str]) -> Pose:
    """Where the laser of a ROBOTLASER1 line is on the robot."""
    _, tail = _parts(words)
    values = numbers(words[tail : tail + 6])
    mount = relative(Pose(*values[:3]), Pose(*values[3:6]))
    return Pose(round(mount.x, 6) + 0.0, round(mount.y, 6) + 0.0, mount.heading)


def _parts(words: Sequence[str]) -> tuple[int, int]:
    """How many beams a ROBOTLASER1 line has, and which word is the first after all its ranges and remissions."""
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
    beams = count(words[place], MOST_BEAMS)
    if beams == 0:
        raise ValueError("it has no readings")
    if len(words) < place + 2 + beams:
        raise ValueError(f"it says {beams:,} readings but has only {len(words)} words")
    return beams


def _leave_out(name: str, left_out: Counter[str]) -> None:
    if not re.fullmatch("[A-Z][A-Z0-9_]{0,39}", name) or (len(left_out) >= MOST_KINDS and name not in left_out):
        raise ValueError("no message of CARMEN is called that")
    left_out[name] += 1
