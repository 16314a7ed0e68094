"""How far down a robot of a given shape can go before it touches the ground: exact for outlines without overhangs."""

import math
from typing import Any

from sandlot.kernels import kernel
from sandlot.physics.climbing.ground import AX, AZ, LENGTH, TX, TZ
from sandlot.typing import Array

HIGH = 1e9


@kernel(error_model="numpy", allocates=False)
def underside(hull: Any, x: float) -> float:
    """The lowest point of the hull of two circles at x [m]; `HIGH` beside it.

    Args:
        hull: x and z of the first circle's centre, its radius, direction x and z to the second circle's centre, their
            distance, radius of the second circle [m].
        x: [m]
    """
    ox, oz, big, dx, dz, length, small = hull
    ex, ez = ox + length * dx, oz + length * dz
    lowest = HIGH
    if abs(x - ox) <= big:
        lowest = oz - math.sqrt(big * big - (x - ox) * (x - ox))
    if abs(x - ex) <= small:
        lowest = min(lowest, ez - math.sqrt(small * small - (x - ex) * (x - ex)))
    # The straight lines that touch both circles, of those that face down.
    sine = (big - small) / length
    cosine = math.sqrt(1.0 - sine * sine)
    for side in range(2):
        across = cosine if side == 0 else -cosine
        nx, nz = sine * dx - across * dz, sine * dz + across * dx
        if nz < 0.0:
            first, last = ox + big * nx, ex + small * nx
            if min(first, last) <= x <= max(first, last) and abs(last - first) > 1e-12:
                share = (x - first) / (last - first)
                lowest = min(lowest, oz + big * nz + share * (ez + small * nz - oz - big * nz))
    return lowest


@kernel(error_model="numpy", allocates=False)
def lift(segments: Array, hull: Any) -> float:
    """How far a hull must go up so that it just touches the ground [m]; negative if it is above it.

    Args:
        segments: (n, 8) of the ground; the ground is solid below each of them.
        hull: As of `underside`.
    """
    ox, oz, big, dx, dz, length, small = hull
    ex, ez = ox + length * dx, oz + length * dz
    most = -HIGH
    for k in range(len(segments)):
        size, ax, az, tx, tz = segments[k, LENGTH], segments[k, AX], segments[k, AZ], segments[k, TX], segments[k, TZ]
        if size == 0.0:
            break  # the rest of the array is not used
        low = underside(hull, ax)
        if low < HIGH:
            most = max(most, az - low)
        if tx < 1e-9:
            low = underside(hull, ax + tx * size)
            if low < HIGH:
                most = max(most, az + tz * size - low)
            continue
        for end in range(2):
            cx, cz, radius = (ox, oz, big) if end == 0 else (ex, ez, small)
            touch = cx + radius * tz  # the normal is (-tz, tx)
            if ax <= touch <= ax + tx * size:
                most = max(most, az + (cx - ax) * tz / tx + radius / tx - cz)
    return most
