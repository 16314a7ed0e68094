"""A trajectory by odometry: poses over time, interpolated between the messages before and after."""

import math
from array import array
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.geometry.planar import interpolate
from sandlot.recordings.logs.findings import GAP_INTERVALS, MIN_GAP
from sandlot.recordings.scans import UNKNOWN_POSE, Pose
from sandlot.typing import Array

MAX_POSES = 2**19
"""Maximum number of poses in memory, 87 minutes at 100 Hz. Of a longer one, every second, fourth, ... is kept."""
LAST_TIME = 2**62
"""Times beyond are impossible [ns]."""


class Moment(NamedTuple):
    """Pose, forward speed [m/s] and turn rate [rad/s] at one time."""

    pose: Pose
    speed: float = math.nan
    turn_rate: float = math.nan


class Trajectory:
    """Poses, added in any order of time; the number that is kept is bounded."""

    def __init__(self) -> None:
        self._times, self._logged, self._values = array("q"), array("q"), array("d")
        self._every, self._given = 1, 0
        self._sorted: tuple[NDArray[np.int64], NDArray[np.int64], Array]
        self._last_asked = 0
        self._early = self._paused = 0  # scans before the first pose, and in pauses
        self._late = self._longest_pause = 0.0

    def __len__(self) -> int:
        return len(self._times)

    def put(self, time: int, logged: int, moment: Moment) -> None:
        """Add a pose.

        Args:
            time: When it was measured [ns].
            logged: When it was logged [ns].
            moment: The pose, with its speeds if they are known.

        Raises:
            ValueError: The time is impossible.
        """
        if max(abs(time), abs(logged)) > LAST_TIME:
            raise ValueError(f"its time of {time:,} ns is not possible")
        self._given += 1
        if (self._given - 1) % self._every:
            return
        self._times.append(time)
        self._logged.append(logged)
        self._values.extend((*moment.pose, moment.speed, moment.turn_rate))
        if len(self._times) == MAX_POSES:
            self._every *= 2
            self._times, self._logged = self._times[::2], self._logged[::2]
            self._values = array("d", np.array(self._values).reshape(-1, 5)[::2].ravel())

    def finish(self) -> None:
        """Sort by time; after this, poses can be asked for."""
        times, logged = (np.array(each, np.int64) for each in (self._times, self._logged))
        order = np.lexsort((logged, times))
        self._sorted = times[order], logged[order], np.array(self._values, np.float64).reshape(-1, 5)[order]
        intervals = np.diff(self._sorted[0])
        usual = int(np.sort(intervals)[(len(intervals) - 1) // 2]) if len(intervals) else 0
        self._gap = max(round(MIN_GAP * 1e9), round(GAP_INTERVALS * usual))

    def latest(self, time: int) -> Pose | None:
        """The last pose at ``time`` [ns] or before; None if there is none."""
        times, _, values = self._sorted
        place = int(np.searchsorted(times, time, side="right"))
        return Pose(*values[place - 1, :3].tolist()) if place else None

    def covers(self, time: int) -> bool:
        """Whether there are poses before and after ``time`` [ns], without a pause between them."""
        times = self._sorted[0]
        after = int(np.searchsorted(times, time))
        if after == len(times) or times[after] == time:
            return after < len(times)
        return after > 0 and int(times[after] - times[after - 1]) <= self._gap

    def at(self, time: int, logged: int) -> Moment:
        """Pose and speeds: interpolated, or the first or last if there is none before or after.

        Args:
            time: [ns].
            logged: Of several poses at the same ``time``, the last one logged until then is taken [ns].
        """
        times, logs, values = self._sorted
        self._last_asked = max(self._last_asked, time)
        if not len(times):
            return Moment(UNKNOWN_POSE)
        after = int(np.searchsorted(times, time, side="right"))
        if after == 0:
            wait = int(times[0]) - time
            if wait > self._gap:
                self._early, self._late = self._early + 1, max(self._late, wait / 1e9)
            return _moment(values[0])
        if times[after - 1] == time:
            first = int(np.searchsorted(times, time))
            return _moment(
                values[max(first, first + int(np.searchsorted(logs[first:after], logged, side="right")) - 1)]
            )
        if after == len(times):
            return _moment(values[-1])
        pause = int(times[after] - times[after - 1])
        if pause > self._gap:
            self._paused, self._longest_pause = self._paused + 1, max(self._longest_pause, pause / 1e9)
        share = (time - int(times[after - 1])) / pause
        a, b = values[after - 1], values[after]
        pose = Pose(*interpolate(a[:3], b[:3], share).tolist())
        speed, turn_rate = (a[3:] + share * (b[3:] - a[3:])).tolist()
        return Moment(pose, speed, turn_rate)

    def notes(self) -> list[str]:
        """What the user should know about the poses that were asked for."""
        found = []
        if self._every > 1:
            found.append(f"the log has {self._given:,} odometry messages; one in {self._every} is used")
        if self._early:
            scans = f"{self._early:,} scans before it have its first pose"
            found.append(f"odometry begins {self._late:,.1f} s after the first scan; {scans}")
        if self._paused:
            scans = f"the poses of {self._paused:,} scans in pauses are interpolated"
            found.append(f"odometry pauses for up to {self._longest_pause:,.1f} s; {scans}")
        late = self._last_asked - int(self._sorted[0][-1]) if len(self) else 0
        if late > self._gap:
            found.append(f"odometry ends {late / 1e9:,.1f} s before the last scan; scans after it keep its last pose")
        return found


def _moment(values: Array) -> Moment:
    x, y, yaw, speed, turn_rate = values.tolist()
    return Moment(Pose(x, y, yaw), speed, turn_rate)
