"""The points that a scan measured, in the robot's frame at the time of the scan."""

import math

import numpy as np
from numpy.typing import ArrayLike

from sandlot.kernels import kernel
from sandlot.recordings.scans import Scan
from sandlot.typing import Array


def scan_points(
    scan: Scan,
    mount: tuple[float, float] = (0.0, 0.0),
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    max_range: float = math.inf,
) -> Array:
    """End points of the beams that returned: (n, 2) [m].

    The beams of a turning laser are measured one after the other while the robot moves. With ``ages``, each is moved to
    where it would have been measured at the time of the scan, for a robot that keeps its velocity.

    Args:
        scan: The scan.
        mount: Position of the laser on the robot [m].
        velocity: Forward, to the left [m/s], and turn rate [rad/s].
        max_range: Beams longer than this are left out [m].
    """
    seen = np.isfinite(scan.ranges) & (scan.ranges <= max_range)
    ranges, bearings = scan.ranges[seen].astype(np.float64), scan.bearings[seen]
    x, y = mount[0] + ranges * np.cos(bearings), mount[1] + ranges * np.sin(bearings)
    if scan.ages is not None:
        velocity = np.asarray(velocity, np.float64)
        back = -scan.ages[seen]
        yaw = velocity[2] * back
        # On an arc the chord is at half the turn; sinc(turn / 2) is its length over the arc's.
        chord = back * np.sinc(yaw / (2.0 * np.pi))
        c, s, ch, sh = np.cos(yaw), np.sin(yaw), np.cos(0.5 * yaw), np.sin(0.5 * yaw)
        x, y = (
            c * x - s * y + chord * (ch * velocity[0] - sh * velocity[1]),
            s * x + c * y + chord * (sh * velocity[0] + ch * velocity[1]),
        )
    return np.column_stack([x, y])


@kernel(error_model="numpy")
def thin(points: Array, distance: float) -> Array:
    """Leave out points (n, 2) that are closer than ``distance`` to the last one kept [m]."""
    kept = np.empty_like(points)
    many = 0
    for k in range(points.shape[0]):
        if many:
            dx, dy = points[k, 0] - kept[many - 1, 0], points[k, 1] - kept[many - 1, 1]
            if dx * dx + dy * dy < distance * distance:
                continue
        kept[many] = points[k]
        many += 1
    return kept[:many].copy()


def spread(points: Array, distance: float) -> Array:
    """One of the points (n, 2) in each square of this width [m]: the first."""
    cells = np.floor(points / distance).astype(np.int64)
    _, first = np.unique(cells, axis=0, return_index=True)
    return points[np.sort(first)]
