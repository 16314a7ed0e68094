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


MOST_FEET = 32
"""Marks of `sandlot.surrogates.terrain.imprint` tell so many apart."""
Place = Array | tuple[float, float, float]
"""Three numbers."""
ADVANCE, SINK = 0.5, 5e-4
"""Feet change the ground anew when they have moved by this share of the spacing of nodes, or up or down by this [m]."""
LANES = 8
"""Cells of a row that are computed together."""
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
def cover_row(foot: Foot, at: Stance, x: float, y: float, step: float, count: int, side: float, row: Array) -> None:
    """How much of each cell of a row a foot covers, and where its underside is there.

    Loops without branches compile to vector instructions; more cells than asked for are filled in.

    Args:
        foot: Its size.
        at: Where it is.
        x: Of the middle of the first cell [m].
        y: Of their middles [m].
        step: Between their middles, along x [m].
        count: Of cells.
        side: Of a cell [m].
        row: (3, room) receives the covered share of each cell, from 0 to 1, the height of the underside above the
            centre of the foot [m], and how far ahead of the centre that is, in the axes of the foot [m].
    """
    f, dx, dy, per = np.float32, x - at.x, y - at.y, np.float32(1.0 / side)
    ahead_x, left_x, up_x = f(step * at.ahead_x), f(step * at.left_x), f(step * at.up_x)
    ahead_0, left_0 = f(dx * at.ahead_x + dy * at.ahead_y), f(dx * at.left_x + dy * at.left_y)
    ahead_z, left_z, up_z = f(at.ahead_z), f(at.left_z), f(at.up_z)
    up_0, radius, straight, rise = f(dx * at.up_x + dy * at.up_y), f(foot.radius), f(foot.straight), f(1.0 / at.up_z)
    parts, lows, places, whole = row[0], row[1], row[2], (count + LANES - 1) // LANES * LANES
    none, half, whole_cell, wide = f(0.0), f(0.5), f(1.0), f(foot.half_width)
    if foot.radius == 0.0:
        for n in range(whole):
            k = np.float32(np.int32(n))
            ahead, left, up = ahead_0 + k * ahead_x, left_0 + k * left_x, up_0 + k * up_x
            low = -up * rise
            along = ahead + low * ahead_z
            across = min(max(half + (wide - abs(left + low * left_z)) * per, none), whole_cell)
            parts[n] = across * min(max(half + (straight - abs(along)) * per, none), whole_cell)
            lows[n], places[n] = low, along
    else:
        square = ahead_z * ahead_z + up_z * up_z
        per_square, reach = f(1.0) / square, square * radius * radius
        for n in range(whole):
            k = np.float32(np.int32(n))
            ahead, left, up = ahead_0 + k * ahead_x, left_0 + k * left_x, up_0 + k * up_x
            flat = -(radius + up) * rise
            along = ahead + flat * ahead_z
            end = ahead - math.copysign(straight, along)
            off = end * up_z - up * ahead_z
            inside = reach - off * off
            around = -(end * ahead_z + up * up_z + math.sqrt(max(inside, none))) * per_square
            is_flat = abs(along) < straight
            low = flat if is_flat else around
            across = min(max(half + (wide - abs(left + low * left_z)) * per, none), whole_cell)
            parts[n] = across if is_flat or inside > none else none
            lows[n], places[n] = low, ahead + low * ahead_z


@kernel(error_model="numpy", allocates=False, forceinline=True)
def node_in(index: int, size: int, wrap: bool) -> int:
    """An index as one within the map; beyond the edge of a map that does not wrap, -1."""
    if 0 <= index < size:
        return index
    if not wrap:
        return -1
    return index % size


@kernel(error_model="numpy", allocates=False, forceinline=True)
def extents(foot: Foot, at: Stance) -> tuple[float, float]:
    """How far the underside of a foot reaches from its centre, along its course and across it [m].

    The lowest points of a foot that leans are to the side of its centre.
    """
    below = foot.radius + foot.straight * abs(at.ahead_z) + foot.half_width * abs(at.left_z)
    leans = foot.straight + foot.radius + (below - foot.radius) * abs(at.ahead_z)
    return leans, foot.half_width + below * abs(at.left_z)


@kernel(error_model="numpy", allocates=False)
def rows_below(foot: Foot, stance: Stance, ground: Ground, margin: float) -> tuple[int, int]:
    """First and last row of the nodes that a foot may cover, or that are nearer to it than a margin [m]."""
    long, wide = extents(foot, stance)
    along, across = long + margin, wide + margin
    per, half = 1.0 / ground.spacing, 0.5 * ground.spacing
    reach = abs(stance.course_y) * (along + half) + abs(stance.course_x) * (across + half)
    return math.ceil((stance.y - reach - ground.y0) * per), math.floor((stance.y + reach - ground.y0) * per)


@kernel(error_model="numpy", allocates=False, forceinline=True)
def columns_below(foot: Foot, stance: Stance, ground: Ground, row: int, margin: float) -> tuple[int, int]:
    """First and last column of the same nodes in one row."""
    long, wide = extents(foot, stance)
    along, across = long + margin + 0.5 * ground.spacing, wide + margin + 0.5 * ground.spacing
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


def make_row(feet: NDArray[np.void], spacing: float) -> Array:
    """Room for a row of cells below a foot, for `cover_row`: (3, room)."""
    # As `extents` gives them, of feet that lean as far as can be.
    both = feet["straight"] + feet["half_width"]
    long = (2.0 * both + 2.0 * feet["radius"] + feet["half_width"]).max() + 4.0 * spacing
    return np.zeros((3, int(2.0 * long / spacing) + 2 * LANES), np.float32)
