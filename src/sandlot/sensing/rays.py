"""Exact ray casting: how far it is from a sensor to the nearest wall, for a fan of evenly spaced beams.

A segment is seen under an interval of bearings, so only beams of that interval meet it: the cost is that of segments
plus covered beams, not of segments times beams. In the sensor's frame, with the ends p and q of a segment ordered
counter-clockwise, a beam of direction d meets it where p x d >= 0 and d x q >= 0, at the distance
t = (p x q) / (d x (q - p)). What is kept is the inverse of t, which is linear in d: the inner loop has no division.
Limits of the interval come from a rough and quick arctangent: at both ends the signs above decide, and they are the
same for segments that share an end, so that no beam slips through a corner.
"""

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.typing import Array

ROUGH = 2e-5
"""Largest error of a bearing [rad]: beams as near as this to the end of an interval are looked at more closely."""
WORTH_A_THREAD = 64
"""Fewer poses than this are not shared out."""


@dataclass(frozen=True, eq=False)
class Echoes:
    """What n fans of beams meet.

    Attributes:
        ranges: (..., n, beams) how far it is [m]; infinite where nothing is met.
        hits: (..., n, beams) what is met: the number of a segment, or that of a circle plus the number of segments; -1
            if nothing is.
    """

    ranges: Array
    hits: NDArray[np.int32]


def bearings(beams: int, field_of_view: float) -> Array:
    """Directions of beams, counter-clockwise from the right, in the middles of equal bins: (beams,) [rad]."""
    return (np.arange(beams, dtype=np.float64) + 0.5) * (field_of_view / beams) - 0.5 * field_of_view


def cast(
    segments: Array,
    circles: Array,
    poses: Array,
    beams: int,
    field_of_view: float,
    most: float = math.inf,
    threads: int | None = None,
) -> Echoes:
    """Cast a fan of beams from every pose.

    A segment that is seen exactly end-on is not seen.

    Args:
        segments: (n, 4) x, y of one end and of the other [m].
        circles: (m, 3) x, y, radius [m].
        poses: (k, 3) x, y [m] and heading [rad] of the sensor.
        beams: In a fan.
        field_of_view: Across the fan, at most 2 pi [rad].
        most: What is further away is not met [m].
        threads: So many parts of the poses are done at the same time; all cores if left out. Results do not depend
            on it.
    """
    segments, circles = np.ascontiguousarray(segments, np.float64), np.ascontiguousarray(circles, np.float64)
    poses = np.ascontiguousarray(poses, np.float64)
    angles = bearings(beams, field_of_view)
    fan = np.ascontiguousarray([np.cos(angles), np.sin(angles)])
    step = field_of_view / beams
    ranges, hits = np.empty((len(poses), beams)), np.empty((len(poses), beams), np.int32)

    def part(low: int, high: int) -> None:
        cast_fans(segments, circles, poses[low:high], fan, step, 1.0 / most, ranges[low:high], hits[low:high])

    workers = min(len(poses) // WORTH_A_THREAD, threads or os.cpu_count() or 1) if len(poses) > WORTH_A_THREAD else 1
    if workers < 2:
        part(0, len(poses))
    else:
        # Poses in rooms cost more than others: smaller parts even that out.
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
    least: float,
    ranges: Array,
    hits: NDArray[np.int32],
) -> None:
    """The kernel of `cast`.

    Args:
        segments: (n, 4) [m]
        circles: (m, 3) [m]
        poses: (k, 3) [m, rad]
        fan: (2, beams) cosines and sines of the bearings.
        step: From one beam to the next [rad].
        least: Inverse of the largest range [1/m].
        ranges: (k, beams) to be filled [m].
        hits: (k, beams) to be filled.
    """
    beams = fan.shape[1]
    ahead = step * beams <= math.pi + 1e-9
    for k in range(poses.shape[0]):
        x, y = poses[k, 0], poses[k, 1]
        cosine, sine = math.cos(poses[k, 2]), math.sin(poses[k, 2])
        near, hit = ranges[k], hits[k]
        for b in range(beams):
            near[b] = least
            hit[b] = -1
        for n in range(segments.shape[0]):
            ux, uy, vx, vy = segments[n, 0] - x, segments[n, 1] - y, segments[n, 2] - x, segments[n, 3] - y
            px, py = cosine * ux + sine * uy, cosine * uy - sine * ux
            qx, qy = cosine * vx + sine * vy, cosine * vy - sine * vx
            if not (ahead and px < 0.0 and qx < 0.0):
                meet_segment(n, px, py, qx, qy, fan, step, near, hit)
        for n in range(circles.shape[0]):
            ux, uy = circles[n, 0] - x, circles[n, 1] - y
            px, py = cosine * ux + sine * uy, cosine * uy - sine * ux
            meet_circle(segments.shape[0] + n, px, py, circles[n, 2], fan, step, near, hit)
        for b in range(beams):
            near[b] = 1.0 / near[b] if hit[b] >= 0 else math.inf


@kernel(error_model="numpy", allocates=False)
def meet_segment(
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
    """Let the beams meet a segment from p to q, in the sensor's frame [m].

    Args:
        number: Of the segment.
        px: Of one end.
        py: Of one end.
        qx: Of the other.
        qy: Of the other.
        fan: (2, beams) cosines and sines of the bearings.
        step: From one beam to the next [rad].
        near: (beams,) inverse of the nearest distance so far [1/m]; changed.
        hit: (beams,) what is there; changed.
    """
    area = px * qy - py * qx
    if area < 0.0:
        px, py, qx, qy, area = qx, qy, px, py, -area
    # Not a number, too; and what is so near that its inverse is none.
    if not area > 1e-300:
        return
    beams = fan.shape[1]
    start = 0.5 * (beams - 1)
    first = (bearing(px, py) - ROUGH) / step + start
    last = (bearing(qx, qy) + ROUGH) / step + start
    inverse = 1.0 / area
    gx, gy = (qy - py) * inverse, (px - qx) * inverse
    if py >= 0.0 and qy < 0.0:  # across the direction straight back
        meet_interval(number, px, py, qx, qy, gx, gy, first, float(beams), fan, near, hit)
        meet_interval(number, px, py, qx, qy, gx, gy, -1.0, last, fan, near, hit)
    else:
        meet_interval(number, px, py, qx, qy, gx, gy, first, last, fan, near, hit)


@kernel(error_model="numpy", allocates=False)
def bearing(x: float, y: float) -> float:
    """Direction of a point, from -pi to pi, to within 1.2e-5 rad: Hastings (1955), *Approximations for Computers*."""
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
def meet_interval(
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
    """Let the beams from ``first`` to ``last`` meet a segment; of a beam d, the inverse of the distance is g . d."""
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
def meet_circle(
    number: int, px: float, py: float, radius: float, fan: Array, step: float, near: Array, hit: NDArray[np.int32]
) -> None:
    """Let the beams meet a circle around p, in the sensor's frame [m]; from within, they meet its inside."""
    beams = fan.shape[1]
    away = px * px + py * py - radius * radius
    if not away < math.inf:  # nobody is there
        return
    width = math.pi if away <= 0.0 else math.asin(min(radius / math.sqrt(px * px + py * py), 1.0))
    middle = math.atan2(py, px)
    # A whole turn less or more, for the parts of the interval that are across the direction straight back.
    for turn in range(-1, 2):
        centre = (middle + 2.0 * math.pi * turn) / step + 0.5 * (beams - 1)
        low = math.ceil(min(max(centre - (width + ROUGH) / step, 0.0), float(beams)))
        high = math.floor(max(min(centre + (width + ROUGH) / step, beams - 1.0), -1.0))
        for b in range(low, high + 1):
            along = px * fan[0, b] + py * fan[1, b]
            across = px * fan[1, b] - py * fan[0, b]
            rest = radius * radius - across * across
            if rest >= 0.0 and (along > 0.0 or away <= 0.0):
                distance = along + math.sqrt(rest) if away <= 0.0 else along - math.sqrt(rest)
                inverse = 1.0 / max(distance, 1e-300)
                if inverse > near[b]:
                    near[b] = inverse
                    hit[b] = number
