"""Keyframes, and submaps: local maps of a stretch of the path."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sandlot.geometry.planar import rotate
from sandlot.mapping.matching.field import Field, add_points, make_field
from sandlot.typing import Array

HALF = 20.0
"""Half the width of a submap [m]; points further from its anchor are left out of it."""


@dataclass(frozen=True)
class Keyframe:
    """A scan that is kept.

    Attributes:
        points: (n, 2) in the robot's frame [m].
        submap: Index of the submap it was matched with.
        local: (3,) pose in that submap [m, rad].
        information: (3, 3) of that match; next to none if there was none [1/m2, 1/rad2].
        matched: Whether there was a match.
        driven: Path length up to it [m].
    """

    points: Array
    submap: int
    local: Array
    information: Array
    matched: bool
    driven: float


class Submap:
    """A local map. Its frame is the robot's at its first keyframe, the anchor.

    Attributes:
        pose: (3,) of the anchor in the world [m, rad].
        anchor: The first keyframe.
        keyframes: All of them.
        locals: Their poses in the submap, each (3,) [m, rad].
    """

    def __init__(self, pose: Array, anchor: Keyframe) -> None:
        self.pose, self.anchor = np.array(pose, np.float64), anchor
        self.keyframes: list[Keyframe] = []
        self.locals: list[Array] = []

    def add(self, keyframe: Keyframe, local: Array) -> None:
        """Add a keyframe with its pose (3,) in the submap [m, rad]."""
        self.keyframes.append(keyframe)
        self.locals.append(np.array(local, np.float64))

    def points(self, first: int = 0, last: int | None = None) -> Array:
        """Points of these keyframes in the submap: (n, 2) [m]."""
        part = slice(first, last)
        return np.concatenate(
            [place(k.points, p) for k, p in zip(self.keyframes[part], self.locals[part], strict=True)]
        )

    def build(self, levels: int) -> Field:
        """A field of all keyframes."""
        field = make_field(HALF, levels)
        add_points(field, self.points())
        return field


def place(points: Array, pose: Array | Sequence[float]) -> Array:
    """Points (n, 2) in the frame that the pose (3,) of their own frame is given in [m]."""
    return rotate(points, pose[2]) + np.asarray(pose[:2])
