"""Ground with an obstacle, as outlines in the vertical plane along which a robot drives.

Obstacles are straight and wider than the robot, so a course is a drawing in x and z. The robot starts at x = 0 and the
obstacle begins `Course.near`. Boxes and stairs have the parameters of the source's figures 30 and 33 (Vincent 2008).
`sandlot.places.course_kinds` lists the kinds with their settings.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from sandlot.errors import PlaceError
from sandlot.typing import Array

FAR = 100.0
"""The level ground before and behind the obstacle ends this far from the start [m]."""
DEPTH = 1.0
"""Solids reach this far below the lowest ground [m]."""
ROUNDING = 1e-9
"""Points closer to each other than this are one [m]."""


@dataclass(frozen=True, eq=False)
class Course:
    """A ground with an obstacle.

    Attributes:
        profile: (n, 2) x and z of the ground's surface from `FAR` behind the start to `FAR` before it [m]; x never
            decreases.
        slabs: (corners, 2) convex outlines of solids that hang above the profile, clockwise [m]: treads without risers.
        near: x at which the obstacle begins [m].
        end: x at which it ends [m].
    """

    profile: Array
    slabs: tuple[Array, ...]
    near: float
    end: float

    def height(self, x: float) -> float:
        """The highest surface at x [m]."""
        if x < self.near:  # where robots start
            return float(self.profile[0, 1])
        (found,) = self.heights(np.array([x]))
        return float(found)

    def heights(self, x: Array) -> Array:
        """The highest surface at each x (n,) [m]; at a vertical face its upper edge."""
        found = np.maximum(_lookup(self.profile, x, "left"), _lookup(self.profile, x, "right"))
        for slab in self.slabs:
            low, high = slab[:, 0].min(), slab[:, 0].max()
            over = (x >= low) & (x <= high)
            found[over] = np.maximum(found[over], _top(slab, x[over]))
        return found

    def solids(self) -> list[Array]:
        """Convex solids that fill the ground: (corners, 2) each, clockwise [m]."""
        bottom = float(self.profile[:, 1].min()) - DEPTH
        columns = []
        for (x, z), (x_next, z_next) in pairwise(self.profile):
            if x_next > x:
                columns.append(np.array([[x, bottom], [x, z], [x_next, z_next], [x_next, bottom]]))
        return [*columns, *self.slabs]

    def outlines(self) -> list[Array]:
        """Lines of the surface with the solid to their right: the profile, and each slab as a closed line."""
        return [self.profile, *(np.concatenate([slab, slab[:1]]) for slab in self.slabs)]


def make_course(points: Iterable[tuple[float, float]], near: float, end: float, slabs: Iterable[Array] = ()) -> Course:
    """Make a course from the corners of its obstacle, between two level grounds.

    Args:
        points: x and z of the surface from ``near`` to ``end`` [m]. The ground before it is as high as the first point,
            that behind it as high as the last.
        near: x at which the obstacle begins [m].
        end: x at which it ends [m].
        slabs: Solids above this profile, as of `Course`.

    Raises:
        PlaceError: If the points do not lead forward.
    """
    inner = np.reshape(np.array(list(points), np.float64), (-1, 2))
    line = np.concatenate([[[-FAR, inner[0, 1]]], inner, [[FAR, inner[-1, 1]]]])
    if (np.diff(line[:, 0]) < -ROUNDING).any():
        raise PlaceError("the points of a course must lead forward: x may not decrease")
    line[:, 0] = np.maximum.accumulate(line[:, 0])
    return Course(_without_repeats(line), tuple(slabs), near, end)


def _without_repeats(line: Array) -> Array:
    """Leave out points that are no corners."""
    kept = [line[0]]
    for point, after in pairwise(line[1:]):
        one, other = point - kept[-1], after - point
        if np.hypot(*one) > ROUNDING and abs(one[0] * other[1] - one[1] * other[0]) > 1e-12:
            kept.append(point)
    return np.array([*kept, line[-1]])


def _lookup(profile: Array, x: Array, side: Literal["left", "right"]) -> Array:
    """Heights at x; at a vertical face the end on one ``side``."""
    k = np.clip(np.searchsorted(profile[:, 0], x, side=side), 1, len(profile) - 1)
    (x0, z0), (x1, z1) = profile[k - 1].T, profile[k].T
    run = np.where(x1 > x0, x1 - x0, 1.0)
    share = np.where(x1 > x0, np.clip((x - x0) / run, 0.0, 1.0), 0.0)
    return z0 + share * (z1 - z0)


def _top(slab: Array, x: Array) -> Array:
    """The upper side of a convex solid at each x."""
    found = np.full(len(x), -np.inf)
    for (x0, z0), (x1, z1) in zip(slab, np.roll(slab, -1, axis=0), strict=True):
        low, high = min(x0, x1), max(x0, x1)
        inside = (x >= low) & (x <= high)
        share = (x[inside] - x0) / (x1 - x0) if x1 != x0 else np.zeros(inside.sum())
        z = z0 + share * (z1 - z0) if x1 != x0 else np.full(inside.sum(), max(z0, z1))
        found[inside] = np.maximum(found[inside], z)
    return found
