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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.typing import Array

BEARING_ERROR = 2e-5
"""Bound on the error of the approximate bearing [rad]; the interval of beams is widened by it before exact tests."""
MAX_POSES_ONE_THREAD = 64
"""Up to this many poses run in one thread."""


@dataclass(frozen=True, eq=False)
class Echoes:
    """What the beams of n poses hit.

    Attributes:
        ranges: (..., n, beams) distance [m]; infinite without a hit.
        hits: (..., n, beams) index of the segment that was hit, or number of segments plus index of the circle; -1
            without a hit.
    """

    ranges: Array
    hits: NDArray[np.int32]


def bearings(beams: int, field_of_view: float) -> Array:
    """Bearings of beams, from right to left, at the centers of equal bins of the field of view: (beams,) [rad]."""
    return (np.arange(beams, dtype=np.float64) + 0.5) * (field_of_view / beams) - 0.5 * field_of_view


def cast(
    segments: Array,
    circles: Array,
    poses: Array,
    beams: int,
    field_of_view: float,
    max_range: float = math.inf,
    threads: int | None = None,
) -> Echoes:
    """Cast a fan of beams from every pose.

    A segment that points exactly at the sensor is not hit.

    Args:
        segments: (n, 4) x, y of one end and of the other [m].
        circles: (m, 3) x, y, radius [m].
        poses: (k, 3) x, y [m] and yaw [rad] of the sensor.
        beams: Number of beams.
        field_of_view: At most 2 pi [rad].
        max_range: Surfaces further away are not hit [m].
        threads: Number of threads; all cores if left out. Results do not depend on it.
    """
    segments, circles = np.ascontiguousarray(segments, np.float64), np.ascontiguousarray(circles, np.float64)
    poses = np.ascontiguousarray(poses, np.float64)
    angles = bearings(beams, field_of_view)
    fan = np.ascontiguousarray([np.cos(angles), np.sin(angles)])
    step = field_of_view / beams
    ranges, hits = np.empty((len(poses), beams)), np.empty((len(poses), beams), np.int32)

    def part(low: int, high: int) -> None:
        cast_fans(segments, circles, poses[low:high], fan, step, 1.0 / max_range, ranges[low:high], hits[low:high])

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
    return Echoes(ranges, hits)


@kernel(error_model="numpy", nogil=True, allocates=False)
def cast_fans(
    segments: Array,
    circles: Array,
    poses: Array,
    fan: Array,
    step: float,
    min_inverse: float,
    ranges: Array,
    hits: NDArray[np.int32],
) -> None:
    """The kernel of `cast`.

    Args:
        segments: (n, 4) [m]
        circles: (m, 3) [m]
        poses: (k, 3) [m, rad]
        fan: (2, beams) cosines and sines of the bearings.
        step: Angle between neighbouring beams [rad].
        min_inverse: Inverse of the maximum range [1/m].
        ranges: (k, beams) to be filled [m].
        hits: (k, beams) to be filled.
    """
    beams = fan.shape[1]
    front_only = step * beams <= math.pi + 1e-9
    for k in range(poses.shape[0]):
        x, y = poses[k, 0], poses[k, 1]
        cosine, sine = math.cos(poses[k, 2]), math.sin(poses[k, 2])
        near, hit = ranges[k], hits[k]
        for b in range(beams):
            near[b] = min_inverse
            hit[b] = -1
        for n in range(segments.shape[0]):
            ux, uy, vx, vy = segments[n, 0] - x, segments[n, 1] - y, segments[n, 2] - x, segments[n, 3] - y
            px, py = cosine * ux + sine * uy, cosine * uy - sine * ux
            qx, qy = cosine * vx + sine * vy, cosine * vy - sine * vx
            if not (front_only and px < 0.0 and qx < 0.0):
                hit_segment(n, px, py, qx, qy, fan, step, near, hit)
        for n in range(circles.shape[0]):
            ux, uy = circles[n, 0] - x, circles[n, 1] - y
            px, py = cosine * ux + sine * uy, cosine * uy - sine * ux
            hit_circle(segments.shape[0] + n, px, py, circles[n, 2], fan, step, near, hit)
        for b in range(beams):
            near[b] = 1.0 / near[b] if hit[b] >= 0 else math.inf


@kernel(error_model="numpy", allocates=False)
def hit_segment(
    number: int,
    px: float,
    py: float,
    qx: float,
    qy: float,
    fan: Array,
    step: float,
    near: Array,
    hit: NDArray[np.int32],
) -> None:
    """Intersect the beams with a segment from p to q, in the sensor's frame [m].

    Args:
        number: Index that is stored for a hit.
        px: x of p [m].
        py: y of p [m].
        qx: x of q [m].
        qy: y of q [m].
        fan: (2, beams) cosines and sines of the bearings.
        step: Angle between neighbouring beams [rad].
        near: (beams,) inverse of the nearest distance so far [1/m]; updated in place.
        hit: (beams,) index of what is there; updated in place.
    """
    area = px * qy - py * qx
    if area < 0.0:
        px, py, qx, qy, area = qx, qy, px, py, -area
    # Skips NaN as well, and areas whose inverse would overflow.
    if not area > 1e-300:
        return
    beams = fan.shape[1]
    start = 0.5 * (beams - 1)
    first = (bearing(px, py) - BEARING_ERROR) / step + start
    last = (bearing(qx, qy) + BEARING_ERROR) / step + start
    inverse = 1.0 / area
    gx, gy = (qy - py) * inverse, (px - qx) * inverse
    if py >= 0.0 and qy < 0.0:  # it crosses the bearing of pi, straight back
        hit_interval(number, px, py, qx, qy, gx, gy, first, float(beams), fan, near, hit)
        hit_interval(number, px, py, qx, qy, gx, gy, -1.0, last, fan, near, hit)
    else:
        hit_interval(number, px, py, qx, qy, gx, gy, first, last, fan, near, hit)


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
def hit_interval(
    number: int,
    px: float,
    py: float,
    qx: float,
    qy: float,
    gx: float,
    gy: float,
    first: float,
    last: float,
    fan: Array,
    near: Array,
    hit: NDArray[np.int32],
) -> None:
    """Intersect beams ``first`` to ``last`` with a segment; the inverse distance along a beam d is g . d."""
    beams = fan.shape[1]
    low = math.ceil(min(max(first, 0.0), float(beams)))
    high = math.floor(max(min(last, beams - 1.0), -1.0))
    while low <= high and (px * fan[1, low] - py * fan[0, low] < 0.0 or qy * fan[0, low] - qx * fan[1, low] < 0.0):
        low += 1
    while low <= high and (px * fan[1, high] - py * fan[0, high] < 0.0 or qy * fan[0, high] - qx * fan[1, high] < 0.0):
        high -= 1
    for b in range(low, high + 1):
        inverse = gx * fan[0, b] + gy * fan[1, b]
        nearer = inverse > near[b]
        near[b] = inverse if nearer else near[b]
        hit[b] = number if nearer else hit[b]


@kernel(error_model="numpy", allocates=False)
def hit_circle(
    number: int, px: float, py: float, radius: float, fan: Array, step: float, near: Array, hit: NDArray[np.int32]
) -> None:
    """Intersect the beams with a circle around p, in the sensor's frame [m]; a sensor inside hits its inner side."""
    beams = fan.shape[1]
    outside = px * px + py * py - radius * radius  # positive outside the circle
    if not outside < math.inf:  # NaN or infinity
        return
    half_width = math.pi if outside <= 0.0 else math.asin(min(radius / math.sqrt(px * px + py * py), 1.0))
    center = math.atan2(py, px)
    # One full turn less and more, for intervals that cross the bearing of pi.
    for turn in range(-1, 2):
        center_beam = (center + 2.0 * math.pi * turn) / step + 0.5 * (beams - 1)
        low = math.ceil(min(max(center_beam - (half_width + BEARING_ERROR) / step, 0.0), float(beams)))
        high = math.floor(max(min(center_beam + (half_width + BEARING_ERROR) / step, beams - 1.0), -1.0))
        for b in range(low, high + 1):
            along = px * fan[0, b] + py * fan[1, b]
            across = px * fan[1, b] - py * fan[0, b]
            rest = radius * radius - across * across
            if rest >= 0.0 and (along > 0.0 or outside <= 0.0):
                distance = along + math.sqrt(rest) if outside <= 0.0 else along - math.sqrt(rest)
                inverse = 1.0 / max(distance, 1e-300)
                if inverse > near[b]:
                    near[b] = inverse
                    hit[b] = number
