"""How feet change a height map: they press it down, displaced soil rises beside them, and steep slopes slide.

Firm soil below a foot springs back by what is elastic; loose soil never stays above its underside. All soil that a foot
displaces is added to the nodes around it, so that the volume is kept by construction. Which share of it goes where is
fitted to recordings (`Spreading`).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.surrogates.terrain.feet import (
    MOST_FEET,
    Foot,
    Ground,
    Stance,
    columns_below,
    cover_row,
    extents,
    foot_of,
    node_in,
    rows_below,
    stance_of,
)
from sandlot.surrogates.terrain.springs import Give, yielding
from sandlot.typing import Array

CONTACT = 1e-4
"""A foot that is above the ground by no more than this touches it [m]."""
DIAGONAL = math.sqrt(2.0)
STEEP = 1.01
"""Slopes that exceed the angle of repose by this factor slide."""
MAX_FEET, TOUCHED = 2 * MOST_FEET, MOST_FEET
"""Marks of a frame. A foot that is above a node in its rut leaves its number; one that touches it, its number and the
second one."""
MARGIN = 3
"""Slopes are checked up to this many nodes beyond the feet."""


class Spreading(NamedTuple):
    """Where displaced soil goes.

    Attributes:
        ahead: Share that rises ahead of and behind a moving foot, beside that at its sides.
        slow: Feet slower than about this displace soil equally in all directions [m/s].
        shelter: A foot goes on touching a node as long as it is no higher above it than this [m].
        repose: Tangent of the angle of repose.
    """

    ahead: float
    slow: float
    shelter: float
    repose: float


@kernel(error_model="numpy", allocates=False)
def pressed(ground: Ground, i: int, j: int, under: float, give: Give) -> float:
    """Let the firm soil of a node yield to a foot; returns its height [m].

    Args:
        ground: Changed in place.
        i: Row of the node.
        j: Its column.
        under: Height of the underside of the foot there [m].
        give: How soil gives way; it springs back by what is elastic.
    """
    stress, _ = yielding(give, ground.initial[i, j] - under)
    left = under + stress / give.ratio
    ground.firm[i, j] = min(ground.firm[i, j], left)
    return ground.firm[i, j]


@kernel(error_model="numpy", allocates=False)
def stand_on(
    ground: Ground, feet: NDArray[np.void], stances: NDArray[np.void], give: Give, frame: int, covers: Array
) -> None:
    """Note where feet stand as `press` does, on ground whose heights have changed already; see `imprint`."""
    (ny, nx), wrap, spacing = ground.heights.shape, ground.wrap, ground.spacing
    for k in range(len(feet)):
        foot, stance = foot_of(feet[k]), stance_of(stances[k])
        first_row, last_row = rows_below(foot, stance, ground, 0.0)
        for row in range(first_row, last_row + 1):
            i, y = node_in(row, ny, wrap), ground.y0 + row * spacing
            first, last = columns_below(foot, stance, ground, row, 0.0)
            cover_row(foot, stance, ground.x0 + first * spacing, y, spacing, last - first + 1, spacing, covers)
            for column in range(first, last + 1):
                j, part = node_in(column, nx, wrap), covers[0, column - first]
                if i < 0 or j < 0 or part <= 0.0:
                    continue
                under = stance.z + covers[1, column - first]
                if under < ground.heights[i, j] + CONTACT:
                    firm = pressed(ground, i, j, under, give)
                    ground.marks[i, j], ground.covered[i, j] = frame * MAX_FEET + TOUCHED + k, part
                    ground.surface[i, j] = min(max(under, firm), ground.heights[i, j])


@kernel(error_model="numpy", allocates=False)
def press(
    ground: Ground,
    foot: Foot,
    stance: Stance,
    shelter: float,
    give: Give,
    mark: int,
    since: int,
    covers: Array,
    pushed: Array,
) -> tuple[float, float, float, int]:
    """Press the ground down under a foot.

    A cell of which the foot covers a part has the mean height of that part and of the soil beside it. As the foot
    covers more of it, the soil beside it is pushed away.

    Args:
        ground: Changed in place.
        foot: Its size.
        stance: Where it is.
        shelter: As of `Spreading`.
        give: As of `pressed`.
        mark: Number that the nodes below the foot are marked with.
        since: Nodes with at least this mark were below a foot when the rover last changed the ground.
        covers: As of `imprint`.
        pushed: (n, 3) row, column and amount [m] of soil that its sides push away, to be filled.

    Returns:
        The soil that it displaces downwards, as a height of one cell [m], its centre x, y [m], and how many of
        ``pushed`` are filled.
    """
    heights, (ny, nx), spacing, count = ground.heights, ground.heights.shape, ground.spacing, 0
    first_row, last_row = rows_below(foot, stance, ground, 0.0)
    volume, x_sum, y_sum = 0.0, 0.0, 0.0
    for row in range(first_row, last_row + 1):
        i, y = node_in(row, ny, ground.wrap), ground.y0 + row * spacing
        first, last = columns_below(foot, stance, ground, row, 0.0)
        cover_row(foot, stance, ground.x0 + first * spacing, y, spacing, last - first + 1, spacing, covers)
        for column in range(first, last + 1):
            j, part = node_in(column, nx, ground.wrap), covers[0, column - first]
            if i < 0 or j < 0 or part <= 0.0:
                continue
            x, under = ground.x0 + column * spacing, stance.z + covers[1, column - first]
            height, by, before = heights[i, j], ground.marks[i, j], 0.0
            surface, now_by = height, mark // MAX_FEET * MAX_FEET + TOUCHED
            if by >= since and by % MAX_FEET >= TOUCHED:
                before, surface = ground.covered[i, j], ground.surface[i, j]
            if by >= now_by and under >= surface:
                continue  # a lower foot touches it
            if under > surface + (shelter if before > 0.0 else 0.0):
                if under < ground.initial[i, j] - max(ground.firm[i, j] - height, 0.0):
                    ground.marks[i, j] = mark - TOUCHED
                continue
            now = max(min(surface, under), pressed(ground, i, j, under, give))
            now = min(now, surface)
            beside = (height - before * surface) / max(1.0 - before, 1e-9)
            down, side = min(part, before) * (surface - now), max(part - before, 0.0) * max(beside - now, 0.0)
            ground.marks[i, j], ground.covered[i, j], ground.surface[i, j] = mark, part, now
            heights[i, j] = height - down - side
            if side > 0.0 and count < len(pushed):
                pushed[count, 0], pushed[count, 1], pushed[count, 2] = row, column, side
                count += 1
            else:
                down += side
            volume, x_sum, y_sum = volume + down, x_sum + down * x, y_sum + down * y
    return volume, x_sum, y_sum, count


@kernel(error_model="numpy", allocates=False)
def push(ground: Ground, least: int, pushed: Array) -> tuple[float, float, float]:
    """Add soil that was pushed aside to the neighbours of its nodes that are not below a foot.

    Args:
        ground: Changed in place.
        least: Nodes with at least this mark are below a foot.
        pushed: (n, 3) as of `press`.

    Returns:
        As `press`: soil that has no such neighbour.
    """
    heights, marks, (ny, nx) = ground.heights, ground.marks, ground.heights.shape
    volume, x_sum, y_sum = 0.0, 0.0, 0.0
    for k in range(len(pushed)):
        row, column, amount, free = int(pushed[k, 0]), int(pushed[k, 1]), pushed[k, 2], 0
        for adds in range(2):  # counts the neighbours first, then adds to them
            for m in range(4):
                i = node_in(row + (m == 0) - (m == 1), ny, ground.wrap)
                j = node_in(column + (m == 2) - (m == 3), nx, ground.wrap)
                if i >= 0 and j >= 0 and marks[i, j] < least:
                    if adds:
                        heights[i, j] += amount / free
                    else:
                        free += 1
        if free == 0:
            volume += amount
            x_sum += amount * (ground.x0 + column * ground.spacing)
            y_sum += amount * (ground.y0 + row * ground.spacing)
    return volume, x_sum, y_sum


@kernel(error_model="numpy", allocates=False)
def rise(
    ground: Ground,
    foot: Foot,
    before: Stance,
    after: Stance,
    interval: float,
    spreading: Spreading,
    mark: int,
    least: int,
    volume: float,
    centre: tuple[float, float],
    rim: Array,
) -> None:
    """Add displaced soil to the rim of a foot, more where it is nearer: the nodes beside those below the foot.

    Args:
        ground: Changed in place.
        foot: Its size.
        before: Where it was.
        after: Where it is now.
        interval: Between the two [s].
        spreading: Where soil goes.
        mark: Of the nodes below this foot.
        least: Nodes with at least this mark are below some foot.
        volume: As a height of one cell [m].
        centre: x and y of the displaced soil [m].
        rim: (n, 3) scratch.
    """
    heights, marks, (ny, nx), wrap = ground.heights, ground.marks, ground.heights.shape, ground.wrap
    first_row, last_row = rows_below(foot, after, ground, ground.spacing)
    vx, vy = (after.x - before.x) / interval, (after.y - before.y) / interval
    aside = (1.0 - spreading.ahead) / (vx * vx + vy * vy + spreading.slow * spreading.slow)
    row, column = (centre[1] - ground.y0) / ground.spacing, (centre[0] - ground.x0) / ground.spacing
    total, count = 0.0, 0
    for r in range(first_row, last_row + 1):
        i, south, north = node_in(r, ny, wrap), node_in(r - 1, ny, wrap), node_in(r + 1, ny, wrap)
        first_column, last_column = columns_below(foot, after, ground, r, ground.spacing)
        for c in range(first_column, last_column + 1):
            j, west, east = node_in(c, nx, wrap), node_in(c - 1, nx, wrap), node_in(c + 1, nx, wrap)
            if i < 0 or j < 0 or south < 0 or north < 0 or west < 0 or east < 0 or marks[i, j] >= least:
                continue
            s, n = int(marks[south, j] == mark), int(marks[north, j] == mark)
            w, e = int(marks[i, west] == mark), int(marks[i, east] == mark)
            if s + n + w + e == 0 or count == len(rim):
                continue
            sw, se = int(marks[south, west] == mark), int(marks[south, east] == mark)
            nw, ne = int(marks[north, west] == mark), int(marks[north, east] == mark)
            out_x, out_y = float(sw + w + nw - se - e - ne), float(sw + s + se - nw - n - ne)
            ahead, squared = out_x * vx + out_y * vy, max(out_x * out_x + out_y * out_y, 1.0)
            dr, dc = r - row, c - column
            share = (squared - aside * ahead * ahead) / (squared * (dr * dr + dc * dc + 1.0))
            rim[count, 0], rim[count, 1], rim[count, 2] = i, j, share
            total, count = total + share, count + 1
    for k in range(count):
        heights[int(rim[k, 0]), int(rim[k, 1])] += volume / total * rim[k, 2]
    if count == 0:  # the soil stays where it was
        i, j = node_in(math.floor(row + 0.5), ny, wrap), node_in(math.floor(column + 0.5), nx, wrap)
        heights[max(i, 0), max(j, 0)] += volume


@kernel(error_model="numpy", allocates=False)
def slide_from(
    ground: Ground, i: int, j: int, above: int, west: int, east: int, straight: float, diagonal: float, least: int
) -> None:
    """Let soil slide between a node and four of its neighbours, half of the excess each.

    Args:
        ground: Changed in place.
        i: Row of the node.
        j: Its column.
        above: The next row; -1 beyond the edge, like the other two.
        west: The column before.
        east: The next column.
        straight: Fall to the next node that is stable [m].
        diagonal: The same to a diagonal one [m].
        least: As of `slide`.
    """
    heights, marks = ground.heights, ground.marks
    if marks[i, j] >= least:
        return
    for m in range(4):
        k, h = i if m == 0 else above, j if m == 1 else west if m == 3 else east
        if k < 0 or h < 0:
            continue
        stable, fall = straight if m < 2 else diagonal, heights[i, j] - heights[k, h]
        if abs(fall) > STEEP * stable and marks[k, h] < least:
            amount = math.copysign(0.5 * (abs(fall) - stable), fall)
            heights[i, j] -= amount
            heights[k, h] += amount


@kernel(error_model="numpy", allocates=False)
def around(feet: NDArray[np.void], stances: NDArray[np.void]) -> tuple[Foot, Stance]:
    """A flat rectangle along the course of a rover that holds all its feet, and where it is."""
    c, s = stances[0]["course_x"], stances[0]["course_y"]
    rear, front, right, left = math.inf, -math.inf, math.inf, -math.inf
    for k in range(len(feet)):
        x, y = stances[k]["x"], stances[k]["y"]
        long, wide = extents(foot_of(feet[k]), stance_of(stances[k]))
        along, across = c * x + s * y, c * y - s * x
        rear, front = min(rear, along - long), max(front, along + long)
        right, left = min(right, across - wide), max(left, across + wide)
    along, across = 0.5 * (rear + front), 0.5 * (right + left)
    x, y = c * along - s * across, s * along + c * across
    flat = Stance(x, y, 0.0, c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0, c, s)
    return Foot(0.5 * (front - rear), 0.0, 0.5 * (left - right)), flat


@kernel(error_model="numpy", allocates=False)
def slide(ground: Ground, foot: Foot, stance: Stance, repose: float, least: int) -> None:
    """Let soil slide down slopes around a rover that are steeper than the angle of repose.

    Args:
        ground: Changed in place.
        foot: As of `around`.
        stance: Where it is.
        repose: Tangent of the angle of repose.
        least: Nodes with at least this mark are below a foot, and hold their soil.
    """
    heights, (ny, nx), wrap, margin = ground.heights, ground.heights.shape, ground.wrap, MARGIN * ground.spacing
    straight, diagonal = repose * ground.spacing, DIAGONAL * repose * ground.spacing
    first_row, last_row = rows_below(foot, stance, ground, margin)
    for row in range(first_row, last_row + 1):
        i, above = node_in(row, ny, wrap), node_in(row + 1, ny, wrap)
        first, last = columns_below(foot, stance, ground, row, margin)
        if i >= 0 and above >= 0 and first > 0 and last < nx - 1:  # most nodes have no steep slope
            here, there = heights[i], heights[above]
            for j in range(first, last + 1):
                height = here[j]
                steep = abs(height - here[j + 1]) > STEEP * straight
                steep |= abs(height - there[j]) > STEEP * straight
                steep |= abs(height - there[j + 1]) > STEEP * diagonal
                steep |= abs(height - there[j - 1]) > STEEP * diagonal
                if steep:
                    slide_from(ground, i, j, above, j - 1, j + 1, straight, diagonal, least)
        elif i >= 0:
            for column in range(first, last + 1):
                j, west, east = node_in(column, nx, wrap), node_in(column - 1, nx, wrap), node_in(column + 1, nx, wrap)
                if j >= 0:
                    slide_from(ground, i, j, above, west, east, straight, diagonal, least)


@kernel(error_model="numpy", allocates=False)
def imprint(
    ground: Ground,
    feet: NDArray[np.void],
    before: NDArray[np.void],
    after: NDArray[np.void],
    interval: float,
    spreading: Spreading,
    give: Give,
    frame: int,
    since: int,
    covers: Array,
    work: Array,
    pushed: Array,
) -> None:
    """Change the ground under feet that moved.

    Args:
        ground: Changed in place.
        feet: (feet,) of FOOT.
        before: (feet,) where they were, of STANCE.
        after: (feet,) where they are, of STANCE.
        interval: Between the two [s].
        spreading: Where soil goes.
        give: As of `pressed`.
        frame: Number of the frame, larger than any before on this ground, from 1; nodes below feet get at least
            ``frame * MAX_FEET`` as their mark.
        since: As of `press`.
        covers: Scratch, of `make_row`.
        work: (feet, 3) scratch.
        pushed: (feet, n, 3) scratch.
    """
    least, displaced = frame * MAX_FEET, False
    for k in range(len(feet)):
        foot, here = foot_of(feet[k]), stance_of(after[k])
        volume, x_sum, y_sum, count = press(
            ground, foot, here, spreading.shelter, give, least + TOUCHED + k, since, covers, pushed[k, :-1]
        )
        work[k, 0], work[k, 1], work[k, 2], pushed[k, -1, 0] = volume, x_sum, y_sum, count
    for k in range(len(feet)):
        volume, x_sum, y_sum = push(ground, least, pushed[k, : int(pushed[k, -1, 0])])
        volume, x_sum, y_sum = volume + work[k, 0], x_sum + work[k, 1], y_sum + work[k, 2]
        displaced |= volume + pushed[k, -1, 0] > 0.0
        if volume > 0.0:
            foot, there, here = foot_of(feet[k]), stance_of(before[k]), stance_of(after[k])
            centre = (x_sum / volume, y_sum / volume)
            rise(ground, foot, there, here, interval, spreading, least + TOUCHED + k, least, volume, centre, pushed[k])
    if displaced:
        slide(ground, *around(feet, after), spreading.repose, least)
