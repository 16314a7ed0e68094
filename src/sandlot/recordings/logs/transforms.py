"""Where the frames of a ROS robot are: a tree of poses in space, of which a recording needs the plane."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.recordings.logs.scans import Pose

MOST_FRAMES = 1000
DEEPEST = 64


def matrix(translation: Any, rotation: Any) -> NDArray[np.float64]:
    """A (4, 4) transform from a translation [m] and a quaternion of ROS.

    Raises:
        ValueError: They are not finite, or the quaternion is zero.
    """
    x, y, z, w = rotation.x, rotation.y, rotation.z, rotation.w
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if not (length > 1e-6 and math.isfinite(length + translation.x + translation.y + translation.z)):
        raise ValueError("a pose is not finite, or its quaternion is zero")
    x, y, z, w = x / length, y / length, z / length, w / length
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), translation.x],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), translation.y],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), translation.z],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def flat(transform: NDArray[np.float64]) -> Pose:
    """What a transform is in the plane."""
    heading = math.atan2(transform[1, 0], transform[0, 0])
    return Pose(float(transform[0, 3]), float(transform[1, 3]), heading)


class Frames:
    """The last known transform of every frame to its parent."""

    def __init__(self) -> None:
        self._parents: dict[str, tuple[str, NDArray[np.float64]]] = {}

    def put(self, parent: str, child: str, transform: NDArray[np.float64]) -> None:
        """Take note of where a frame is.

        Raises:
            ValueError: There are too many.
        """
        if len(self._parents) >= MOST_FRAMES and child not in self._parents:
            raise ValueError(f"more than {MOST_FRAMES:,} frames")
        self._parents[child] = (parent, transform)

    def seen_from(self, base: str, frame: str) -> NDArray[np.float64] | None:
        """Where ``frame`` is, as seen from ``base`` above it; None if nobody has said."""
        found = np.eye(4)
        for _ in range(DEEPEST):
            if frame == base:
                return found
            if frame not in self._parents:
                return None
            frame, transform = self._parents[frame]
            found = transform @ found
        return None


def directions(mount: NDArray[np.float64], angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Directions on the robot of beams at ``angles`` of a laser that is mounted so; also if it is upside down [rad]."""
    ahead = np.stack([np.cos(angles), np.sin(angles)])
    x, y = mount[:2, :2] @ ahead
    turned = np.unwrap(np.arctan2(y, x))
    # By whole turns back to where the laser itself counts from.
    straight = angles[0] + math.atan2(mount[1, 0], mount[0, 0])
    return np.asarray(turned + 2 * np.pi * np.round((straight - turned[0]) / (2 * np.pi)))
