"""The feet of a rover, where they are, and the nodes of a height map below them.

A foot is a wheel, a belt or the underside of a box: flat in the middle, with round ends.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.geometry.planar import wrap_compiled
from sandlot.kernels import kernel
from sandlot.typing import Array, IntArray

FOOT = np.dtype([(name, np.float64) for name in ("x", "y", "z", "straight", "radius", "half_width")])
"""A foot: its centre in the axes of the chassis [m], half the length of its flat part, the radius of its round ends and
half its width [m]. A wheel has no flat part; a box has no radius, and its centre is that of its underside."""
AXES = tuple(f"{axis}_{part}" for axis in ("ahead", "left", "up") for part in "xyz")
STANCE = np.dtype([(name, np.float64) for name in ("x", "y", "z", *AXES, "course_x", "course_y")])
"""Where a foot is: its centre [m], its axes, and the horizontal direction ahead."""


class Foot(NamedTuple):
    """A foot of FOOT for kernels that visit many nodes: as a tuple it stays in registers."""

    straight: float
    radius: float
    half_width: float


class Stance(NamedTuple):
    """Where a foot is, of STANCE, likewise."""

    x: float
    y: float
    z: float
    ahead_x: float
    ahead_y: float
    ahead_z: float
    left_x: float
    left_y: float
    left_z: float
    up_x: float
    up_y: float
    up_z: float
    course_x: float
    course_y: float


Place = Array | tuple[float, float, float]
"""Three numbers."""
ADVANCE, SINK = 0.5, 3e-4
"""Feet change the ground anew when they have moved by this share of the spacing of nodes, or up or down by this [m]."""
BESIDE = 1e3
"""Height of the underside of a foot where there is none [m]."""
LEAST_UP = 0.1
"""Of the axis that points upwards, the vertical part is at least this: undersides are no steeper."""
PARALLEL = 1e-6
"""A foot whose direction has a smaller part along an axis is across it."""


class Ground(NamedTuple):
    """A height map.

    Attributes:
        heights: (ny, nx) [m].
        initial: (ny, nx) heights before anything touched it [m].
        firm: (ny, nx) heights of the firm soil below what was pushed or slid onto it [m].
        marks: (ny, nx) number of the last foot that touched a node, or was above it in its rut.
        covered: (ny, nx) share of each cell that the foot covered then.
        surface: (ny, nx) heights of the part that it covered [m].
        x0: X of the first node [m].
        y0: Y of the first node [m].
        spacing: Of nodes [m].
        wrap: Whether it continues at the opposite edge.
    """

    heights: Array
    initial: Array
    firm: Array
    marks: IntArray
    covered: Array
    surface: Array
    x0: float
    y0: float
    spacing: float
    wrap: bool


@kernel(error_model="numpy", allocates=False)
def stand(feet: NDArray[np.void], position: Place, attitude: Place, stances: NDArray[np.void]) -> None:
    """Place the feet of a chassis.

    Args:
        feet: (feet,) of FOOT.
        position: (3,) of the chassis [m].
        attitude: (3,) its roll, pitch and yaw [rad].
        stances: (feet,) of STANCE, to be filled.
    """
    sr, cr, sp, cp = math.sin(attitude[0]), math.cos(attitude[0]), math.sin(attitude[1]), math.cos(attitude[1])
    sy, cy = math.sin(attitude[2]), math.cos(attitude[2])
    ahead, left = (cy * cp, sy * cp, -sp), (cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr)
    up = (cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, max(cp * cr, LEAST_UP))
    for k in range(len(feet)):
        x, y, z, at = feet[k]["x"], feet[k]["y"], feet[k]["z"], stances[k]
        at["x"] = position[0] + ahead[0] * x + left[0] * y + up[0] * z
        at["y"] = position[1] + ahead[1] * x + left[1] * y + up[1] * z
        at["z"] = position[2] + ahead[2] * x + left[2] * y + cp * cr * z
        at["ahead_x"], at["ahead_y"], at["ahead_z"] = ahead
        at["left_x"], at["left_y"], at["left_z"] = left
        at["up_x"], at["up_y"], at["up_z"] = up
        at["course_x"], at["course_y"] = cy, sy


@kernel(error_model="numpy", allocates=False)
def foot_of(foot: np.void) -> Foot:
    """A foot of FOOT."""
    return Foot(foot["straight"], foot["radius"], foot["half_width"])


@kernel(error_model="numpy", allocates=False)
def stance_of(at: np.void) -> Stance:
    """Where it is, of STANCE."""
    return Stance(
        at["x"],
        at["y"],
        at["z"],
        at["ahead_x"],
        at["ahead_y"],
        at["ahead_z"],
        at["left_x"],
        at["left_y"],
        at["left_z"],
        at["up_x"],
        at["up_y"],
        at["up_z"],
        at["course_x"],
        at["course_y"],
    )


@kernel(error_model="numpy", allocates=False)
def has_moved(
    position: Array, attitude: Array, last_position: Array, last_attitude: Array, lever: float, spacing: float
) -> bool:
    """Whether feet have moved so far that they change the ground anew.

    Args:
        position: (3,) of the chassis [m].
        attitude: (3,) its roll, pitch and yaw [rad].
        last_position: (3,) when they last changed it [m].
        last_attitude: (3,) the same [rad].
        lever: Largest horizontal distance of the middle of a foot from that of the chassis [m].
        spacing: Of nodes [m].
    """
    level = math.hypot(position[0] - last_position[0], position[1] - last_position[1])
    tilted = math.hypot(attitude[0] - last_attitude[0], attitude[1] - last_attitude[1])
    level += lever * abs(wrap_compiled(attitude[2] - last_attitude[2]))
    return level > ADVANCE * spacing or abs(position[2] - last_position[2]) + lever * tilted > SINK


@kernel(error_model="numpy", allocates=False, forceinline=True)
def lowest(foot: Foot, at: Stance, dx: float, dy: float) -> tuple[float, float, float]:
    """Lowest point of a foot on a vertical line.

    Args:
        foot: Its size.
        at: Where it is.
        dx: From its centre to the line, along x [m].
        dy: The same along y [m].

    Returns:
        The height of the point above the centre [m], `BESIDE` if there is none; and where it is, in the axes of the
        foot: ahead and to the left of the centre [m].
    """
    ahead, left, up = dx * at.ahead_x + dy * at.ahead_y, dx * at.left_x + dy * at.left_y, dx * at.up_x + dy * at.up_y
    low = -(foot.radius + up) / at.up_z  # of the flat part
    along = ahead + low * at.ahead_z
    if foot.radius > 0.0 and abs(along) >= foot.straight:
        from_end = ahead - math.copysign(foot.straight, along)
        square, off = at.ahead_z * at.ahead_z + at.up_z * at.up_z, from_end * at.up_z - up * at.ahead_z
        inside = square * foot.radius * foot.radius - off * off
        if inside <= 0.0:
            return BESIDE, along, left
        low = -(from_end * at.ahead_z + up * at.up_z + math.sqrt(inside)) / square
        along = ahead + low * at.ahead_z
    return low, along, left + low * at.left_z


@kernel(error_model="numpy", allocates=False, forceinline=True)
def cover(foot: Foot, stance: Stance, x: float, y: float, per: float) -> tuple[float, float]:
    """How much of a cell a foot covers, from 0 to 1, and how high its underside is there [m].

    Args:
        foot: Its size.
        stance: Where it is.
        x: Of the cell's middle [m].
        y: Of the cell's middle [m].
        per: Cells per length [1/m].
    """
    low, along, aside = lowest(foot, stance, x - stance.x, y - stance.y)
    across = 0.5 + (foot.half_width - abs(aside)) * per
    long = 1.0 if foot.radius > 0.0 else 0.5 + (foot.straight - abs(along)) * per
    if across <= 0.0 or long <= 0.0 or low == BESIDE:
        return 0.0, 0.0
    return min(across, 1.0) * min(long, 1.0), stance.z + low


@kernel(error_model="numpy", allocates=False, forceinline=True)
def node_in(index: int, size: int, wrap: bool) -> int:
    """An index as one within the map; beyond the edge of a map that does not wrap, -1."""
    if 0 <= index < size:
        return index
    if not wrap:
        return -1
    return index % size


@kernel(error_model="numpy", allocates=False)
def rows_below(foot: Foot, stance: Stance, ground: Ground, margin: float) -> tuple[int, int]:
    """First and last row of the nodes that a foot may cover, or that are nearer to it than a margin [m]."""
    leans = foot.radius * abs(stance.left_z)  # its lowest points are to the side of its centre
    along, across = foot.straight + foot.radius + margin, foot.half_width + margin + leans
    per, half = 1.0 / ground.spacing, 0.5 * ground.spacing
    reach = abs(stance.course_y) * (along + half) + abs(stance.course_x) * (across + half)
    return math.ceil((stance.y - reach - ground.y0) * per), math.floor((stance.y + reach - ground.y0) * per)


@kernel(error_model="numpy", allocates=False, forceinline=True)
def columns_below(foot: Foot, stance: Stance, ground: Ground, row: int, margin: float) -> tuple[int, int]:
    """First and last column of the same nodes in one row."""
    leans = foot.radius * abs(stance.left_z)
    along, across = foot.straight + foot.radius + margin, foot.half_width + margin + leans
    along, across = along + 0.5 * ground.spacing, across + 0.5 * ground.spacing
    c, s, dy = stance.course_x, stance.course_y, ground.y0 + row * ground.spacing - stance.y
    low, high = -along - across, along + across
    # Quotients do not depend on the row, so that they are computed once for a foot.
    if abs(c) > PARALLEL:  # no farther ahead or behind
        middle, half = -dy * (s / c), along / abs(c)
        low, high = max(low, middle - half), min(high, middle + half)
    if abs(s) > PARALLEL:  # no farther to the sides
        middle, half = dy * (c / s), across / abs(s)
        low, high = max(low, middle - half), min(high, middle + half)
    per, x = 1.0 / ground.spacing, stance.x - ground.x0
    return math.ceil((x + low) * per), math.floor((x + high) * per)


def make_ground(heights: Array, corner: tuple[float, float], spacing: float, wrap: bool) -> Ground:
    """A map (ny, nx) [m] that nothing has touched, not copied; ``corner`` is x and y of its first node [m]."""
    marks, (covered, surface) = np.zeros(heights.shape, np.int64), np.zeros((2, *heights.shape))
    return Ground(heights, heights.copy(), heights.copy(), marks, covered, surface, *corner, spacing, wrap)
