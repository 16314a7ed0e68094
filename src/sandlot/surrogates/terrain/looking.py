"""Looks at the ground under a rover: how it lies there, how uneven it is, and how deep it was pressed before.

Nodes below the rover count with their heights before it came: how deep it has sunk is a state of its own.
"""

import math
from typing import NamedTuple

from sandlot.kernels import kernel
from sandlot.surrogates.terrain.feet import Ground
from sandlot.typing import Array


class Support(NamedTuple):
    """Where the ground is sampled; as of `sandlot.surrogates.terrain.shape.Shape`.

    Attributes:
        samples: (samples, 2) [m].
        groups: (groups, samples).
        plane: (3, samples).
    """

    samples: Array
    groups: Array
    plane: Array


def width_of(samples: int, groups: int) -> int:
    """How many numbers a rover sees of the ground."""
    return samples + groups + 2


@kernel(error_model="numpy", allocates=False)
def untouched(ground: Ground, i: int, j: int, since: int) -> float:
    """Height of a node before the rover came that is above it, if its mark is at least ``since`` [m]."""
    return ground.untouched[i, j] if ground.above[i, j] >= since else ground.heights[i, j]


@kernel(error_model="numpy", allocates=False)
def look(
    support: Support,
    ground: Ground,
    since: int,
    initial: Array,
    yields: bool,
    x: float,
    y: float,
    yaw: float,
    seen: Array,
) -> float:
    """Look at the ground below a rover, as it was before the rover came.

    Args:
        support: Where to look.
        ground: As it is.
        since: Nodes with at least this mark are below the rover.
        initial: (ny, nx) heights before anything touched it [m].
        yields: Whether the ground changes; if not, only its heights are read.
        x: Of the rover [m].
        y: Of the rover [m].
        yaw: Of the rover [rad].
        seen: (`width_of`,) to be filled: heights above the plane through the samples [m]; how much lower the ground of
            each group is than it was at first [m]; and the plane's slopes ahead and to the left.

    Returns:
        The plane's height in the middle [m].
    """
    heights, (ny, nx), wrap = ground.heights, ground.heights.shape, ground.wrap
    samples, groups, plane = support.samples, support.groups, support.plane
    count, per = len(samples), 1.0 / ground.spacing
    c, s = per * math.cos(yaw), per * math.sin(yaw)
    for g in range(len(groups)):
        seen[count + g] = 0.0
    ahead, left, middle = 0.0, 0.0, 0.0
    here_column, here_row = (x - ground.x0) * per, (y - ground.y0) * per
    if wrap:
        here_column -= nx * math.floor(here_column / nx)
        here_row -= ny * math.floor(here_row / ny)
    for k in range(count):
        px, py = samples[k, 0], samples[k, 1]
        column, row = here_column + c * px - s * py, here_row + s * px + c * py
        if wrap:
            while column < 0.0:
                column += nx
            while column >= nx:
                column -= nx
            while row < 0.0:
                row += ny
            while row >= ny:
                row -= ny
        else:
            column, row = min(max(column, 0.0), nx - 1.0), min(max(row, 0.0), ny - 1.0)
        j, i = int(column), int(row)
        u, v = column - j, row - i
        j, i = j if j < nx else 0, i if i < ny else 0
        east, north = j + 1 if j + 1 < nx else 0, i + 1 if i + 1 < ny else 0
        a, b, d, e = (1.0 - u) * (1.0 - v), u * (1.0 - v), (1.0 - u) * v, u * v
        if yields:
            height = (
                a * untouched(ground, i, j, since)
                + b * untouched(ground, i, east, since)
                + d * untouched(ground, north, j, since)
                + e * untouched(ground, north, east, since)
            )
            first = a * initial[i, j] + b * initial[i, east] + d * initial[north, j] + e * initial[north, east]
            for g in range(len(groups)):
                seen[count + g] += groups[g, k] * (first - height)
        else:
            height = a * heights[i, j] + b * heights[i, east] + d * heights[north, j] + e * heights[north, east]
        seen[k] = height
        ahead, left, middle = ahead + plane[0, k] * height, left + plane[1, k] * height, middle + plane[2, k] * height
    for k in range(count):
        seen[k] -= ahead * samples[k, 0] + left * samples[k, 1] + middle
    seen[count + len(groups)], seen[count + len(groups) + 1] = ahead, left
    return middle
