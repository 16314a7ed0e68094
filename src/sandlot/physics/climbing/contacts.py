"""Where the parts of a robot touch the ground.

Every part is the hull of two circles: a track of its wheels, the body of its round ends. Against a polygon such a hull
touches either with one of its circles on a segment, or with its outline at a corner that sticks out. Both are exact.
"""

import math
from typing import Any

from sandlot.kernels import kernel
from sandlot.physics.climbing.ground import AX, AZ, CELL, CORNER, LENGTH, PX, PZ, TX, TZ
from sandlot.physics.climbing.robot import CONTACTS
from sandlot.typing import Array, IntArray

MARGIN = 0.002
"""Gaps up to this, and what the robot moves in a step, are contacts that may close within the step [m]."""
DEEP = 0.03
"""What is deeper inside lies behind another surface [m]."""
WITHIN = 1e-3
"""A corner is touched if the normal lies between those of its sides, up to this cosine."""
POINT_X, POINT_Z, NORMAL_X, NORMAL_Z, GAP = range(5)
"""Columns of a contact: the point [m], the normal out of the ground, and the gap [m], negative inside."""


@kernel(error_model="numpy", allocates=False, inline="always")
def outline_gap(x: float, z: float, big: float, small: float, length: float) -> tuple[float, float, float]:
    """Signed distance from the hull of two circles, and its outward direction, at a point.

    Args:
        x: Of the point, along the line from the big circle's centre to the small one's [m].
        z: Across it [m].
        big: Radius of the circle at the origin [m].
        small: Radius of the other circle [m].
        length: Distance of their centres [m].

    Returns:
        Gap [m], negative inside; outward direction along and across.
    """
    sine = (big - small) / length
    cosine = math.sqrt(1.0 - sine * sine)
    side = -1.0 if z < 0.0 else 1.0
    across = abs(z)
    along = x * cosine - across * sine
    if along <= 0.0:
        far = max(math.sqrt(x * x + z * z), 1e-12)
        return far - big, x / far, z / far
    if along >= length * cosine:
        x -= length
        far = max(math.sqrt(x * x + z * z), 1e-12)
        return far - small, x / far, z / far
    return x * sine + across * cosine - big, sine, side * cosine


@kernel(error_model="numpy", allocates=False)
def find(
    segments: Array,
    cells: IntArray,
    extent: Array,
    hull: Any,
    margin: float,
    part: int,
    found: Array,
    labels: IntArray,
    count: int,
) -> int:
    """Find the contacts of one part.

    Args:
        segments: (n, 8) of the ground.
        cells: (m, 2) index of the ground.
        extent: (2,) of the index.
        hull: x and z of the first circle's centre, its radius, direction x and z to the second circle's centre, their
            distance, radius of the second circle [m].
        margin: Largest gap of a contact [m].
        part: Number of the part.
        found: (contacts, 5) the new ones are added here.
        labels: (contacts, 2) part, and a number that names the touching features.
        count: How many contacts there are already.

    Returns:
        How many there are now; those beyond `CONTACTS` are counted but not added.
    """
    ox, oz, big, dx, dz, length, small = hull
    ex, ez = ox + length * dx, oz + length * dz
    low, high = min(ox - big, ex - small) - margin, max(ox + big, ex + small) + margin
    floor, ceiling = min(oz - big, ez - small) - margin, max(oz + big, ez + small) + margin
    last = int(extent[1]) - 1
    first_cell = min(max(int((low - extent[0]) / CELL), 0), last)
    last_cell = min(max(int((high - extent[0]) / CELL), 0), last)
    for k in range(cells[first_cell, 0], cells[last_cell, 1]):
        ax, az, tx, tz, size = segments[k, AX], segments[k, AZ], segments[k, TX], segments[k, TZ], segments[k, LENGTH]
        nx, nz = -tz, tx
        # Both circles against the segment.
        for end in range(2):
            cx, cz, radius = (ox, oz, big) if end == 0 else (ex, ez, small)
            along = (cx - ax) * tx + (cz - az) * tz
            gap = (cx - ax) * nx + (cz - az) * nz - radius
            if 0.0 <= along <= size and -DEEP < gap < margin:
                if count < CONTACTS:
                    found[count, POINT_X], found[count, POINT_Z] = cx - (gap + radius) * nx, cz - (gap + radius) * nz
                    found[count, NORMAL_X], found[count, NORMAL_Z], found[count, GAP] = nx, nz, gap
                    labels[count, 0], labels[count, 1] = part, 3 * k + end
                count += 1
        # The outline at the segment's first corner.
        if segments[k, CORNER] > 0.0 and low < ax < high and floor < az < ceiling:
            x, z = (ax - ox) * dx + (az - oz) * dz, (az - oz) * dx - (ax - ox) * dz
            gap, along, across = outline_gap(x, z, big, small, length)
            if -DEEP < gap < margin:
                nx, nz = -(along * dx - across * dz), -(along * dz + across * dx)
                before, after = nx * segments[k, PX] + nz * segments[k, PZ], nx * tx + nz * tz
                if before >= -WITHIN and after <= WITHIN:
                    if count < CONTACTS:
                        found[count, POINT_X], found[count, POINT_Z] = ax, az
                        found[count, NORMAL_X], found[count, NORMAL_Z], found[count, GAP] = nx, nz, gap
                        labels[count, 0], labels[count, 1] = part, 3 * k + 2
                    count += 1
    return count
