"""Builds a map from scans, one at a time: `Mapper().add(scan)`."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sandlot.geometry.planar import between, compose
from sandlot.mapping.loops import Loops
from sandlot.mapping.matching.field import Field, add_points, make_field
from sandlot.mapping.matching.matcher import MIN_POINTS, Expected, Match, few_beams, match, refused
from sandlot.mapping.matching.points import fill, scan_points, thin
from sandlot.mapping.motion import Motion, Moved
from sandlot.mapping.submaps import HALF, Keyframe, Submap, place
from sandlot.mapping.trajectories import Trajectory
from sandlot.recordings.scans import Pose, Scan
from sandlot.typing import Array

KEYFRAME = (0.2, 0.2)
"""A scan is kept as a keyframe if the robot has moved by one of these since the last [m, rad]."""
SIZE = 40
"""Keyframes of a complete submap; the next one begins at half of them, so that two overlap."""
LEVELS = 5
"""Of the likelihoods of submaps that scans are matched with."""
KEPT = 0.02
"""Points of a keyframe that are closer than this to the one before are left out [m]."""
MAX_RANGE = 25.0
"""Longer beams are left out [m]; they leave the submap."""
MAX_REFUSED = 2
"""After more scans than this that do not match, a new submap begins."""
UNSURE = (1.0, 1.0)
"""Standard deviation of a pose that was not matched [m, rad]."""


class Estimate(NamedTuple):
    """Where the robot is.

    Attributes:
        pose: In the world. The first scan is at its origin.
        information: (3, 3) of the match, in the frame of a submap; zero if there was none [1/m2, 1/rad2].
        reason: Why the scan was refused, and the pose predicted; empty if it was matched.
    """

    pose: Pose
    information: Array
    reason: str


class Mapper:
    """Knows where a robot with a laser is, and builds a map.

    Each scan is matched with a submap, a local map of the last stretch. A complete submap is compared with earlier
    ones; where they overlap, a loop is closed, and the poses of all submaps are corrected.

    Args:
        odometry: Whether to use the odometry and the inertial yaw of the scans, where they have any.
        mount: Position of the laser on the robot [m].

    Attributes:
        submaps: In order.
        keyframes: In order.
        loops: That were closed.
        refused: Time of each scan that was refused [s], and why.
        restarts: How often a new submap began because scans no longer matched.
        backwards: How often a scan was older than the one before.
    """

    def __init__(self, odometry: bool = True, mount: tuple[float, float] = (0.0, 0.0)) -> None:
        self.mount = mount
        self.submaps: list[Submap] = []
        self.keyframes: list[Keyframe] = []
        self.loops = Loops()
        self.refused: list[tuple[float, str]] = []
        self.restarts = self.backwards = 0
        self._motion = Motion(odometry)
        self._active: list[tuple[int, Field]] = []
        self._local = np.zeros(3)
        self._since = np.zeros(3)
        self._driven = 0.0
        self._lost = 0
        self._times: list[float] = []
        self._tracked: list[tuple[int, Array]] = []

    def add(self, scan: Scan, yaw: float = math.nan) -> Estimate:
        """Add a scan, and return where it was made.

        Args:
            scan: The next scan.
            yaw: Of an inertial unit at the time of the scan; NaN for the one that the scan has, if any [rad].
        """
        moved = self._motion.predict(scan, yaw)
        points = scan_points(scan, self.mount, moved.velocity, MAX_RANGE)
        self.backwards += bool(self._times and scan.time < self._times[-1])
        found = self._match(points, moved)
        if found.reason:
            self.refused.append((scan.time, found.reason))
        step = between(self._local, found.pose)
        self._motion.update(scan, yaw, step)
        self._driven += math.hypot(step[0], step[1])
        self._local, self._since = found.pose, compose(self._since, step)
        self._keep(points, found)
        self._times.append(scan.time)
        self._tracked.append((self._active[0][0] if self._active else 0, self._local))
        return Estimate(Pose(*self.pose.tolist()), found.information, found.reason)

    @property
    def pose(self) -> Array:
        """Best estimate of the current pose: (3,) in the world [m, rad]."""
        return compose(self.submaps[self._active[0][0]].pose, self._local) if self._active else np.zeros(3)

    def finish(self) -> None:
        """Close the loops of the last submaps, which are not complete yet.

        More scans may follow. A second call without new keyframes changes nothing.
        """
        for index, _ in self._active:
            self.loops.close(self.submaps, index)

    def trajectory(self) -> Trajectory:
        """The poses of all scans, as they are known now."""
        if not self._tracked:
            return Trajectory(np.zeros(0), np.zeros((0, 3)))
        anchors = np.array([each.pose for each in self.submaps] or [np.zeros(3)])
        which, local = zip(*self._tracked, strict=True)
        return Trajectory(np.array(self._times), compose(anchors[list(which)], np.array(local)))

    def _match(self, points: Array, moved: Moved) -> Match:
        guess = compose(self._local, moved.pose)
        if not self._active:
            return refused(np.zeros(3), few_beams(points) if len(points) < MIN_POINTS else "")
        found = match(self._active[0][1], points, Expected(guess, moved.distance, moved.turn))
        if found.reason:
            # Without odometry, the robot may have done anything: that it stopped is the safest guess.
            return found._replace(pose=guess if moved.measured else self._local, information=np.zeros((3, 3)))
        return found

    def _keep(self, points: Array, found: Match) -> None:
        """Keep a scan as a keyframe if the robot has moved far enough."""
        self._lost = self._lost + 1 if found.reason else 0
        if not self._active:
            if not found.reason:
                self._add_keyframe(points, found, begin=True)
        elif self._lost > MAX_REFUSED and len(points) >= MIN_POINTS:
            self.restarts += 1
            self._lost = 0
            self._add_keyframe(points, found, begin=True)
        elif not found.reason and (math.hypot(*self._since[:2]) > KEYFRAME[0] or abs(self._since[2]) > KEYFRAME[1]):
            self._add_keyframe(points, found)

    def _add_keyframe(self, points: Array, found: Match, begin: bool = False) -> None:
        """Put a keyframe into the active submaps; or ``begin`` a new one and end all others."""
        if begin:
            self.finish()
        pose, current = self.pose, self._active[0][0] if self._active else 0
        keyframe = Keyframe(
            fill(thin(points, KEPT)), current, self._local, _information(found), not found.reason, self._driven
        )
        full = bool(self._active) and len(self.submaps[current].keyframes) >= SIZE // 2
        if begin or (full and len(self._active) == 1):
            self.submaps.append(Submap(pose, keyframe))
            fresh = len(self.submaps) - 1, make_field(HALF, LEVELS)
            self._active = [fresh] if begin else [*self._active, fresh]
        if begin:
            self._local = np.zeros(3)
            keyframe = replace(keyframe, submap=self._active[0][0], local=self._local)
        self.keyframes.append(keyframe)
        for index, field in self._active:
            local = self._local if index == self._active[0][0] else between(self.submaps[index].pose, pose)
            self.submaps[index].add(keyframe, local)
            add_points(field, place(keyframe.points, local))
        self._since = np.zeros(3)
        if len(self.submaps[self._active[0][0]].keyframes) >= SIZE:
            complete, _ = self._active.pop(0)
            self._local = self.submaps[self._active[0][0]].locals[-1]
            self.loops.close(self.submaps, complete)


def _information(found: Match) -> Array:
    """Of a match; next to nothing if there was none, whatever odometry says: the robot may have been carried."""
    return np.diag(np.power((UNSURE[0], UNSURE[0], UNSURE[1]), -2.0)) if found.reason else found.information
