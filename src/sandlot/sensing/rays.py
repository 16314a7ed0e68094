"""Exact ray casting: distance from a sensor to the nearest wall, for a fan of evenly spaced beams.

A wall segment covers an interval of bearings, and only beams in that interval can hit it. So the cost grows with the
number of segments plus the number of covered beams, not with their product. In the sensor's frame, with the ends p and
q of a segment ordered counter-clockwise, a beam of direction d hits it where p x d >= 0 and d x q >= 0, at the distance
t = (p x q) / (d x (q - p)). The kernel keeps 1/t, which is linear in d: the inner loop has no division.
The limits of the interval come from a fast approximate arctangent. At both ends the signs above decide exactly. They
are the same for segments that share an end, so no beam slips through a corner.
"""

import math
import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.geometry.walls import Walls
from sandlot.kernels import kernel
from sandlot.typing import Array

BEARING_ERROR = 2e-5
"""Bound on the error of the approximate bearing [rad]; the interval of beams is widened by it before exact tests."""
MAX_POSES_ONE_THREAD = 64
"""Up to this many poses run in one thread."""


class Echoes(NamedTuple):
    """What the beams of n poses hit.

    Attributes:
        ranges: (..., n, beams) distance [m]; infinite without a hit.
        hits: (..., n, beams) index of the segment that was hit, or number of segments plus index of the circle; -1
            without a hit.
    """

    ranges: Array
    hits: NDArray[np.int32]


class Fan(NamedTuple):
    """Beams of a sensor.

    Attributes:
        directions: (2, beams) cosines and sines of the bearings.
        step: Angle between neighbouring beams [rad].
    """

    directions: Array
    step: float


class Segment(NamedTuple):
    """A segment in the sensor's frame, counter-clockwise from p to q; the inverse distance along a beam d is g . d.

    Attributes:
        number: Index that is stored for a hit.
        px: [m]
        py: [m]
        qx: [m]
        qy: [m]
        gx: [1/m]
        gy: [1/m]
    """

    number: int
    px: float
    py: float
    qx: float
    qy: float
    gx: float
    gy: float


def bearings(beams: int, field_of_view: float) -> Array:
    """Bearings of beams, from right to left, at the centres of equal bins of the field of view: (beams,) [rad]."""
    return (np.arange(beams, dtype=np.float64) + 0.5) * (field_of_view / beams) - 0.5 * field_of_view


@lru_cache(maxsize=16)
def _fan(beams: int, field_of_view: float) -> Fan:
    angles = bearings(beams, field_of_view)
    return Fan(np.ascontiguousarray([np.cos(angles), np.sin(angles)]), field_of_view / beams)


def cast(
    walls: Walls,
    poses: Array,
    beams: int,
    field_of_view: float,
    max_range: float = math.inf,
    threads: int | None = None,
) -> Echoes:
    """Cast a fan of beams from every pose.

    A segment that points exactly at the sensor is not hit.

    Args:
        walls: What beams hit.
        poses: (k, 3) x, y [m] and yaw [rad] of the sensor.
        beams: Number of beams.
        field_of_view: At most 2 pi [rad].
        max_range: Surfaces further away are not hit [m].
        threads: Number of threads; all cores if left out. Results do not depend on it.
    """
    walls = Walls(*(np.ascontiguousarray(each, np.float64) for each in walls))
    poses = np.ascontiguousarray(poses, np.float64)
    fan = _fan(beams, field_of_view)
    echoes = Echoes(np.empty((len(poses), beams)), np.empty((len(poses), beams), np.int32))

    def part(low: int, high: int) -> None:
        filled = Echoes(echoes.ranges[low:high], echoes.hits[low:high])
        cast_fans(walls, poses[low:high], fan, 1.0 / max_range, filled)

    workers = (
        min(len(poses) // MAX_POSES_ONE_THREAD, threads or os.cpu_count() or 1)
        if len(poses) > MAX_POSES_ONE_THREAD
        else 1
    )
    if workers < 2:
        part(0, len(poses))
    else:
        # Poses differ in cost: small parts balance the load.
        cuts = np.linspace(0, len(poses), 4 * workers + 1).astype(int).tolist()
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(part, cuts[:-1], cuts[1:]))
    return echoes


@kernel(error_model="numpy", nogil=True, allocates=False)
def cast_fans(walls: Walls, poses: Array, fan: Fan, min_inverse: float, echoes: Echoes) -> None:
    """The kernel of `cast`.

    Args:
        walls: What beams hit.
        poses: (k, 3) [m, rad]
        fan: Beams.
        min_inverse: Inverse of the maximum range [1/m].
        echoes: (k, beams) to be filled.
    """
    segments, circles = walls.segments, walls.circles
    beams = fan.directions.shape[1]
    front_only = fan.step * beams <= math.pi + 1e-9
    for k in range(poses.shape[0]):
        x, y = poses[k, 0], poses[k, 1]
        cosine, sine = math.cos(poses[k, 2]), math.sin(poses[k, 2])
        near, hit = echoes.ranges[k], echoes.hits[k]
        nearest = Echoes(near, hit)
        for b in range(beams):
            near[b] = min_inverse
            hit[b] = -1
        for n in range(segments.shape[0]):
            ux, uy, vx, vy = segments[n, 0] - x, segments[n, 1] - y, segments[n, 2] - x, segments[n, 3] - y
            px, py = cosine * ux + sine * uy, cosine * uy - sine * ux
            qx, qy = cosine * vx + sine * vy, cosine * vy - sine * vx
            if not (front_only and px < 0.0 and qx < 0.0):
                hit_segment(n, (px, py), (qx, qy), fan, nearest)
        for n in range(circles.shape[0]):
            ux, uy = circles[n, 0] - x, circles[n, 1] - y
            centre = (cosine * ux + sine * uy, cosine * uy - sine * ux)
            hit_circle(segments.shape[0] + n, centre, circles[n, 2], fan, nearest)
        for b in range(beams):
            near[b] = 1.0 / near[b] if hit[b] >= 0 else math.inf


@kernel(error_model="numpy", allocates=False)
def hit_segment(number: int, p: tuple[float, float], q: tuple[float, float], fan: Fan, nearest: Echoes) -> None:
    """Intersect the beams with a segment.

    Args:
        number: Index that is stored for a hit.
        p: One end, in the sensor's frame [m].
        q: The other end [m].
        fan: Beams.
        nearest: (beams,) of the nearest hit so far; ``ranges`` holds the inverse of distances [1/m]. Updated in place.
    """
    (px, py), (qx, qy) = p, q
    area = px * qy - py * qx
    if area < 0.0:
        px, py, qx, qy, area = qx, qy, px, py, -area
    # Skips NaN as well, and areas whose inverse would overflow.
    if not area > 1e-300:
        return
    beams = fan.directions.shape[1]
    start = 0.5 * (beams - 1)
    first = (bearing(px, py) - BEARING_ERROR) / fan.step + start
    last = (bearing(qx, qy) + BEARING_ERROR) / fan.step + start
    inverse = 1.0 / area
    segment = Segment(number, px, py, qx, qy, (qy - py) * inverse, (px - qx) * inverse)
    if py >= 0.0 and qy < 0.0:  # it crosses the bearing of pi, straight back
        hit_interval(segment, first, float(beams), fan, nearest)
        hit_interval(segment, -1.0, last, fan, nearest)
    else:
        hit_interval(segment, first, last, fan, nearest)


@kernel(error_model="numpy", allocates=False)
def bearing(x: float, y: float) -> float:
    """Bearing of a point, -pi to pi, to within 1.2e-5 rad: Hastings (1955), *Approximations for Computers*."""
    ax, ay = abs(x), abs(y)
    ratio = min(ax, ay) / max(ax, ay, 1e-300)
    square = ratio * ratio
    angle = ratio * (
        0.9998660 + square * (-0.3302995 + square * (0.1801410 + square * (-0.0851330 + square * 0.0208351)))
    )
    angle = 0.5 * math.pi - angle if ay > ax else angle
    angle = math.pi - angle if x < 0.0 else angle
    return -angle if y < 0.0 else angle


@kernel(error_model="numpy", allocates=False)
def hit_interval(segment: Segment, first: float, last: float, fan: Fan, nearest: Echoes) -> None:
    """Intersect beams ``first`` to ``last`` with a segment."""
    number, px, py, qx, qy, gx, gy = segment
    toward, near, hit, beams = fan.directions, nearest.ranges, nearest.hits, fan.directions.shape[1]
    low = math.ceil(min(max(first, 0.0), float(beams)))
    high = math.floor(max(min(last, beams - 1.0), -1.0))
    while low <= high and (
        px * toward[1, low] - py * toward[0, low] < 0.0 or qy * toward[0, low] - qx * toward[1, low] < 0.0
    ):
        low += 1
    while low <= high and (
        px * toward[1, high] - py * toward[0, high] < 0.0 or qy * toward[0, high] - qx * toward[1, high] < 0.0
    ):
        high -= 1
    for b in range(low, high + 1):
        inverse = gx * toward[0, b] + gy * toward[1, b]
        nearer = inverse > near[b]
        near[b] = inverse if nearer else near[b]
        hit[b] = number if nearer else hit[b]


@kernel(error_model="numpy", allocates=False)
def hit_circle(number: int, p: tuple[float, float], radius: float, fan: Fan, nearest: Echoes) -> None:
    """Intersect the beams with a circle around p, in the sensor's frame [m]; a sensor inside hits its inner side."""
    (px, py), near, hit, step = p, nearest.ranges, nearest.hits, fan.step
    toward, beams = fan.directions, fan.directions.shape[1]
    outside = px * px + py * py - radius * radius  # positive outside the circle
    if not outside < math.inf:  # NaN or infinity
        return
    half_width = math.pi if outside <= 0.0 else math.asin(min(radius / math.sqrt(px * px + py * py), 1.0))
    centre = math.atan2(py, px)
    # One full turn less and more, for intervals that cross the bearing of pi.
    for turn in range(-1, 2):
        centre_beam = (centre + 2.0 * math.pi * turn) / step + 0.5 * (beams - 1)
        low = math.ceil(min(max(centre_beam - (half_width + BEARING_ERROR) / step, 0.0), float(beams)))
        high = math.floor(max(min(centre_beam + (half_width + BEARING_ERROR) / step, beams - 1.0), -1.0))
        for b in range(low, high + 1):
            along = px * toward[0, b] + py * toward[1, b]
            across = px * toward[1, b] - py * toward[0, b]
            rest = radius * radius - across * across
            if rest >= 0.0 and (along > 0.0 or outside <= 0.0):
                distance = along + math.sqrt(rest) if outside <= 0.0 else along - math.sqrt(rest)
                inverse = 1.0 / max(distance, 1e-300)
                if inverse > near[b]:
                    near[b] = inverse
                    hit[b] = number
