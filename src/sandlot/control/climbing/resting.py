"""How a robot of a given shape rests on the ground: exact for outlines without overhangs.

At each pitch it comes down until it touches. It rests where one contact gives way to another: there it has both.
"""

import math
from typing import Any

from sandlot.kernels import kernel
from sandlot.physics.climbing.ground import AX, AZ, LENGTH, TX, TZ
from sandlot.typing import Array

HIGH = 1e9
STEEPEST = math.radians(120.0)
"""Beyond this pitch the robot has overturned [rad]."""
HALVINGS = 14
"""Of the interval of the pitch in which contacts change."""
RESTS = 64
"""At most so many of one shape at one x in one range of the pitch."""


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
def lift(segments: Array, hull: Any) -> Any:
    """How far a hull must go up so that it just touches the ground [m], negative if it is above it; and what touches.

    Args:
        segments: (n, 8) of the ground, sorted by x; the ground is solid below each of them.
        hull: As of `underside`.

    Returns:
        The lift [m], and a number that names the touching features: 4 times the segment, plus 0 or 1 for the first or
        the second circle on the segment, or 2 or 3 for the hull at the segment's first or last point.
    """
    ox, oz, big, dx, dz, length, small = hull
    ex, ez = ox + length * dx, oz + length * dz
    left, right = min(ox - big, ex - small), max(ox + big, ex + small)
    most, touching = -HIGH, -1
    for k in range(len(segments)):
        size, ax, az, tx, tz = segments[k, LENGTH], segments[k, AX], segments[k, AZ], segments[k, TX], segments[k, TZ]
        if size == 0.0 or ax > right:
            break  # the rest of the array is not used, or further on
        if ax + tx * size < left:
            continue
        low = underside(hull, ax)
        if low < HIGH and az - low > most:
            most, touching = az - low, 4 * k + 2
        if tx < 1e-9:
            low = underside(hull, ax + tx * size)
            if low < HIGH and az + tz * size - low > most:
                most, touching = az + tz * size - low, 4 * k + 3
            continue
        for end in range(2):
            cx, cz, radius = (ox, oz, big) if end == 0 else (ex, ez, small)
            touch = cx + radius * tz  # the normal is (-tz, tx)
            up = az + (cx - ax) * tz / tx + radius / tx - cz
            if ax <= touch <= ax + tx * size and up > most:
                most, touching = up, 4 * k + end
    return most, touching


@kernel(error_model="numpy", allocates=False)
def hulls(robot: Any, x: float, z: float, body: float, front: float, back: float, part: int) -> Any:
    """The hull of one part as `sandlot.physics.climbing.contacts.find` takes it; angles counter-clockwise [rad]."""
    c, s = math.cos(body), math.sin(body)
    if part == 2:
        straight = robot.straight
        return x - straight * c, z - straight * s, robot.radius, c, s, 2.0 * straight, robot.radius
    side = 1.0 if part == 0 else -1.0
    angle = front if part == 0 else back
    along, across = side * robot.half_span, robot.hip
    dx, dz = side * math.cos(angle), side * math.sin(angle)
    return x + c * along - s * across, z + s * along + c * across, robot.wheel, dx, dz, robot.reach, robot.tip


@kernel(error_model="numpy", allocates=False)
def come_down(robot: Any, segments: Array, x: float, body: float, front: float, back: float) -> Any:
    """Height of the middle of the body at which the robot touches the ground [m], and which features touch."""
    z, touching = -HIGH, -1
    for part in range(3):
        up, feature = lift(segments, hulls(robot, x, 0.0, body, front, back, part))
        if up > z:
            z, touching = up, 3 * feature + part
    return z, touching


@kernel(error_model="numpy", allocates=False)
def rests(
    robot: Any,
    segments: Array,
    x: float,
    front: float,
    back: float,
    begin: float,
    turn: float,
    turns: int,
    found: Array,
) -> int:
    """Find the pitches in a range at which a robot of a given shape rests.

    Where a contact gives way to another that is higher by a jump, as at the edge of a wall, the robot rests against the
    wall, so the lower of both counts.

    Args:
        robot: Record of `ROBOT`.
        segments: (n, 8) of the ground.
        x: Of the middle of the body [m].
        front: Angle of the front axle, counter-clockwise from the body [rad].
        back: Of the rear axle [rad].
        begin: First angle of the body, counter-clockwise [rad].
        turn: Step of this angle at which contacts are compared [rad].
        turns: Number of steps.
        found: (RESTS,) angles of the body, counter-clockwise, are written here, ascending [rad].

    Returns:
        How many there are.
    """
    count, low = 0, begin
    low_z, low_touching = come_down(robot, segments, x, low, low + front, low + back)
    for k in range(1, turns + 1):
        end = begin + k * turn
        end_z, end_touching = come_down(robot, segments, x, end, end + front, end + back)
        while low_touching != end_touching and count < len(found):
            high, high_z, high_touching = end, end_z, end_touching
            for _ in range(HALVINGS):
                angle = 0.5 * (low + high)
                z, touching = come_down(robot, segments, x, angle, angle + front, angle + back)
                if touching == low_touching:
                    low, low_z = angle, z
                else:
                    high, high_z, high_touching = angle, z, touching
            found[count] = low if low_z <= high_z else high
            count += 1
            low, low_z, low_touching = high, high_z, high_touching
        low, low_z = end, end_z
    return count
