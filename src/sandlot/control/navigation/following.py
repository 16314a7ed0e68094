"""Follows a path over a map: what of it is ahead, which point to drive to, and whether a wall has appeared on it."""

import math
from itertools import pairwise

import numpy as np

from sandlot.control.navigation.local import Local
from sandlot.typing import Array


def is_crossed(path: Array, local: Local) -> bool:
    """Whether a path (n, 2) [m] crosses a blocked cell."""
    return not all(local.is_open(start, end) for start, end in pairwise(path))


def ahead_of(path: Array, place: Array, near: float) -> Array:
    """What of a path (n, 2) [m] is still ahead of a robot at ``place`` (2,); points within ``near`` [m] are passed."""
    while len(path) > 2:
        step = path[1] - path[0]
        if (place - path[0]) @ step < step @ step and math.dist(place, path[1]) > near:
            break
        path = path[1:]
    return path


def pursued(path: Array, place: Array, local: Local, lookahead: float) -> Array:
    """The point of a path to drive to: (2,) [m].

    It is the furthest point within the lookahead that a straight line over free cells leads to.

    Args:
        path: (n, 2) [m], at least one point.
        place: (2,) of the robot [m].
        local: The map.
        lookahead: Along the path [m].
    """
    path = path if len(path) > 1 else np.vstack([place, path])
    step = path[1] - path[0]
    share = min(max(float((place - path[0]) @ step) / max(float(step @ step), 1e-12), 0.0), 1.0)
    lengths = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
    begin = share * lengths[1]
    along = np.arange(min(begin + lookahead, lengths[-1]), begin, -local.grid.resolution)
    points = np.column_stack([np.interp(along, lengths, path[:, k]) for k in (0, 1)])
    for point in points:
        if local.is_open(place, point):
            return point
    return points[-1] if len(points) else path[1]
