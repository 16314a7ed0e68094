"""Poses in the plane: arrays (..., 3) of x, y [m] and yaw [rad], as elements of SE(2)."""

import math
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from sandlot.kernels import kernel
from sandlot.typing import Array


@overload
def wrap(angle: float) -> float: ...
@overload
def wrap(angle: Array) -> Array: ...
def wrap(angle: float | Array) -> float | Array:
    """The same angle from -pi to pi [rad]; angles that are already within stay exactly as they are."""
    if isinstance(angle, float | int):
        return math.remainder(angle, 2.0 * math.pi)
    return angle - 2.0 * np.pi * np.rint(angle / (2.0 * np.pi))


@kernel(error_model="numpy", allocates=False)
def wrap_compiled(angle: float) -> float:
    """The same angle from -pi to below pi, for kernels [rad]; `wrap` may also return pi."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


def wrap_below_pi(angles: Array) -> Array:
    """The same angles from -pi to below pi, so that equal directions have equal angles [rad]."""
    return np.where(np.abs(angles) < np.pi, angles, (angles + np.pi) % (2.0 * np.pi) - np.pi)


def rotate(points: ArrayLike, yaw: ArrayLike) -> Array:
    """Turn points (..., 2) to the left by ``yaw`` (...) [rad]."""
    places, c, s = np.asarray(points, np.float64), np.cos(yaw), np.sin(yaw)
    x, y = places[..., 0], places[..., 1]
    turned = np.empty((*np.broadcast(x, c).shape, 2))  # faster than to stack both
    turned[..., 0], turned[..., 1] = c * x - s * y, s * x + c * y
    return turned


def rotate_one(point: Array, yaw: float) -> Array:
    """`rotate` for one point (2,), much faster."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1]])


def rectangle(centre: ArrayLike, size: tuple[float, float], yaw: ArrayLike) -> Array:
    """Corners of rectangles, counter-clockwise from the front left: (..., 4, 2) [m].

    Args:
        centre: (..., 2) [m]
        size: Along their own x and y [m].
        yaw: (...) [rad]
    """
    middle, c, s = np.asarray(centre, np.float64), np.cos(yaw), np.sin(yaw)
    along = 0.5 * size[0] * np.stack([c, s], axis=-1)
    aside = 0.5 * size[1] * np.stack([-s, c], axis=-1)
    front, rear = middle + along, middle - along
    return np.stack([front + aside, rear + aside, rear - aside, front - aside], axis=-2)


def compose(first: ArrayLike, second: ArrayLike) -> Array:
    """The pose (..., 3) of what is at ``second`` in a frame that is itself at ``first``."""
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    place = a[..., :2] + rotate(b[..., :2], a[..., 2])
    return np.concatenate([place, np.asarray(wrap(a[..., 2] + b[..., 2]))[..., None]], axis=-1)


def invert(pose: ArrayLike) -> Array:
    """The inverse pose (..., 3): that of the origin as seen from ``pose``."""
    p = np.asarray(pose, np.float64)
    return np.concatenate([-rotate(p[..., :2], -p[..., 2]), np.asarray(wrap(-p[..., 2]))[..., None]], axis=-1)


def between(first: ArrayLike, second: ArrayLike) -> Array:
    """The pose (..., 3) of ``second`` as seen from ``first``."""
    return compose(invert(first), second)


def interpolate(first: ArrayLike, second: ArrayLike, share: ArrayLike) -> Array:
    """Poses (..., 3) on the way from ``first`` (share 0) to ``second`` (share 1).

    Places lie on the straight line between; the yaw takes the shorter way around.
    """
    a, b, part = np.asarray(first, np.float64), np.asarray(second, np.float64), np.asarray(share, np.float64)[..., None]
    place = a[..., :2] + part * (b[..., :2] - a[..., :2])
    yaw = wrap(a[..., 2:] + part * wrap(b[..., 2:] - a[..., 2:]))
    return np.concatenate([place, yaw], axis=-1)
