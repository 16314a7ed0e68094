"""What a scan shows: walls, and obstacles, which are clusters of the points that belong to no wall (6.6.4)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sandlot.mapping.features.clusters import connect
from sandlot.mapping.features.hough import Method, find_walls, near
from sandlot.typing import Array, BoolArray, IntArray

GAP = 0.02
"""Points within this distance of each other are of one obstacle [m]."""
MORE_THAN = 2
"""An obstacle has more points than this; fewer are noise."""
WALL, NOISE = -2, -1
"""Labels of points that are of no obstacle."""


@dataclass(frozen=True, slots=True)
class Features:
    """Walls and obstacles of a scan.

    Attributes:
        walls: (walls, 4) x, y of both ends, relative to the sensor [m].
        points: (n, 2) x, y where beams ended [m].
        labels: (n,) which obstacle each point belongs to, from 0; `WALL`, or `NOISE`.
    """

    walls: Array
    points: Array
    labels: IntArray


def find_features(
    points: ArrayLike,
    resolution: float = 0.05,
    method: Method = "probabilistic",
    gap: float = GAP,
    spacing: float = 0.0,
) -> Features:
    """Find walls and obstacles.

    Args:
        points: (n, 2) x, y where beams ended, relative to the sensor [m].
        resolution: Of the discretised scan; points this near to a wall belong to it [m].
        method: Of finding walls.
        gap: Points within this distance of each other are of one obstacle [m].
        spacing: Angle from one beam to the next [rad]. If given, far points may be as far apart as two beams are there.
    """
    places = np.asarray(points, np.float64).reshape(-1, 2)
    walls = find_walls(places, resolution, method)
    labels = np.full(len(places), NOISE)
    for wall in walls:
        labels[near(wall, places, resolution)] = WALL
    rest = labels != WALL
    labels[rest] = cluster_points(places[rest], gap, spacing)
    return Features(walls, places, labels)


def cluster_points(points: Array, gap: float = GAP, spacing: float = 0.0) -> IntArray:
    """Which obstacle each of the points (n, 2) belongs to: (n,), by DBSCAN; `NOISE` if to none."""
    labels = connect(points, np.maximum(2.0 * spacing * np.hypot(*points.T), gap))
    large: BoolArray = np.bincount(labels) > MORE_THAN
    return np.where(large, np.cumsum(large) - 1, NOISE)[labels]
