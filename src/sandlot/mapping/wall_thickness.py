"""How thick the walls of a map are: a measure of its quality that needs no ground truth."""

import math
from collections.abc import Sequence

import numpy as np

from sandlot.kernels import kernel
from sandlot.mapping.matching.field import Field, add_points, make_field
from sandlot.mapping.matching.refine import surface
from sandlot.mapping.submaps import place
from sandlot.typing import Array

MIN_POINTS = 10.0
"""Points of the map near a point whose wall is measured."""


def wall_thickness(points: Sequence[Array], poses: Array) -> float:
    """Mean standard deviation of points across the local walls of a map [m].

    Walls that were seen from several places and drawn beside each other, up to 30 cm apart, count as one thick wall.

    Args:
        points: Of each scan in the robot's frame, (n, 2) [m].
        poses: (scans, 3) [m, rad].
    """
    placed = np.concatenate([place(each, pose) for each, pose in zip(points, poses, strict=True)])
    low, high = np.percentile(placed, (0.5, 99.5), axis=0)
    placed -= 0.5 * (low + high)
    field = make_field(0.5 * float((high - low).max()) + 1.0, 1)
    add_points(field, placed)
    return float(mean_deviation(field, placed))


@kernel(error_model="numpy", allocates=False)
def mean_deviation(field: Field, points: Array) -> float:
    """Mean of the standard deviation along the normal at points (n, 2) [m]."""
    total, many = 0.0, 0
    for k in range(points.shape[0]):
        count, _, _, _, _, _, variance = surface(field, points[k, 0], points[k, 1], 0.0)
        if count >= MIN_POINTS:
            total += math.sqrt(variance)
            many += 1
    return total / max(many, 1)
