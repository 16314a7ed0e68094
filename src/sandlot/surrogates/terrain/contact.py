"""How a rover would lie on the ground where it is, and how much of its weight each part of it would carry.

A rover that turns on uneven ground swings about the wheels that carry it, and one whose underside drags in soft soil
is held by it. So the nets of a learned rover get these loads. Each cell of the ground below a foot is a spring that
yields: elastic up to the pressure that it has borne before, and from there on as undeformed soil does. Heights, pitch
and roll at which the springs carry the weight are where the rover would come to rest; how far it really is from there
is a state that the nets predict.
"""

import math

import numpy as np

from sandlot.kernels import kernel
from sandlot.surrogates.terrain.feet import Foot, Ground, foot_of
from sandlot.surrogates.terrain.inputs import DEPTH as PLATE
from sandlot.surrogates.terrain.inputs import SOIL_INPUTS, wheel_depth
from sandlot.surrogates.terrain.shape import Shape
from sandlot.surrogates.terrain.springs import (
    CLOSE,
    COARSE,
    DEPTH,
    DRAG,
    GAP,
    POINTS,
    PRECISION,
    SIZE,
    Body,
    Give,
    Springs,
    X,
    Y,
    balance,
    gather,
    neighbour,
    spring_at,
    yielding,
)
from sandlot.typing import Array

QUARTERS = 4
"""Front left, rear left, front right, rear right."""
LOAD, SHIFT, AHEAD, LEFT, RUT, UNDER, NEAR, ENTRY, LEVER, DRAGGED = (k * QUARTERS for k in range(10))
"""What is seen of each quarter of a rover: the share of the weight that its wheels or belts carry, times 4; where on
them it acts, slopes of the untouched ground there, ahead and to the left, and how deep it was pressed, each multiplied
by that share; the share that the underside carries, times 4; how near the underside is to the ground: the sum, over
parts of 1 cm^2, of how much closer than `CLOSE` they are [m]; how far the wheels or belts have gone over the soil that
carries them, on the mean by load, and how far that soil was below their centres on the mean of that distance; and how
far the underside has gone over the soil that carries it, on the mean by load [m]."""
SEEN = 10 * QUARTERS + 2
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
LOOSE = 1e6
"""Stiffness of ground that is not soil [Pa/m]."""
BEND = 0.03, 2.0
"""Springs follow Bekker's power law between these shares of the depth of a wheel."""
LEAST_ENTRY = 1e-3
"""Wheels have gone at least so far over the soil that carries them [m]."""


@kernel(error_model="numpy", allocates=False, forceinline=True)
def rolled(foot: Foot, along: float) -> float:
    """Integral of how far the underside of a foot is below its centre, from there to a place along it [m^2].

    It is close to that of a circle, and has neither a root nor an arc sine.
    """
    over = min(max(abs(along) - foot.straight, 0.0), foot.radius)
    square = over * over / (foot.radius * foot.radius)
    lost = square * (1.0 / 6.0 + square * (1.0 / 40.0 + square * (1.0 / 112.0 + square * (5.0 / 1152.0))))
    return math.copysign(foot.radius * (min(abs(along), foot.straight) + over * (1.0 - lost)), along)


@kernel(error_model="numpy", allocates=False)
def share_out_wheel(
    body: Body,
    foot: Foot,
    ground: Ground,
    yaw: float,
    side: int,
    speed: float,
    springs: Springs,
    first: int,
    last: int,
    give: Give,
    seen: Array,
) -> float:
    """Add one wheel or belt to what is seen (SEEN,); returns what it carries [m], as a depth of one cell's soil.

    Its springs are numbers ``first`` to ``last - 1``. ``side`` is 0 on the left and 1 on the right, and ``speed`` how
    fast it turns [rad/s].
    """
    initial, wrap, half, c, s = ground.initial, ground.wrap, 0.5 / ground.spacing, math.cos(yaw), math.sin(yaw)
    (ny, nx), per_radius, sign = initial.shape, 1.0 / body.radius, 1.0 if speed >= 0.0 else -1.0
    blocks, (up, pitch, roll) = springs.blocks, (springs.shift[0], springs.shift[1], springs.shift[2])
    ahead, front, rear, left_or_right = -FAR, 0.0, 0.0, 2 * side
    for k in range(first, last):
        p = spring_at(k)
        x, y, size = blocks[p + X], blocks[p + Y], blocks[p + SIZE]
        down = x * pitch - y * roll - up
        deep, depth = down - blocks[p + GAP], down - blocks[p + DEPTH]
        if deep <= 0.0:
            continue
        elastic, (stress, _) = give.ratio * deep, yielding(give, depth)
        load = size * (min(elastic, stress) + min(elastic, blocks[p + DRAG]))
        quarter = left_or_right + (0 if x >= 0.0 else 1)
        front, rear = (front + load, rear) if x >= 0.0 else (front, rear + load)
        ahead = max(ahead, sign * springs.along[k])
        seen[LOAD + quarter] += load
        seen[SHIFT + quarter] += load * per_radius * (x - body.corner if x >= 0.0 else x + body.corner)
        seen[ENTRY + quarter] -= load * sign * springs.along[k]
        seen[LEVER + quarter] -= load * sign * rolled(foot, springs.along[k])
        i, j = springs.cells[k, 0], springs.cells[k, 1]
        east, west = neighbour(j + 1, nx, wrap), neighbour(j - 1, nx, wrap)
        north, south = neighbour(i + 1, ny, wrap), neighbour(i - 1, ny, wrap)
        slope_x = (initial[i, east] - initial[i, west]) * (half if wrap or 0 < j < nx - 1 else 2.0 * half)
        slope_y = (initial[north, j] - initial[south, j]) * (half if wrap or 0 < i < ny - 1 else 2.0 * half)
        seen[AHEAD + quarter] += load * (slope_x * c + slope_y * s)
        seen[LEFT + quarter] += load * (slope_y * c - slope_x * s)
        seen[RUT + quarter] += load * (depth - deep)
    entry = min(ahead + 0.5 / POINTS * ground.spacing, foot.straight + foot.radius)
    area = rolled(foot, entry)
    for quarter, load in ((left_or_right, front), (left_or_right + 1, rear)):
        seen[ENTRY + quarter] += load * entry
        seen[LEVER + quarter] += load * area
    return front + rear


@kernel(error_model="numpy", allocates=False)
def share_out(
    body: Body,
    ground: Ground,
    yaw: float,
    springs: Springs,
    speeds: Array,
    wheels: int,
    count: int,
    weight: float,
    give: Give,
    seen: Array,
) -> None:
    """Fill in what is seen of each quarter of a rover that springs carry: seen (SEEN,).

    ``speeds`` are those of the wheels [rad/s]; ``wheels`` and ``count`` are how many springs there are, as of `gather`;
    other arguments are as of `balance`.
    """
    blocks, (up, pitch, roll) = springs.blocks, (springs.shift[0], springs.shift[1], springs.shift[2])
    carried, area, first, half = 0.0, ground.spacing * ground.spacing / UNIT, 0, 0.5 * COARSE * ground.spacing
    foremost_left, foremost_right = -FAR, -FAR
    sign_left, sign_right = 1.0 if speeds[0] >= 0.0 else -1.0, 1.0 if speeds[1] >= 0.0 else -1.0
    for k in range(SEEN):
        seen[k] = 0.0
    for n in range(len(body.feet)):
        last = springs.ends[n]
        if last > first:
            side, foot = 0 if body.feet[n]["y"] > 0.0 else 1, foot_of(body.feet[n])
            carried += share_out_wheel(body, foot, ground, yaw, side, speeds[side], springs, first, last, give, seen)
        first = last
    for k in range(wheels, count):
        p = spring_at(k)
        x, y, size = blocks[p + X], blocks[p + Y], blocks[p + SIZE]
        quarter = (0 if x >= 0.0 else 1) + (0 if y >= 0.0 else 2)
        down = x * pitch - y * roll - up
        deep = down - blocks[p + GAP]
        seen[NEAR + quarter] += area * size * max(CLOSE + deep, 0.0)
        if deep <= 0.0:
            continue
        stress, _ = yielding(give, down - blocks[p + DEPTH])
        load = size * min(give.ratio * deep, stress)
        carried += load
        foremost_left = max(foremost_left, sign_left * x) if y >= 0.0 else foremost_left
        foremost_right = max(foremost_right, sign_right * x) if y < 0.0 else foremost_right
        seen[UNDER + quarter] += load
        seen[DRAGGED + quarter] -= load * x * (sign_left if y >= 0.0 else sign_right)
    for quarter in range(QUARTERS):
        load, entry, lever = seen[LOAD + quarter], LEAST_ENTRY, body.radius
        if load > 0.0:
            entry = max(seen[ENTRY + quarter] / load, LEAST_ENTRY)
            lever = min(seen[LEVER + quarter] / (load * entry), body.radius)
        seen[ENTRY + quarter], seen[LEVER + quarter] = entry, lever
        under, begins = seen[UNDER + quarter], (foremost_left if quarter < 2 else foremost_right) + half
        seen[DRAGGED + quarter] = begins + seen[DRAGGED + quarter] / under if under > 0.0 else half
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
        left = balance(springs, count, weight, centre, give, least) if count > 0 else FAR
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
    share_out(body, ground, yaw, springs, wheels, below, count, weight, give, seen)
    seen[SEEN - 2], seen[SEEN - 1] = -math.tan(rest[1]), math.tan(rest[2])


def give_of(soil: Array, shape: Shape) -> Give:
    """How a soil gives way below a rover; springs yield under a wheel with a quarter of the weight as deep as it does.

    Args:
        soil: (soil inputs,) as `sandlot.surrogates.terrain.inputs.soil_inputs` gives them.
        shape: Of the rover.
    """
    pressure, exponent, elastic = soil[0], soil[1], 10.0 ** soil[SOIL_INPUTS.index("log10 of elastic [Pa/m]")]
    damping = float(soil[SOIL_INPUTS.index("damping [Pa*s/m]")])
    if exponent <= 0.0:
        return Give(LOOSE, RATIO[1], damping / LOOSE, 1.0, 0.0, 0.0)

    def stress(depth: float) -> float:
        return float(10.0**pressure * (depth / PLATE) ** exponent)

    depth = wheel_depth(stress, shape)
    stiffness = min(stress(depth) / depth, elastic, STIFFEST)
    depth = wheel_depth(lambda deep: stiffness * deep, shape)
    ratio = min(max(elastic / stiffness, RATIO[0]), RATIO[1])
    return Give(stiffness, ratio, damping / stiffness, *bend(exponent, depth))


def bend(exponent: float, depth: float) -> tuple[float, float, float]:
    """The numbers of `yielding` that follow Bekker's power law about a depth [m]: 1, [1/m], [1/m]; none is negative."""
    deep = np.geomspace(*BEND, 50)
    power = deep**exponent
    columns, numbers, kept = np.column_stack([deep, deep**2, -deep * power]), np.full(3, -1.0), np.full(3, True)
    while (numbers < 0.0).any():
        numbers = np.zeros(3)
        numbers[kept] = np.linalg.lstsq(columns[:, kept], power)[0]
        kept &= numbers >= 0.0
    return float(numbers[0]), float(numbers[1]) / depth, float(numbers[2]) / depth
