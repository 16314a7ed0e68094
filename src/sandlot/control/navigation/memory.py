"""What a robot remembers of its scans: enough of all to build its map again, and what it has just seen near itself."""

import math
from collections import deque
from dataclasses import replace

import numpy as np
from scipy.spatial import KDTree

from sandlot.geometry.planar import between, rotate, wrap
from sandlot.mapping.grids.cell_map import CellMap
from sandlot.mapping.trajectories import Trajectory
from sandlot.recordings.scans import Pose, Scan
from sandlot.typing import Array, BoolArray

MOVED, SAME = (0.05, 0.05), 4
"""Scans are kept if the robot has moved by one of these [m, rad]; and so many of each place."""
MOST = 6000
"""Of more scans than this, every second one is forgotten."""
RECENT, NEAR = 6, 1.2
"""Points of so many scans are remembered, at most this far from the robot [m]."""
STILL, AGO = 0.05, 3
"""A point is at rest if one of so many scans ago, or more, was this near to it [m]."""
CHANGED = (0.025, 0.003)
"""A map is built again if a pose in it has changed by one of these [m, rad]."""


class Memory:
    """Scans that were added to a map, each with the pose that was used."""

    def __init__(self) -> None:
        """Remember nothing."""
        self._scans: list[Scan] = []
        self._same = 0
        self._near: deque[Array] = deque(maxlen=RECENT)
        self._known: deque[Array] = deque(maxlen=RECENT)

    def __len__(self) -> int:
        return len(self._scans)

    def add(self, scan: Scan, pose: Pose) -> None:
        """Remember a scan, unless enough were made at the same place."""
        if self._scans:
            step = between(self._scans[-1].pose, pose)
            moved = math.hypot(step[0], step[1]) > MOVED[0] or abs(step[2]) > MOVED[1]
            self._same = 0 if moved else self._same + 1
        if self._same < SAME:
            self._scans.append(replace(scan, pose=pose))
        if len(self._scans) > MOST:
            self._scans = self._scans[::2]

    def add_points(self, points: Array, strange: BoolArray, pose: Pose) -> BoolArray:
        """Remember near points of a scan, and which of them the map knows.

        Args:
            points: (n, 2) relative to the robot [m].
            strange: (n,) which of them the map does not know.
            pose: Of the robot.

        Returns:
            (n,) which of them may move: the map does not know them, and they were not there a moment ago.
        """
        near = np.hypot(points[:, 0], points[:, 1]) < NEAR
        places = rotate(points[near], pose.yaw) + pose[:2]
        moving, doubtful = strange.copy(), strange[near]
        before = list(self._near)[: max(len(self._near) + 1 - AGO, 0)]
        if doubtful.any() and any(len(each) for each in before):
            away, _ = KDTree(np.concatenate(before)).query(places[doubtful], distance_upper_bound=STILL)
            moving[np.flatnonzero(near)[doubtful]] = ~np.isfinite(away)
        self._near.append(places)
        self._known.append(places[~doubtful])
        return moving

    def points(self, pose: Pose) -> Array:
        """The points of earlier scans that the map knew, relative to the robot at a pose: (n, 2) [m]."""
        places = np.concatenate(self._known) if self._known else np.empty((0, 2))
        return rotate(places - pose[:2], -pose.yaw)

    def correct(self, cells: CellMap, trajectory: Trajectory, always: bool = False) -> tuple[Array, Array] | None:
        """Build a map again from all scans, if their poses have changed.

        Args:
            cells: The map.
            trajectory: The poses of all scans, as they are known now.
            always: Also if they have hardly changed.

        Returns:
            (n, 3) poses before and after; None if they have hardly changed, and the map is left alone.
        """
        if not self._scans:
            return None
        before = np.array([scan.pose for scan in self._scans])
        after = trajectory.at(np.array([scan.time for scan in self._scans]))
        shift, turn = np.hypot(*(after - before)[:, :2].T), np.abs(wrap(after[:, 2] - before[:, 2]))
        if not always and shift.max() < CHANGED[0] and turn.max() < CHANGED[1]:
            return None
        self._near.clear()
        self._known.clear()
        cells.clear()
        self._scans = [replace(scan, pose=Pose(*pose)) for scan, pose in zip(self._scans, after.tolist(), strict=True)]
        for scan in self._scans:
            cells.update(scan)
        return before, after
