"""Trajectories: poses over time, in TUM files, and compared with measured relations between poses."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from sandlot.errors import MapError
from sandlot.geometry.planar import between, interpolate
from sandlot.typing import Array
from sandlot.writing import drafted


class Trajectory(NamedTuple):
    """Poses over time.

    Attributes:
        times: (n,) [s].
        poses: (n, 3) x, y [m] and yaw [rad].
    """

    times: Array
    poses: Array

    def at(self, times: Array) -> Array:
        """Poses (..., 3) at these times (...), interpolated; outside, those of the first and last."""
        order = np.argsort(self.times, kind="stable")
        known, poses = self.times[order], self.poses[order]
        after = np.clip(np.searchsorted(known, times), 1, len(known) - 1)
        gap = np.maximum(known[after] - known[after - 1], 1e-9)
        share = np.clip((times - known[after - 1]) / gap, 0.0, 1.0)
        return interpolate(poses[after - 1], poses[after], share)

    def write_tum(self, path: str | Path, start: float = 0.0) -> None:
        """Write a TUM file: per line time [s], x, y, z [m] and a quaternion x, y, z, w; ``start`` is added to times."""
        x, y, yaw = self.poses.T
        rows = np.column_stack([self.times + start, x, y, 0 * x, 0 * x, 0 * x, np.sin(yaw / 2), np.cos(yaw / 2)])
        with drafted(Path(path), MapError, overwrite=True) as draft:
            np.savetxt(draft, rows, fmt=["%.6f"] + 7 * ["%.9g"])


def position_error(found: Array, reference: Array) -> float:
    """Root mean square distance of positions (n, 2 or 3) after the best rotation and shift [m]: evo's aligned APE."""
    mine, theirs = (each[:, :2] - each[:, :2].mean(axis=0) for each in (found, reference))
    left, _, right = np.linalg.svd(mine.T @ theirs)
    turn = left @ np.diag([1.0, np.sign(np.linalg.det(left @ right))]) @ right
    return float(np.sqrt(np.square(mine @ turn - theirs).sum(axis=1).mean()))


class RelationErrors(NamedTuple):
    """Errors of a trajectory at measured relations (Kuemmerle et al. 2009).

    Attributes:
        distances: (n,) of translation [m].
        turns: (n,) of rotation, absolute [rad].
    """

    distances: Array
    turns: Array


def relation_errors(trajectory: Trajectory, relations: Array) -> RelationErrors:
    """Compare a trajectory with relations, those within its times.

    Args:
        trajectory: To judge.
        relations: (n, 5) two times [s], and the pose of the second in the frame of the first: dx, dy [m], dyaw [rad].
    """
    first, last = trajectory.times.min(), trajectory.times.max()
    inside = ((relations[:, :2] >= first) & (relations[:, :2] <= last)).all(axis=1)
    known = relations[inside]
    found = between(trajectory.at(known[:, 0]), trajectory.at(known[:, 1]))
    wrong = between(known[:, 2:], found)
    return RelationErrors(np.hypot(wrong[:, 0], wrong[:, 1]), np.abs(wrong[:, 2]))
