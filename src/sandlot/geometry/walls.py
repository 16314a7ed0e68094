"""Walls as segments and circles, and distances to them."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.typing import Array


class Walls(NamedTuple):
    """Straight and round walls.

    Attributes:
        segments: (n, 4) x, y of one end and of the other [m].
        circles: (m, 3) x, y, radius [m].
    """

    segments: Array
    circles: Array


@kernel(error_model="numpy", allocates=False)
def nearest(x: float, y: float, walls: Walls) -> tuple[float, float, float]:
    """Distance from (x, y) to the nearest wall [m], negative within a circle; and the unit vector away from it."""
    segments, circles = walls.segments, walls.circles
    best, bx, by = math.inf, 0.0, 0.0
    for n in range(segments.shape[0]):
        px, py = x - segments[n, 0], y - segments[n, 1]
        ex, ey = segments[n, 2] - segments[n, 0], segments[n, 3] - segments[n, 1]
        along = min(max((px * ex + py * ey) / max(ex * ex + ey * ey, 1e-300), 0.0), 1.0)
        px -= along * ex
        py -= along * ey
        square = px * px + py * py
        if square < best:
            best, bx, by = square, px, py
    away = math.sqrt(best)
    for n in range(circles.shape[0]):
        px, py = x - circles[n, 0], y - circles[n, 1]
        centre = math.sqrt(px * px + py * py)
        if centre - circles[n, 2] < away:
            away, bx, by = centre - circles[n, 2], px, py
    length = math.sqrt(bx * bx + by * by)
    return (away, bx / length, by / length) if length > 0.0 else (away, 1.0, 0.0)


@kernel(error_model="numpy", allocates=False)
def clearances(points: Array, walls: Walls, room: Array) -> None:
    """Distance from each of the points (k, 2) to the nearest wall, into ``room`` (k,) [m]."""
    for k in range(points.shape[0]):
        room[k] = nearest(points[k, 0], points[k, 1], walls)[0]


@kernel(error_model="numpy", allocates=False)
def block(walls: Walls, radius: float, corner: Array, spacing: float, free: NDArray[np.bool_]) -> None:
    """Mark squares whose middle is within ``radius`` of a wall as not free.

    Each wall looks only at the squares around it: a large map has many of both.

    Args:
        walls: What is in the way.
        radius: [m]
        corner: (2,) x and y of the corner of the first square [m].
        spacing: Of squares [m].
        free: (ny, nx) changed.
    """
    segments, circles = walls.segments, walls.circles
    ny, nx = free.shape
    for n in range(segments.shape[0] + circles.shape[0]):
        if n < segments.shape[0]:
            line, disc = segments[n : n + 1], circles[:0]
            ax, ay, bx, by, reach = line[0, 0], line[0, 1], line[0, 2], line[0, 3], radius
        else:
            line, disc = segments[:0], circles[n - segments.shape[0] : n - segments.shape[0] + 1]
            ax, ay, bx, by, reach = disc[0, 0], disc[0, 1], disc[0, 0], disc[0, 1], radius + disc[0, 2]
        left = max(math.floor((min(ax, bx) - reach - corner[0]) / spacing), 0)
        right = min(math.floor((max(ax, bx) + reach - corner[0]) / spacing) + 1, nx)
        low = max(math.floor((min(ay, by) - reach - corner[1]) / spacing), 0)
        high = min(math.floor((max(ay, by) + reach - corner[1]) / spacing) + 1, ny)
        for i in range(low, high):
            for j in range(left, right):
                if free[i, j]:
                    x, y = corner[0] + (j + 0.5) * spacing, corner[1] + (i + 0.5) * spacing
                    free[i, j] = nearest(x, y, Walls(line, disc))[0] > radius
