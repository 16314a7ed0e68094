"""Transforms between the frames of a ROS robot: a tree of poses in space, of which a recording needs the plane."""

import math
from typing import Any

import numpy as np

from sandlot.recordings.scans import Pose
from sandlot.typing import Array

MAX_FRAMES = 1000
MAX_DEPTH = 64


def rotation_matrix(rotation: Any) -> Array:
    """A (3, 3) rotation from a quaternion of ROS.

    Raises:
        ValueError: It is zero or not finite.
    """
    x, y, z, w = rotation.x, rotation.y, rotation.z, rotation.w
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if not 1e-6 < length < math.inf:
        raise ValueError("a quaternion is zero or not finite")
    x, y, z, w = x / length, y / length, z / length, w / length
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def matrix(translation: Any, rotation: Any) -> Array:
    """A (4, 4) transform from a translation [m] and a quaternion of ROS.

    Raises:
        ValueError: They are not finite, or the quaternion is zero.
    """
    if not math.isfinite(translation.x + translation.y + translation.z):
        raise ValueError("a translation is not finite")
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = rotation_matrix(rotation), (translation.x, translation.y, translation.z)
    return found


def project(transform: Array) -> Pose:
    """A transform in space projected onto the plane."""
    return Pose(
        float(transform[0, 3]), float(transform[1, 3]), math.atan2(float(transform[1, 0]), float(transform[0, 0]))
    )


class FrameTree:
    """The earliest known transform of every frame to its parent."""

    def __init__(self) -> None:
        self._parents: dict[str, tuple[int, str, Array]] = {}

    def put(self, time: int, parent: str, child: str, transform: Array) -> None:
        """Keep a transform, if it is the first of its frame by time.

        Raises:
            ValueError: There are too many frames.
        """
        if len(self._parents) >= MAX_FRAMES and child not in self._parents:
            raise ValueError(f"more than {MAX_FRAMES:,} frames")
        if child not in self._parents or time < self._parents[child][0]:
            self._parents[child] = (time, parent, transform)

    def lookup(self, base: str, frame: str) -> Array | None:
        """Transform (4, 4) of ``frame`` relative to its ancestor ``base``; None if the tree does not have it."""
        found = np.eye(4)
        for _ in range(MAX_DEPTH):
            if frame == base:
                return found
            if frame not in self._parents:
                return None
            _, frame, transform = self._parents[frame]
            found = transform @ found
        return None


def directions(mount: Array, angles: Array) -> Array:
    """Bearings on the robot of beams at ``angles`` of a laser that is mounted so, also upside down [rad]."""
    ahead = np.stack([np.cos(angles), np.sin(angles)])
    x, y = mount[:2, :2] @ ahead
    turned = np.unwrap(np.arctan2(y, x))
    # Whole turns are chosen so that the first bearing is near the laser's own first angle plus its yaw.
    straight = angles[0] + math.atan2(mount[1, 0], mount[0, 0])
    return np.asarray(turned + 2 * np.pi * np.round((straight - turned[0]) / (2 * np.pi)))
