"""The springs below a rover that is at rest, and where it lies if they carry it.

Each cell of the ground below a foot is a spring that yields: elastic up to the pressure that it has borne before, and
from there on it yields as undeformed soil does. See `sandlot.surrogates.terrain.contact`.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.soil.ground import LOOSE_DEPTH
from sandlot.physics.soil.stress import REBOUND_SPEED
from sandlot.surrogates.terrain.feet import (
    STANCE,
    Foot,
    Ground,
    Stance,
    columns_below,
    cover_row,
    foot_of,
    make_row,
    node_in,
    rows_below,
    stance_of,
    stand,
)
from sandlot.typing import Array, IntArray

POINTS = 2
"""Below a wheel, a cell is searched at so many points along the wheel."""
CLOSE = 6e-3
"""The underside is near to ground that is closer than this [m]."""
COARSE = 2
"""Of the cells below the underside, one of so many in each direction is searched."""
ITERATIONS, PRECISION, STEP = 12, 5e-5, 0.01
"""Of the search for the rest, at most; and its smallest and largest step [m]."""
FAR_BELOW = 1e3
"""There is no ground beyond an edge: it is as if it was so deep [m]."""
OVERSHOT = 0.1
"""A step after which forces push back by this share of what they pushed before is shortened."""
LANES = 8
"""Springs whose forces are computed together. They lie in blocks: for each row below, as many numbers."""
X, Y, GAP, DEPTH, DRAG, SIZE, SUMS = (LANES * row for row in range(7))
"""Rows of a block: places ahead and to the left of the chassis, heights of the foot above the ground and above
the ground as it was before anything pressed it [m], by how much deeper it would be if the soil did not damp it [m], and
sizes in cells; then nine sums over the blocks before."""
TOTALS = 9
BLOCK = SUMS + TOTALS * LANES


class Body(NamedTuple):
    """A rover's weight and feet, for kernels.

    Attributes:
        feet: (feet,) of FOOT.
        centre: (3,) of mass, in the axes of the chassis [m].
        weight: [N]
        corner: Mean distance of wheels or belts ahead of or behind the middle of the chassis [m].
        radius: Of the wheels [m].
        lever: Largest horizontal distance of a point of a foot from there [m].
    """

    feet: NDArray[np.void]
    centre: Array
    weight: float
    corner: float
    radius: float
    lever: float


class Give(NamedTuple):
    """How ground gives way, for kernels.

    Attributes:
        stiffness: Of undeformed soil, at the depth of a wheel [Pa/m].
        ratio: How many times stiffer it is where it does not yield.
        damping: Of feet that press into it, over the stiffness [s].
        first: How many times stiffer it is at its surface.
        second: With `third`, how that changes with depth; see `yielding` [1/m].
        third: [1/m]
    """

    stiffness: float
    ratio: float
    damping: float
    first: float
    second: float
    third: float


class Springs(NamedTuple):
    """Room for the springs below a rover.

    Attributes:
        stances: (feet,) of STANCE.
        blocks: Of LANES springs each; first those below wheels and belts, and one more at the end.
        cells: (room, 2) row and column of the cell of each that is below a wheel or belt.
        along: (room,) how far ahead of the centre of its wheel or belt each is, in the axes of that [m].
        ends: (feet,) number of the first spring after those of each wheel or belt.
        covers: (POINTS, 3, room) of `make_row`.
        sums: (TOTALS,) forces and stiffness.
        shift: (3,) how far the rover is lifted [m], and turned in pitch and roll [rad], from where springs were found.
        rest: (3,) height [m], pitch and roll [rad] at rest.
    """

    stances: NDArray[np.void]
    blocks: Array
    cells: IntArray
    along: Array
    ends: IntArray
    covers: Array
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
        np.zeros((room // LANES + 2) * BLOCK),
        np.zeros((room, 2), np.int64),
        np.zeros(room),
        np.zeros(len(feet), np.int64),
        np.stack([make_row(feet, spacing)] * POINTS),
        np.zeros(TOTALS),
        np.zeros(3),
        np.zeros(3),
    )


@kernel(error_model="numpy", allocates=False, forceinline=True)
def yielding(give: Give, depth: float) -> tuple[float, float]:
    """Stress where soil yields at a depth [m], and how it grows with that, both over the stiffness [m].

    It is close to Bekker's power law, and has no power.
    """
    deep = max(depth, 0.0)
    per = 1.0 / (1.0 + give.third * deep)
    stress = deep * (give.first + give.second * deep) * per
    return stress, (give.first + 2.0 * give.second * deep - give.third * stress) * per


@kernel(error_model="numpy", allocates=False, forceinline=True)
def spring_at(k: int) -> int:
    """Where the numbers of a spring begin in the blocks."""
    return k // LANES * BLOCK + k % LANES


@kernel(error_model="numpy", allocates=False, forceinline=True)
def carrying(ground: Ground, i: int, j: int) -> tuple[float, float]:
    """Height of the firm soil of a node, and how deep it was pressed [m]; loose soil above it carries nothing.

    Soil that slides away was not pressed; what lies deeper than `LOOSE_DEPTH` is firm.
    """
    height, firm, initial = ground.heights[i, j], ground.firm[i, j], ground.initial[i, j]
    slid = max(firm - height, 0.0)
    surface = max(firm - slid, height - LOOSE_DEPTH)
    return surface, max(initial - slid - surface, 0.0)


@kernel(error_model="numpy", allocates=False, forceinline=True)
def neighbour(index: int, size: int, wrap: bool) -> int:
    """An index at most one beyond the map as one within it; at an edge that does not wrap, that of the edge."""
    if 0 <= index < size:
        return index
    return (0 if index > 0 else size - 1) if wrap else (size - 1 if index > 0 else 0)


@kernel(error_model="numpy", allocates=False)
def gather_wheel(
    foot: Foot,
    at: Stance,
    speed: float,
    damping: float,
    ground: Ground,
    place: Array,
    reach: float,
    springs: Springs,
    count: int,
) -> int:
    """Find the springs below a wheel or belt; returns how many there are then.

    Args:
        foot: The wheel.
        at: Where it is.
        speed: At which it turns [rad/s]. Its front presses into the soil, which damps that; its rear leaves it.
        damping: As of `Give`.
        ground: As it is.
        place: (2 or more,) x and y of the chassis [m].
        reach: Points farther above the ground than this are left out [m].
        springs: To be filled.
        count: How many there are already.
    """
    (ny, nx), spacing, blocks, cells = ground.heights.shape, ground.spacing, springs.blocks, springs.cells
    c, s, covers = at.course_x, at.course_y, springs.covers
    first_row, last_row = rows_below(foot, at, ground, 0.0)
    for row in range(first_row, last_row + 1):
        i, y = node_in(row, ny, ground.wrap), ground.y0 + row * spacing
        first, last = columns_below(foot, at, ground, row, 0.0)
        if i < 0:
            continue
        for point in range(POINTS):
            shift = ((point + 0.5) / POINTS - 0.5) * spacing
            from_x, at_y = ground.x0 + first * spacing + shift * c, y + shift * s
            cover_row(foot, at, from_x, at_y, spacing, last - first + 1, spacing, covers[point])
        for k in range(last - first + 1):
            j = node_in(first + k, nx, ground.wrap)
            # What carries is no higher than the ground.
            if j < 0 or at.z + min(covers[0, 1, k], covers[POINTS - 1, 1, k]) - ground.heights[i, j] >= reach:
                continue
            surface, depth = carrying(ground, i, j)
            for point in range(POINTS):
                part, gap, along = covers[point, 0, k], at.z + covers[point, 1, k] - surface, covers[point, 2, k]
                if gap >= reach or part == 0.0 or count == len(cells):
                    continue
                sinks = speed * math.copysign(max(abs(along) - foot.straight, 0.0), along)
                kept = max(1.0 + min(sinks, 0.0) * (1.0 / REBOUND_SPEED), 0.0)
                if kept > 0.0:
                    p, shift = spring_at(count), ((point + 0.5) / POINTS - 0.5) * spacing
                    dx, dy = ground.x0 + (first + k) * spacing - place[0], y - place[1]
                    blocks[p + X], blocks[p + Y] = dx * c + dy * s + shift, dy * c - dx * s
                    blocks[p + SIZE], blocks[p + DRAG] = kept * kept * part / POINTS, damping * max(sinks, 0.0)
                    blocks[p + GAP], blocks[p + DEPTH] = gap, gap - depth
                    cells[count, 0], cells[count, 1], springs.along[count] = i, j, along
                    count += 1
    return count


@kernel(error_model="numpy", allocates=False)
def gather_box(foot: Foot, at: Stance, ground: Ground, place: Array, reach: float, springs: Springs, count: int) -> int:
    """Find the springs below a box; arguments as of `gather_wheel`."""
    (ny, nx), spacing, blocks = ground.heights.shape, ground.spacing, springs.blocks
    wide, c, s, covers = COARSE * spacing, at.course_x, at.course_y, springs.covers[0]
    first_row, last_row = rows_below(foot, at, ground, wide - spacing)
    for row in range(first_row + first_row % COARSE, last_row + 1, COARSE):
        i, y = node_in(row, ny, ground.wrap), ground.y0 + row * spacing
        first, last = columns_below(foot, at, ground, row, wide - spacing)
        if i < 0:
            continue
        first += first % COARSE
        many = (last - first) // COARSE + 1
        cover_row(foot, at, ground.x0 + first * spacing, y, wide, many, wide, covers)
        for k in range(many):
            j, part = node_in(first + COARSE * k, nx, ground.wrap), covers[0, k]
            under = at.z + covers[1, k]
            if j < 0 or part <= 0.0 or count == len(springs.cells) or under - ground.heights[i, j] >= reach:
                continue  # what carries is no higher than the ground
            surface, depth = carrying(ground, i, j)
            gap = under - surface
            if gap < reach:
                p, dx, dy = spring_at(count), ground.x0 + (first + COARSE * k) * spacing - place[0], y - place[1]
                blocks[p + X], blocks[p + Y] = dx * c + dy * s, dy * c - dx * s
                blocks[p + GAP], blocks[p + DEPTH], blocks[p + DRAG] = gap, gap - depth, 0.0
                blocks[p + SIZE] = COARSE * COARSE * part
                count += 1
    return count


@kernel(error_model="numpy", allocates=False)
def gather(
    body: Body,
    ground: Ground,
    place: Array,
    yaw: float,
    wheels: Array,
    damping: float,
    reach: float,
    springs: Springs,
) -> tuple[int, int]:
    """Find the springs below a rover that is at rest; returns how many are below wheels or belts, and how many in all.

    Args:
        body: The rover.
        ground: As it is.
        place: (2 or more,) x and y of the chassis [m].
        yaw: [rad]
        wheels: (2,) speeds of the left and the right wheels [rad/s].
        damping: As of `Give`.
        reach: Points farther above the ground than this are left out [m].
        springs: To be filled, for their ``rest``.
    """
    feet, stances, rest, count, below = body.feet, springs.stances, springs.rest, 0, 0
    stand(feet, (place[0], place[1], rest[0]), (rest[2], rest[1], yaw), stances)
    for k in range(len(feet)):
        if feet[k]["radius"] > 0.0:
            foot, at = foot_of(feet[k]), stance_of(stances[k])
            speed = wheels[0] if feet[k]["y"] > 0.0 else wheels[1]
            below = count = gather_wheel(foot, at, speed, damping, ground, place, reach, springs, count)
        springs.ends[k] = count
    for k in range(len(feet)):
        if feet[k]["radius"] == 0.0:
            foot, at = foot_of(feet[k]), stance_of(stances[k])
            count = gather_box(foot, at, ground, place, reach + CLOSE, springs, count)
    for k in range(count, -(-count // LANES) * LANES):  # the last block is filled up with springs that push nothing
        p = spring_at(k)
        for row in range(X, SUMS, LANES):
            springs.blocks[p + row] = 0.0
    return below, count


@kernel(error_model="numpy", allocates=False)
def resist(springs: Springs, count: int, give: Give) -> None:
    """Sum up the forces of the springs on a rover shifted by ``springs.shift``, and their stiffness.

    Args:
        springs: Their ``sums`` are set: force up, and its moments in pitch and roll about the middle of the chassis;
            stiffness, six elements.
        count: How many there are.
        give: How the ground gives way.
    """
    up, pitch, roll, last = springs.shift[0], springs.shift[1], springs.shift[2], -(-count // LANES)
    ratio = give.ratio
    springs.blocks[SUMS:BLOCK] = 0.0
    for block in range(last):
        # Constant places in a slice tell the compiler that nothing overlaps, so that it computes all lanes at once.
        part = springs.blocks[block * BLOCK : (block + 2) * BLOCK]
        for i in range(LANES):
            x, y, size = part[X + i], part[Y + i], part[SIZE + i]
            down = x * pitch - y * roll - up
            elastic, (stress, slope) = ratio * (down - part[GAP + i]), yielding(give, down - part[DEPTH + i])
            force = size * (max(min(elastic, stress), 0.0) + max(min(elastic, part[DRAG + i]), 0.0))
            pushed = ratio if elastic < part[DRAG + i] else 0.0
            stiffness = size * (0.0 if elastic <= 0.0 else pushed + (ratio if elastic < stress else slope))
            kx, ky = stiffness * x, stiffness * y
            part[BLOCK + SUMS + i] = part[SUMS + i] + force
            part[BLOCK + SUMS + LANES + i] = part[SUMS + LANES + i] - force * x
            part[BLOCK + SUMS + 2 * LANES + i] = part[SUMS + 2 * LANES + i] + force * y
            part[BLOCK + SUMS + 3 * LANES + i] = part[SUMS + 3 * LANES + i] + stiffness
            part[BLOCK + SUMS + 4 * LANES + i] = part[SUMS + 4 * LANES + i] - kx
            part[BLOCK + SUMS + 5 * LANES + i] = part[SUMS + 5 * LANES + i] + ky
            part[BLOCK + SUMS + 6 * LANES + i] = part[SUMS + 6 * LANES + i] + kx * x
            part[BLOCK + SUMS + 7 * LANES + i] = part[SUMS + 7 * LANES + i] - kx * y
            part[BLOCK + SUMS + 8 * LANES + i] = part[SUMS + 8 * LANES + i] + ky * y
    found = springs.blocks[last * BLOCK + SUMS : (last + 1) * BLOCK]
    for m in range(TOTALS):
        total = 0.0
        for i in range(LANES):
            total += found[m * LANES + i]
        springs.sums[m] = total


@kernel(error_model="numpy", allocates=False)
def balance(
    springs: Springs, count: int, weight: float, centre: tuple[float, float], give: Give, least: float
) -> float:
    """Find the shift at which springs carry a rover, by Newton's method; returns the size of the last step [m].

    Args:
        springs: Their ``shift`` is where the search begins, and where it ends.
        count: How many there are; at least 1.
        weight: Of the rover, divided by the stiffness of a cell [m].
        centre: Of mass, ahead and to the left of the middle of the chassis [m].
        give: How the ground gives way.
        least: Stiffness against tilting [m^2].
    """
    shift, sums, part, push = springs.shift, springs.sums, 0.0, 0.0
    up, pitch, roll, size = 0.0, 0.0, 0.0, 0.0
    lift, turn, lean = weight, -weight * centre[0], weight * centre[1]
    for _ in range(ITERATIONS):
        resist(springs, count, give)
        now = up * (sums[0] - lift) + pitch * (sums[1] - turn) + roll * (sums[2] - lean)  # along the last step
        if now < -OVERSHOT * push:  # springs are stiffer where it ended: go back to where forces balance along it
            back = part * now / (push - now)
            shift[0], shift[1], shift[2] = shift[0] + back * up, shift[1] + back * pitch, shift[2] + back * roll
            resist(springs, count, give)
        a, b, c, d = sums[3] + 1e-6, sums[4], sums[5], sums[6] + least
        e, f = sums[7], sums[8] + least
        # Cholesky's decomposition
        l00 = math.sqrt(a)
        l10, l20 = b / l00, c / l00
        l11 = math.sqrt(max(d - l10 * l10, 1e-12))
        l21 = (e - l20 * l10) / l11
        l22 = math.sqrt(max(f - l20 * l20 - l21 * l21, 1e-12))
        y0 = (sums[0] - lift) / l00
        y1 = (sums[1] - turn - l10 * y0) / l11
        y2 = (sums[2] - lean - l20 * y0 - l21 * y1) / l22
        roll = y2 / l22
        pitch = (y1 - l21 * roll) / l11
        up = (y0 - l10 * pitch - l20 * roll) / l00
        push = up * (sums[0] - lift) + pitch * (sums[1] - turn) + roll * (sums[2] - lean)
        size = max(abs(up), 0.1 * max(abs(pitch), abs(roll)))
        part = min(1.0, STEP / size) if size > 0.0 else 1.0
        shift[0], shift[1], shift[2] = shift[0] + part * up, shift[1] + part * pitch, shift[2] + part * roll
        if size < PRECISION:
            break
    return size
