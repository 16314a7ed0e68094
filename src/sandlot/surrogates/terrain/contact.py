"""How a rover would lie on the ground where it is, and how much of its weight each part of it would carry.

A rover that turns on uneven ground swings about the wheels that carry it, and one whose underside drags in soft soil
is held by it. So the nets of a learned rover get these loads. Each cell of the ground below a foot is a spring that
yields: elastic up to the pressure that it has borne before, and from there on as stiff as undeformed soil. Heights,
pitch and roll at which the springs carry the weight are where the rover would come to rest; how far it really is from
there is a state that the nets predict.
"""

import math

from sandlot.kernels import kernel
from sandlot.surrogates.terrain.feet import Ground
from sandlot.surrogates.terrain.inputs import DEPTH as PLATE
from sandlot.surrogates.terrain.inputs import SOIL_INPUTS
from sandlot.surrogates.terrain.springs import (
    CLOSE,
    DEPTH,
    DRAG,
    GAP,
    PRECISION,
    SIZE,
    Body,
    Give,
    Springs,
    X,
    Y,
    balance,
    gather,
    spring_at,
)
from sandlot.typing import Array

QUARTERS = 4
"""Front left, rear left, front right, rear right."""
LOAD, SHIFT, AHEAD, LEFT, RUT, UNDER, NEAR = (k * QUARTERS for k in range(7))
"""What is seen of each quarter of a rover: the share of the weight that its wheels or belts carry, times 4; where on
them it acts, slopes of the untouched ground there, ahead and to the left, and how deep it was pressed, each multiplied
by that share; the share that the underside carries, times 4; and how near the underside is to the ground: the sum, over
parts of 1 cm^2, of how much closer than `CLOSE` they are [m]."""
SEEN = 7 * QUARTERS + 2
"""Then come the slopes of the rover at rest, ahead and to the left."""
REACH, TRUSTED, FAR = 2e-3, 6e-3, 0.8
"""Points farther above the ground than this are left out at first, and searched for anew where the rover rests if it
has moved by more than that. If it would move by more than the second, it is put back, and only points that are farther
than the third are left out [m]."""
UNIT = 1e-4
"""[m^2]"""
TILT = 1.2
"""Largest pitch and roll of a rover on its wheels [rad]."""
SEARCHES = 16
"""For springs and the rest on them, at most."""
LEAST_STIFFNESS = 1e-3
"""Against tilting, of a rover that stands on a line, as a share of that of one cell below each foot."""
STIFFEST, RATIO = 4e7, (1.5, 30.0)
"""Stiffness of springs [Pa/m], and how many times stiffer they are when they do not yield, are limited."""
SHAPE = 0.67
"""Mean depth of a wheel's round underside, as a share of the largest."""
LOOSE = 1e6
"""Stiffness of ground that is not soil [Pa/m]."""


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
    yaw: float,
    springs: Springs,
    wheels: int,
    count: int,
    weight: float,
    ratio: float,
    seen: Array,
) -> None:
    """Fill in what is seen of each quarter of a rover that springs carry: seen (SEEN,).

    ``wheels`` and ``count`` are how many springs there are, as of `gather`; other arguments are as of `balance`.
    """
    initial, wrap, half, c, s = ground.initial, ground.wrap, 0.5 / ground.spacing, math.cos(yaw), math.sin(yaw)
    ny, nx = initial.shape
    blocks, (up, pitch, roll) = springs.blocks, (springs.shift[0], springs.shift[1], springs.shift[2])
    carried, area, per_radius = 0.0, ground.spacing * ground.spacing / UNIT, 1.0 / body.radius
    for k in range(SEEN):
        seen[k] = 0.0
    for k in range(count):
        p = spring_at(k)
        x, y, size = blocks[p + X], blocks[p + Y], blocks[p + SIZE]
        quarter = (0 if x >= 0.0 else 1) + (0 if y >= 0.0 else 2)
        down = x * pitch - y * roll - up
        deep, depth = down - blocks[p + GAP], down - blocks[p + DEPTH]
        elastic = ratio * deep
        load = size * (max(min(elastic, depth), 0.0) + max(min(elastic, blocks[p + DRAG]), 0.0))
        carried += load
        if k >= wheels:
            seen[UNDER + quarter] += load
            seen[NEAR + quarter] += area * size * max(CLOSE + deep, 0.0)
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
    per = QUARTERS / max(carried, weight)
    for k in range(NEAR):
        seen[k] *= per


@kernel(error_model="numpy", allocates=False)
def look(
    body: Body,
    ground: Ground,
    place: Array,
    yaw: float,
    wheels: Array,
    give: Give,
    springs: Springs,
    seen: Array,
) -> None:
    """Find how a rover would come to rest where it is, and what carries it.

    Args:
        body: The rover.
        ground: As it is.
        place: (2 or more,) x and y of the chassis [m].
        yaw: [rad]
        wheels: (2,) speeds of the left and the right wheels [rad/s].
        give: How the ground gives way.
        springs: Their ``rest`` is where the search begins, and where it ends.
        seen: (SEEN,) to be filled.
    """
    cell, rest, shift = ground.spacing * ground.spacing, springs.rest, springs.shift
    weight, least = body.weight / (give.stiffness * cell), LEAST_STIFFNESS * body.corner * body.corner
    reach, below, count, lever = REACH, 0, 0, body.lever * body.lever
    up, pitch, roll, part = 0.0, 0.0, 0.0, 1.0  # the last move, and how much of a move is made
    for _ in range(SEARCHES):
        sr, cr, sp, cp = math.sin(rest[2]), math.cos(rest[2]), math.sin(rest[1]), math.cos(rest[1])
        x, y, z = body.centre[0], body.centre[1], body.centre[2]
        centre = (cp * x + sp * (sr * y + cr * z), cr * y - sr * z)
        below, count = gather(body, ground, place, yaw, wheels, give.damping, reach, springs)
        shift[0] = shift[1] = shift[2] = 0.0
        left = balance(springs, count, weight, centre, give.ratio, least) if count > 0 else FAR
        moved = abs(shift[0]) + body.lever * math.sqrt(shift[1] * shift[1] + shift[2] * shift[2])
        if reach < FAR and not (count > 0 and moved < TRUSTED):
            reach = FAR
            continue
        if count == 0:
            break
        settled = left < PRECISION and moved < REACH
        if not settled and up * shift[0] + lever * (pitch * shift[1] + roll * shift[2]) < 0.0:
            part *= 0.5  # it would come back again and again
        for m in range(3):
            shift[m] *= 1.0 if settled else part
        up, pitch, roll = shift[0], shift[1], shift[2]
        rest[0] += up
        rest[1], rest[2] = min(max(rest[1] + pitch, -TILT), TILT), min(max(rest[2] + roll, -TILT), TILT)
        if settled:
            break
    share_out(body, ground, yaw, springs, below, count, weight, give.ratio, seen)
    seen[SEEN - 2], seen[SEEN - 1] = -math.tan(rest[1]), math.tan(rest[2])


def give_of(soil: Array, weight: float, radius: float, width: float) -> Give:
    """How a soil gives way below a rover.

    Springs yield under a wheel with a quarter of the weight as deep as the soil does.

    Args:
        soil: (soil inputs,) as `sandlot.surrogates.terrain.inputs.soil_inputs` gives them.
        weight: Of the rover [N].
        radius: Of its wheels [m].
        width: Of a wheel or belt [m].
    """
    pressure, exponent, elastic = soil[0], soil[1], 10.0 ** soil[SOIL_INPUTS.index("log10 of elastic [Pa/m]")]
    damping = float(soil[SOIL_INPUTS.index("damping [Pa*s/m]")])
    if exponent <= 0.0:
        return Give(LOOSE, RATIO[1], damping / LOOSE)
    low, high = 1e-7, 0.05
    for _ in range(60):
        middle = math.sqrt(low * high)
        stress = 10.0**pressure * (middle / PLATE) ** exponent
        carried = SHAPE * stress * width * math.sqrt(2.0 * radius * middle)
        low, high = (low, middle) if carried > weight / QUARTERS else (middle, high)
    stiffness = min(10.0**pressure * (low / PLATE) ** exponent / low, elastic, STIFFEST)
    return Give(stiffness, min(max(elastic / stiffness, RATIO[0]), RATIO[1]), damping / stiffness)
