"""How a robot is turned against the edges of the stairs or of the box ahead, from the rows of its elevation map.

Where edges are straight and parallel, all rows show the same profile, but each is stretched along its row by an amount
that depends on the robot's yaw. The estimate is the yaw at which the rows agree best. So every edge in view counts, up
or down, near or far, also for a robot that is on the stairs. Occlusion does not bias it: the same part of the profile
is hidden in all rows.
"""

import math

import numpy as np

from sandlot.kernels import kernel
from sandlot.mapping.elevation_map import CELL
from sandlot.typing import Array

NEAR = 0.4
"""Ground nearer to the middle of the body is not used [m]: it is below the robot or was seen some time ago."""
WIDE = 0.6
"""Ground further to the side is not used [m]: stairs are often 1.2 m wide."""
SPACING = 0.02
"""Between the points at which profiles are compared [m]."""
LEAST = 3
"""Rows that must reach a point for it to be compared."""
STEEPEST = 0.3
"""A row that advances across the edges by less than this share of its way ahead is not used."""
LIMIT = math.radians(40.0)
"""Largest yaw that is looked for, to either side [rad]."""
TRUSTED = math.radians(25.0)
"""A larger yaw is not reported [rad]: near the limit, a few misleading rows decide."""
COARSE, FINE = math.radians(2.0), math.radians(0.25)
"""Steps of the search [rad]."""
RELIEF = 0.01
"""Without an edge in view, rows agree about equally well at every yaw. An edge is in view if the disagreement at the
best yaw is below the average over all yaws by at least the square of this [m]."""
AGREED = 0.5
"""Largest disagreement at the best yaw, as a share of the average over all yaws. It is larger if no yaw explains the
rows, as beyond a brink, where only some of them show the ground below."""


@kernel(error_model="numpy", nogil=True, allocates=False)
def disagreement(
    maps: Array, pitches: Array, slopes: Array, mount: float, yaws: Array, size: float, sums: Array, found: Array
) -> None:
    """How much the rows of maps disagree if robots are turned by some yaws.

    Args:
        maps: (n, rows, cells) heights above the middle of the body [m]; cell i of a row is i times ``size`` ahead.
        pitches: (n,) positive with the nose down [rad]. Scan lines lie in planes that pitch with the body.
        slopes: (rows,) tangents of the pan angles.
        mount: How far ahead of the middle of the body the laser is [m].
        yaws: (n, yaws) to try, positive to the left [rad].
        size: Of a cell [m].
        sums: (points, 3) scratch: number, sum and sum of squares of the heights of all rows at each point.
        found: (n, yaws) mean squared deviation of a height from the mean of all rows at the same distance across the
            edges [m^2], written here; 0 if there is nothing to compare.
    """
    points = sums.shape[0]
    for n in range(maps.shape[0]):
        level, tilted = math.cos(pitches[n]), math.sin(pitches[n])
        for k in range(yaws.shape[1]):
            cosine, sine = math.cos(yaws[n, k]), math.sin(yaws[n, k])
            sums[:] = 0.0
            for r in range(maps.shape[1]):
                if cosine - slopes[r] * sine < STEEPEST:
                    continue
                before, point = math.inf, 0
                for i in range(maps.shape[2]):
                    ahead, height = i * size, maps[n, r, i]
                    left = slopes[r] * (ahead * level - height * tilted - mount)
                    if abs(left) > WIDE:
                        break
                    across = ahead * cosine - left * sine
                    while point < points and NEAR + point * SPACING <= across:
                        at = NEAR + point * SPACING
                        if before < at:
                            share = (at - before) / (across - before)
                            here = maps[n, r, i - 1] + share * (height - maps[n, r, i - 1])
                            sums[point, 0] += 1.0
                            sums[point, 1] += here
                            sums[point, 2] += here * here
                        point += 1
                    before = across
            total, number = 0.0, 0.0
            for point in range(points):
                if sums[point, 0] >= LEAST:
                    total += sums[point, 2] - sums[point, 1] * sums[point, 1] / sums[point, 0]
                    number += sums[point, 0]
            found[n, k] = max(total, 0.0) / number if number else 0.0


def yaw_from_edges(maps: Array, pitches: Array, pans: Array, mount: float) -> Array:
    """How robots are turned against the edges ahead.

    Args:
        maps: (n, rows, cells) elevation maps [m].
        pitches: (n,) positive with the nose down [rad].
        pans: (rows,) pan angles of the rows [rad].
        mount: How far ahead of the middle of the body the laser is [m].

    Returns:
        (n,) yaw, 0 if the robot heads square at the edges and positive if it is turned to the left; NaN if no edge is
        in view, or if the yaw is above `TRUSTED` [rad].
    """
    maps, slopes = np.ascontiguousarray(maps, np.float64), np.tan(pans)
    points = max(int(((maps.shape[2] - 1) * CELL - NEAR) / SPACING) + 1, 0)
    sums = np.empty((points, 3))

    def search(yaws: Array) -> tuple[Array, Array]:
        costs = np.empty(yaws.shape)
        disagreement(maps, pitches, slopes, mount, yaws, CELL, sums, costs)
        return costs, yaws[np.arange(len(maps)), costs.argmin(axis=1)]

    costs, best = search(np.tile(_around(LIMIT, COARSE), (len(maps), 1)))
    average, least = costs.mean(axis=1), costs.min(axis=1)
    _, best = search(best[:, None] + _around(COARSE, FINE))
    clear = (average - least >= RELIEF**2) & (least <= AGREED * average) & (np.abs(best) <= TRUSTED)
    return np.where(clear, best, np.nan)


def _around(limit: float, step: float) -> Array:
    """Angles from minus the limit to the limit [rad]."""
    number = round(limit / step)
    return np.asarray(step * np.arange(-number, number + 1), np.float64)
