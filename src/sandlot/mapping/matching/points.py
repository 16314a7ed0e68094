"""The points that a scan measured, in the robot's frame at the time of the scan."""

import math

import numpy as np
from numpy.typing import ArrayLike

from sandlot.kernels import kernel
from sandlot.recordings.scans import Scan
from sandlot.typing import Array

FILLED, LONGEST_GAP, FLAT = 0.05, 1.5, 0.03
"""Points are put this far apart between neighbours that are at most so far apart, and that far off a line [m]."""


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


@kernel(error_model="numpy")
def fill(points: Array) -> Array:
    """Put points on walls between beams that are far apart, so that a map of few scans has walls and not rows of dots.

    Rows of dots would fit best where the dots of another scan lie on them, wherever the robot is along a corridor.
    Points are put between two neighbours if both lie on a line with their other neighbours. Points that are far from
    both neighbours are left out.

    Args:
        points: (n, 2) in the order of the beams [m].
    """
    many = points.shape[0]
    found = np.empty((many + int(many * LONGEST_GAP / FILLED), 2))
    count = 0
    before = math.inf
    for k in range(many):
        after = math.inf
        if k + 1 < many:
            after = math.hypot(points[k + 1, 0] - points[k, 0], points[k + 1, 1] - points[k, 1])
        lonely, before = min(before, after) > LONGEST_GAP, after
        if lonely:
            continue
        found[count] = points[k]
        count += 1
        if k < 1 or k > many - 3:
            continue
        dx, dy = points[k + 1, 0] - points[k, 0], points[k + 1, 1] - points[k, 1]
        if not FILLED < after <= LONGEST_GAP:
            continue
        if off_line(points, k) > FLAT or off_line(points, k + 1) > FLAT:
            continue
        pieces = int(after / FILLED) + 1
        for piece in range(1, pieces):
            found[count, 0], found[count, 1] = points[k, 0] + dx * piece / pieces, points[k, 1] + dy * piece / pieces
            count += 1
    return found[:count].copy()


@kernel(error_model="numpy", allocates=False)
def off_line(points: Array, k: int) -> float:
    """Distance of a point from the segment between its neighbours [m]; infinite if it does not lie between them."""
    ax, ay = points[k - 1, 0], points[k - 1, 1]
    dx, dy = points[k + 1, 0] - ax, points[k + 1, 1] - ay
    px, py = points[k, 0] - ax, points[k, 1] - ay
    square = dx * dx + dy * dy
    along = px * dx + py * dy
    if not 0.0 < along < square:
        return math.inf
    return abs(px * dy - py * dx) / math.sqrt(square)


def sample(points: Array, distance: float) -> Array:
    """One of the points (n, 2) in each square of this width [m]: the first."""
    cells = np.floor(points / distance).astype(np.int64)
    _, first = np.unique(cells, axis=0, return_index=True)
    return points[np.sort(first)]
