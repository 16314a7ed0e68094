"""Refines the pose of a scan to a fraction of a cell: Gauss-Newton on distances to the local lines of a map.

Around each point of the scan, the moments of nearby blocks give the mean and covariance of the map's points there. A
flat covariance is a wall, of which only the distance along the normal counts; a round one is a small object.
"""

import math
from typing import NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.mapping.matching.field import BLOCK, CELL, Field
from sandlot.typing import Array

ITERATIONS = 20
PRIOR_POINTS = 1.0
"""Weight of a round covariance as wide as a block in the covariance around a point, in points."""
CLOSE = 3.0
"""A point fits if it is within so many standard deviations of the map."""
DONE = 1e-5
"""Steps shorter than this end the iteration [m, rad]."""


class Refined(NamedTuple):
    """A refined pose.

    Attributes:
        pose: (3,) in the frame of the map [m, rad].
        information: (3, 3) of the measurement alone: inverse covariance if points were independent.
        overlap: Share of the points where the map has points nearby.
        fit: Share of those that fit.
        error: Root mean square distance of those that fit, along normals [m].
    """

    pose: Array
    information: Array
    overlap: float
    fit: float
    error: float


@kernel(error_model="numpy", allocates=False)
def surface(field: Field, x: float, y: float, noise: float) -> tuple[float, float, float, float, float, float, float]:
    """The map around a point.

    Returns:
        Number of the map's points nearby, 0 if there are none; the offset to their mean x, y [m]; the information of
        that offset xx, xy, yy [1/m2]; and the variance along the normal [m2].

    Args:
        field: The map.
        x: In the frame of the map [m].
        y: [m].
        noise: Standard deviation of a measured range [m].
    """
    width, blocks = CELL * BLOCK, field.moments.shape[0]
    u, v = (x + field.half) / width, (y + field.half) / width
    if not (1.0 <= u < blocks - 1.0 and 1.0 <= v < blocks - 1.0):
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
    column, row = int(u), int(v)
    total = mx = my = xx = xy = yy = 0.0
    for r in range(row - 1, row + 2):
        for c in range(column - 1, column + 2):
            sums = field.moments[r, c]
            if sums[0] == 0.0:
                continue
            # Centre of the block as seen from the point.
            dx, dy = (c + 0.5 - u) * width, (r + 0.5 - v) * width
            weight = (1.0 - abs(dx) / (1.5 * width)) * (1.0 - abs(dy) / (1.5 * width))
            n, sx, sy = sums[0], sums[1], sums[2]
            total += weight * n
            mx += weight * (sx + n * dx)
            my += weight * (sy + n * dy)
            xx += weight * (sums[3] + 2.0 * dx * sx + n * dx * dx)
            xy += weight * (sums[4] + dx * sy + dy * sx + n * dx * dy)
            yy += weight * (sums[5] + 2.0 * dy * sy + n * dy * dy)
    if total < 1e-3:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
    mx, my = mx / total, my / total
    shrink = 1.0 / (total + PRIOR_POINTS)
    loose = PRIOR_POINTS * shrink * (0.5 * width) ** 2
    xx = (xx - total * mx * mx) * shrink + loose
    xy = (xy - total * mx * my) * shrink
    yy = (yy - total * my * my) * shrink + loose
    middle, half_gap = 0.5 * (xx + yy), math.hypot(0.5 * (xx - yy), xy)
    small, large = max(middle - half_gap, 0.0) + noise * noise, middle + half_gap + noise * noise
    angle = 0.5 * math.atan2(2.0 * xy, xx - yy)  # of the wall
    nx, ny = -math.sin(angle), math.cos(angle)
    across, along = 1.0 / small, (small / large) ** 2 / large
    return (
        total, mx, my,
        across * nx * nx + along * ny * ny,
        (across - along) * nx * ny,
        across * ny * ny + along * nx * nx,
        small,
    )  # fmt: skip


@kernel(error_model="numpy")
def refine(field: Field, points: Array, start: Array, prior: Array, noise: float, robust: float) -> Refined:
    """Refine a pose.

    Args:
        field: The map.
        points: (n, 2) of the scan in the robot's frame [m].
        start: (3,) pose to start from, in the frame of the map [m, rad].
        prior: (5,) expected x, y, yaw [m, rad], and the information of position [1/m2] and yaw [1/rad2].
        noise: Standard deviation of a measured range [m].
        robust: Points further than so many standard deviations from the map count little (Cauchy).
    """
    pose = start.copy()
    information = np.zeros((3, 3))
    near = fitting = 0
    squares = 0.0
    for _ in range(ITERATIONS):
        c, s = math.cos(pose[2]), math.sin(pose[2])
        information[:] = 0.0
        gradient = np.zeros(3)
        near = fitting = 0
        squares = 0.0
        for k in range(points.shape[0]):
            rx, ry = c * points[k, 0] - s * points[k, 1], s * points[k, 0] + c * points[k, 1]
            total, mx, my, xx, xy, yy, small = surface(field, pose[0] + rx, pose[1] + ry, noise)
            if total == 0.0:
                continue
            near += 1
            # The residual is minus the offset to the mean; its derivative by the yaw is (-ry, rx).
            fx, fy = -(xx * mx + xy * my), -(xy * mx + yy * my)
            distance = -(mx * fx + my * fy)
            if distance < CLOSE * CLOSE:
                fitting += 1
                squares += distance * small
            weight = 1.0 / (1.0 + distance / (robust * robust))
            gx, gy = xx * -ry + xy * rx, xy * -ry + yy * rx
            information[0, 0] += weight * xx
            information[0, 1] += weight * xy
            information[1, 1] += weight * yy
            information[0, 2] += weight * gx
            information[1, 2] += weight * gy
            information[2, 2] += weight * (gx * -ry + gy * rx)
            gradient[0] += weight * fx
            gradient[1] += weight * fy
            gradient[2] += weight * (fx * -ry + fy * rx)
        information[1, 0], information[2, 0], information[2, 1] = (
            information[0, 1],
            information[0, 2],
            information[1, 2],
        )
        system = information.copy()
        for k in range(3):
            known = prior[3] if k < 2 else prior[4]
            system[k, k] += known + 1e-9
            gradient[k] += known * (pose[k] - prior[k])
        step = np.linalg.solve(system, -gradient)
        length = math.hypot(step[0], step[1])
        if length > CELL:
            step *= CELL / length
        pose += step
        if abs(step[0]) + abs(step[1]) + abs(step[2]) < DONE:
            break
    many = max(points.shape[0], 1)
    return Refined(pose, information, near / many, fitting / max(near, 1), math.sqrt(squares / max(fitting, 1)))
