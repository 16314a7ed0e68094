"""How a rover would lie on the ground where it is, and how much of its weight each part of it would carry.

A rover that turns on uneven ground swings about the wheels that carry it, and one whose underside drags in soft soil
is held by it. So the nets of a learned rover get these loads. Each cell of the ground below a foot is a spring that
yields: elastic up to the pressure that it has borne before, and from there on as stiff as undeformed soil. Heights,
pitch and roll at which the springs carry the weight are where the rover would come to rest; how far it really is from
there is a state that the nets predict.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.surrogates.terrain.feet import (
    STANCE,
    Ground,
    columns_below,
    foot_of,
    node_in,
    rows_below,
    stance_of,
    stand,
)
from sandlot.surrogates.terrain.inputs import DEPTH as PLATE
from sandlot.surrogates.terrain.inputs import SOIL_INPUTS
from sandlot.typing import Array, IntArray

QUARTERS = 4
"""Front left, rear left, front right, rear right."""
LOAD, SHIFT, AHEAD, LEFT, RUT, UNDER, NEAR = (k * QUARTERS for k in range(7))
"""What is seen of each quarter of a rover: the share of the weight that its wheels or belts carry, times 4; where on
them it acts, slopes of the untouched ground there, ahead and to the left, and how deep it was pressed, each multiplied
by that share; the share that the underside carries, times 4; and how near the underside is to the ground: the sum, over
parts of 1 cm^2, of how much closer than `CLOSE` they are [m]."""
SEEN = 7 * QUARTERS + 2
"""Then come the slopes of the rover at rest, ahead and to the left."""
POINTS = 2
"""Below a wheel, a cell is searched at so many points along the wheel."""
REACH, FAR = 4e-3, 0.2
"""Cells farther from a foot than this are left out [m]; in the second case when a rover is put down anywhere."""
CLOSE = 0.01
"""The underside is near to ground that is closer than this, as far as that was not left out [m]."""
UNIT = 1e-4
"""[m^2]"""
COARSE = 2
"""Of the cells below the underside, one of so many in each direction is searched."""
ITERATIONS, PRECISION, STEP = 12, 1e-5, 0.01
"""Of the search for the rest, at most; and its smallest and largest step [m]."""
OVERSHOT = 0.1
"""A step after which forces push back by this share of what they pushed before is shortened."""
PUT_DOWN = 4
"""Searches until a rover that is put down lies on the ground."""
LEAST_STIFFNESS = 1e-3
"""Against tilting, of a rover that stands on a line, as a share of that on its feet."""
STIFFEST, RATIO = 4e7, (1.5, 30.0)
"""Stiffness of springs [Pa/m], and how many times stiffer they are when they do not yield, are limited."""
SHAPE = 0.67
"""Mean depth of a wheel's round underside, as a share of the largest."""
LOOSE = 1e6
"""Stiffness of ground that is not soil [Pa/m]."""

X, Y, GAP, DEPTH, SIZE = range(5)
"""Rows of the springs: place ahead and to the left of the centre of mass, height of the foot above the ground and above
the ground as it was before anything pressed it [m], and size in cells."""


class Body(NamedTuple):
    """A rover's weight and feet, for kernels.

    Attributes:
        feet: (feet,) of FOOT.
        centre: (3,) of mass, in the axes of the chassis [m].
        weight: [N]
        corner: Mean distance of wheels or belts ahead of or behind the centre [m].
        radius: Of the wheels [m].
    """

    feet: NDArray[np.void]
    centre: Array
    weight: float
    corner: float
    radius: float


class Springs(NamedTuple):
    """Room for the springs below a rover.

    Attributes:
        stances: (feet,) of STANCE.
        rows: (5, room).
        below: (room,) whether it is below a wheel or belt, not below the underside.
        cells: (room, 2) row and column of its cell.
        sums: (9,) forces and stiffness.
        shift: (3,) how far the rest is above the rover [m], and turned from it in pitch and roll [rad].
        rest: (3,) height [m], pitch and roll [rad] at rest.
    """

    stances: NDArray[np.void]
    rows: Array
    below: NDArray[np.bool_]
    cells: IntArray
    sums: Array
    shift: Array
    rest: Array


def make_springs(feet: NDArray[np.void], spacing: float) -> Springs:
    """Room for one rover on ground with nodes so far apart [m]."""
    long, wide = feet["straight"] + feet["radius"], feet["half_width"]
    cells = (2.0 * long / spacing + 4.0) * (2.0 * wide / spacing + 4.0)
    room = int(POINTS * 1.5 * cells.sum())  # columns of a turned foot are longer
    return Springs(
        np.zeros(len(feet), STANCE),
        np.zeros((5, room)),
        np.zeros(room, np.bool_),
        np.zeros((room, 2), np.int64),
        np.zeros(9),
        np.zeros(3),
        np.zeros(3),
    )


@kernel(error_model="numpy", allocates=False)
def gather(
    body: Body, ground: Ground, initial: Array, position: Array, attitude: Array, reach: float, springs: Springs
) -> int:
    """Find the springs below a rover; returns how many.

    Args:
        body: The rover.
        ground: As it is.
        initial: (ny, nx) heights before anything touched it [m].
        position: (3,) of the chassis [m].
        attitude: (3,) its roll, pitch and yaw [rad].
        reach: Cells farther from a foot than this are left out [m].
        springs: To be filled.
    """
    feet, stances, rows, below, cells = body.feet, springs.stances, springs.rows, springs.below, springs.cells
    heights, (ny, nx), wrap, spacing = ground.heights, ground.heights.shape, ground.wrap, ground.spacing
    stand(feet, position, attitude, stances)
    c, s = math.cos(attitude[2]), math.sin(attitude[2])
    sr, cr, sp, cp = math.sin(attitude[0]), math.cos(attitude[0]), math.sin(attitude[1]), math.cos(attitude[1])
    ahead = cp * body.centre[0] + sp * (sr * body.centre[1] + cr * body.centre[2])
    left = cr * body.centre[1] - sr * body.centre[2]
    x0, y0, count = position[0] + c * ahead - s * left, position[1] + s * ahead + c * left, 0
    for k in range(len(feet)):
        foot, at = foot_of(feet[k]), stance_of(stances[k])
        wheel = foot.radius > 0.0
        step, points = (1, POINTS) if wheel else (COARSE, 1)
        wide, square = step * spacing, foot.radius * foot.radius
        per, part_of_point = 1.0 / wide, step * step / points
        first_row, last_row = rows_below(foot, at, ground, wide - spacing)
        first_row += first_row % step
        for row in range(first_row, last_row + 1, step):
            i, y = node_in(row, ny, wrap), ground.y0 + row * spacing
            if i < 0:
                continue
            first, last = columns_below(foot, at, ground, row, wide - spacing)
            first += first % step
            for column in range(first, last + 1, step):
                j, x = node_in(column, nx, wrap), ground.x0 + column * spacing
                if j < 0:
                    continue
                dx, dy = x - at.x, y - at.y
                u, v = dx * at.ahead_x + dy * at.ahead_y, dy * at.ahead_x - dx * at.ahead_y
                across, over = 0.5 + (foot.half_width - abs(v)) * per, abs(u) - foot.straight
                along = 1.0 if wheel else 0.5 - over * per
                if across <= 0.0 or along <= 0.0:
                    continue
                height, flat = heights[i, j], min(max(u, -foot.straight), foot.straight)
                under = at.z + flat * at.slope + v * at.tilt
                clear, over = under - height - reach, max(over - 0.5 * spacing, 0.0)
                if clear >= 0.0 and (not wheel or clear * clear >= square - over * over):
                    continue
                size, depth = part_of_point * min(across, 1.0) * min(along, 1.0), height - max(initial[i, j], height)
                for point in range(points):
                    shift = ((point + 0.5) / points - 0.5) * spacing if wheel else 0.0
                    over, drop = max(abs(u + shift) - foot.straight, 0.0), 0.0
                    if wheel:
                        if over >= foot.radius:
                            continue
                        drop = math.sqrt(square - over * over)
                    if count == len(below):
                        continue
                    gap = under - drop - height
                    rows[X, count], rows[Y, count] = (x - x0) * c + (y - y0) * s + shift, (y - y0) * c - (x - x0) * s
                    rows[GAP, count], rows[DEPTH, count], rows[SIZE, count] = gap, gap + depth, size
                    below[count], cells[count, 0], cells[count, 1] = wheel, i, j
                    count += 1
    return count


@kernel(error_model="numpy", allocates=False)
def resist(springs: Springs, count: int, ratio: float) -> None:
    """Sum up the forces of the springs on a rover shifted by ``springs.shift``, and their stiffness.

    Args:
        springs: Their ``sums`` are set: force up, and its moments in pitch and roll; stiffness, six elements.
        count: How many there are.
        ratio: How many times stiffer they are when they do not yield.
    """
    rows, (up, pitch, roll) = springs.rows, (springs.shift[0], springs.shift[1], springs.shift[2])
    f0, f1, f2, k00, k01, k02, k11, k12, k22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(count):
        x, y, size = rows[X, k], rows[Y, k], rows[SIZE, k]
        down = x * pitch - y * roll - up
        elastic, depth = ratio * (down - rows[GAP, k]), down - rows[DEPTH, k]
        force = size * max(min(elastic, depth), 0.0)
        stiffness = size * (0.0 if elastic <= 0.0 else ratio if elastic < depth else 1.0)
        f0, f1, f2 = f0 + force, f1 - force * x, f2 + force * y
        kx, ky = stiffness * x, stiffness * y
        k00, k01, k02 = k00 + stiffness, k01 - kx, k02 + ky
        k11, k12, k22 = k11 + kx * x, k12 - kx * y, k22 + ky * y
    sums = springs.sums
    sums[0], sums[1], sums[2], sums[3], sums[4] = f0, f1, f2, k00, k01
    sums[5], sums[6], sums[7], sums[8] = k02, k11, k12, k22


@kernel(error_model="numpy", allocates=False)
def balance(springs: Springs, count: int, weight: float, ratio: float, least: float) -> None:
    """Find the shift at which springs carry a rover, by Newton's method.

    Args:
        springs: Their ``shift`` is where the search begins, and where it ends.
        count: How many there are; at least 1.
        weight: Of the rover, divided by the stiffness of a cell [m].
        ratio: As of `resist`.
        least: Stiffness against tilting [m^2].
    """
    shift, sums, part, push = springs.shift, springs.sums, 0.0, 0.0
    up, pitch, roll = 0.0, 0.0, 0.0
    for _ in range(ITERATIONS):
        resist(springs, count, ratio)
        now = up * (sums[0] - weight) + pitch * sums[1] + roll * sums[2]  # along the last step
        if now < -OVERSHOT * push:  # springs are stiffer where it ended: go back to where forces balance along it
            back = part * now / (push - now)
            shift[0], shift[1], shift[2] = shift[0] + back * up, shift[1] + back * pitch, shift[2] + back * roll
            resist(springs, count, ratio)
        a, b, c, d = sums[3] + 1e-6, sums[4], sums[5], sums[6] + least
        e, f = sums[7], sums[8] + least
        # Cholesky's decomposition
        l00 = math.sqrt(a)
        l10, l20 = b / l00, c / l00
        l11 = math.sqrt(max(d - l10 * l10, 1e-12))
        l21 = (e - l20 * l10) / l11
        l22 = math.sqrt(max(f - l20 * l20 - l21 * l21, 1e-12))
        y0 = (sums[0] - weight) / l00
        y1 = (sums[1] - l10 * y0) / l11
        y2 = (sums[2] - l20 * y0 - l21 * y1) / l22
        roll = y2 / l22
        pitch = (y1 - l21 * roll) / l11
        up = (y0 - l10 * pitch - l20 * roll) / l00
        push = up * (sums[0] - weight) + pitch * sums[1] + roll * sums[2]
        size = max(abs(up), 0.1 * max(abs(pitch), abs(roll)))
        part = min(1.0, STEP / size) if size > 0.0 else 1.0
        shift[0], shift[1], shift[2] = shift[0] + part * up, shift[1] + part * pitch, shift[2] + part * roll
        if size < PRECISION:
            break


@kernel(error_model="numpy", allocates=False, forceinline=True)
def neighbour(index: int, size: int, wrap: bool) -> int:
    """An index at most one beyond the map as one within it; at an edge that does not wrap, that of the edge."""
    if 0 <= index < size:
        return index
    return (0 if index > 0 else size - 1) if wrap else (size - 1 if index > 0 else 0)


@kernel(error_model="numpy", allocates=False)
def share_out(
    body: Body,
    ground: Ground,
    initial: Array,
    yaw: float,
    springs: Springs,
    count: int,
    weight: float,
    ratio: float,
    seen: Array,
) -> None:
    """Fill in what is seen of each quarter of a rover that springs carry: seen (SEEN,); arguments as of `balance`."""
    (ny, nx), wrap, half, c, s = initial.shape, ground.wrap, 0.5 / ground.spacing, math.cos(yaw), math.sin(yaw)
    rows, (up, pitch, roll) = springs.rows, (springs.shift[0], springs.shift[1], springs.shift[2])
    carried, area = 0.0, ground.spacing * ground.spacing / UNIT
    for k in range(count):
        down = rows[X, k] * pitch - rows[Y, k] * roll - up
        carried += rows[SIZE, k] * max(min(ratio * (down - rows[GAP, k]), down - rows[DEPTH, k]), 0.0)
    per, per_radius = QUARTERS / max(carried, weight), 1.0 / body.radius
    for k in range(SEEN):
        seen[k] = 0.0
    for k in range(count):
        x, y = rows[X, k], rows[Y, k]
        quarter = (0 if x >= 0.0 else 1) + (0 if y >= 0.0 else 2)
        down = x * pitch - y * roll - up
        deep, depth = down - rows[GAP, k], down - rows[DEPTH, k]
        load = per * rows[SIZE, k] * min(ratio * deep, depth) if deep > 0.0 else 0.0
        if not springs.below[k]:
            seen[UNDER + quarter] += load
            seen[NEAR + quarter] += area * rows[SIZE, k] * max(CLOSE + deep, 0.0)
        elif load > 0.0:
            seen[LOAD + quarter] += load
            seen[SHIFT + quarter] += load * per_radius * (x - body.corner if x >= 0.0 else x + body.corner)
            i, j = springs.cells[k, 0], springs.cells[k, 1]
            east, west = neighbour(j + 1, nx, wrap), neighbour(j - 1, nx, wrap)
            north, south = neighbour(i + 1, ny, wrap), neighbour(i - 1, ny, wrap)
            slope_x = (initial[i, east] - initial[i, west]) * (half if wrap or 0 < j < nx - 1 else 2.0 * half)
            slope_y = (initial[north, j] - initial[south, j]) * (half if wrap or 0 < i < ny - 1 else 2.0 * half)
            seen[AHEAD + quarter] += load * (slope_x * c + slope_y * s)
            seen[LEFT + quarter] += load * (slope_y * c - slope_x * s)
            seen[RUT + quarter] += load * (depth - deep)


@kernel(error_model="numpy", allocates=False)
def look(
    body: Body,
    ground: Ground,
    initial: Array,
    position: Array,
    attitude: Array,
    stiffness: float,
    ratio: float,
    reach: float,
    springs: Springs,
    seen: Array,
) -> None:
    """Find how a rover would come to rest where it is, and what carries it.

    Args:
        body: The rover.
        ground: As it is.
        initial: (ny, nx) heights before anything touched it [m].
        position: (3,) of the chassis [m].
        attitude: (3,) its roll, pitch and yaw [rad].
        stiffness: Of springs [Pa/m].
        ratio: How many times stiffer they are when they do not yield.
        reach: As of `gather`.
        springs: The search begins at their ``shift``; their ``rest`` is set.
        seen: (SEEN,) to be filled.
    """
    cell = ground.spacing * ground.spacing
    weight, least = body.weight / (stiffness * cell), LEAST_STIFFNESS * body.corner * body.corner
    count = gather(body, ground, initial, position, attitude, reach, springs)
    if count > 0:
        balance(springs, count, weight, ratio, least)
    share_out(body, ground, initial, attitude[2], springs, count, weight, ratio, seen)
    rest, shift = springs.rest, springs.shift
    rest[0], rest[1], rest[2] = position[2] + shift[0], attitude[1] + shift[1], attitude[0] + shift[2]
    seen[SEEN - 2], seen[SEEN - 1] = -math.tan(rest[1]), math.tan(rest[2])


def spring(soil: Array, weight: float, radius: float, width: float) -> tuple[float, float]:
    """Stiffness of springs [Pa/m], and how many times stiffer they are when they do not yield.

    The springs yield under a wheel with a quarter of the weight as deep as the soil does.

    Args:
        soil: (soil inputs,) as `sandlot.surrogates.terrain.inputs.soil_inputs` gives them.
        weight: Of the rover [N].
        radius: Of its wheels [m].
        width: Of a wheel or belt [m].
    """
    pressure, exponent, elastic = soil[0], soil[1], 10.0 ** soil[SOIL_INPUTS.index("log10 of elastic [Pa/m]")]
    if exponent <= 0.0:
        return LOOSE, RATIO[1]
    low, high = 1e-7, 0.05
    for _ in range(60):
        middle = math.sqrt(low * high)
        stress = 10.0**pressure * (middle / PLATE) ** exponent
        carried = SHAPE * stress * width * math.sqrt(2.0 * radius * middle)
        low, high = (low, middle) if carried > weight / QUARTERS else (middle, high)
    stiffness = min(10.0**pressure * (low / PLATE) ** exponent / low, elastic, STIFFEST)
    return stiffness, min(max(elastic / stiffness, RATIO[0]), RATIO[1])
