"""Where odometry says a robot was at any time: between the messages before and after, and what is wrong with these."""

import math
from collections import deque
from itertools import pairwise
from statistics import median_low
from typing import NamedTuple

from sandlot.recordings.logs.scans import GAP, GAP_INTERVALS, NOWHERE, Pose, wrap


class Moment(NamedTuple):
    """When [ns], where, and how fast [m/s, rad/s]."""

    time: int
    pose: Pose
    speed: float = math.nan
    turn: float = math.nan


class Odometry:
    """The last messages of odometry.

    Args:
        kept: How many.
    """

    def __init__(self, kept: int) -> None:
        self._moments: deque[Moment] = deque(maxlen=kept)
        self._asked = 0
        self._stale = self._paused = self._early = 0  # scans since odometry stopped, in all pauses, and before it began
        self._longest = self._late = 0.0

    def __len__(self) -> int:
        return len(self._moments)

    def clear(self) -> None:
        """Forget all messages: there will be better ones."""
        self._moments.clear()
        self._stale = 0

    def put(self, moment: Moment) -> None:
        """One more message."""
        if self._stale:
            self._pause(self._stale, moment.time - self._moments[-1].time)
            self._stale = 0
        self._moments.append(moment)

    def covers(self, time: int) -> bool:
        """Whether there is a message of that time [ns] or later."""
        return bool(self._moments) and self._moments[-1].time >= time

    def at(self, time: int) -> Moment:
        """Where the robot was, between the message before and the one after."""
        self._asked = max(self._asked, time)
        before = after = None
        for each in reversed(self._moments):
            if each.time <= time:
                before = each
                break
            after = each
        if before is None or after is None:
            self._stale += before is not None and self._is_gap(time - before.time)
            if after is not None and self._is_gap(after.time - time):
                self._early, self._late = self._early + 1, max(self._late, (after.time - time) / 1e9)
            return before or after or Moment(time, NOWHERE)
        if self._is_gap(after.time - before.time):
            self._pause(1, after.time - before.time)
        share = (time - before.time) / (after.time - before.time)
        a, b = before.pose, after.pose
        heading = wrap(a.heading + share * wrap(b.heading - a.heading))
        pose = Pose(a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), heading)
        speed, turn = (
            before.speed + share * (after.speed - before.speed),
            before.turn + share * (after.turn - before.turn),
        )
        return Moment(time, pose, speed, turn)

    def notes(self) -> list[str]:
        """What the user should know: scans went on while odometry paused, or when it had ended."""
        found = []
        if self._early:
            scans = f"{self._early:,} scans before it have its first pose"
            found.append(f"odometry begins {self._late:,.1f} s after the first scan; {scans}")
        if self._paused:
            scans = f"the poses of {self._paused:,} scans meanwhile are guessed from those before and after"
            found.append(f"odometry pauses for up to {self._longest:,.1f} s; {scans}")
        late = self._asked - self._moments[-1].time if self._moments else 0
        if self._is_gap(late):
            found.append(f"odometry ends {late / 1e9:,.1f} s before the last scan; scans after it keep its last pose")
        return found

    def _pause(self, scans: int, time: int) -> None:
        self._paused, self._longest = self._paused + scans, max(self._longest, time / 1e9)

    def _is_gap(self, time: int) -> bool:
        """Whether it is longer than is usual between messages [ns], as it would be between scans."""
        if time / 1e9 <= GAP:
            return False
        intervals = [after.time - before.time for before, after in pairwise(self._moments)]
        return time > GAP_INTERVALS * (median_low(intervals) if intervals else 0)
