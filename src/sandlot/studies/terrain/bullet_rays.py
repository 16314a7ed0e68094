"""How Project Chrono finds the level of a wheel above a node: a ray cast upwards by Bullet, which ends near the wheel.

Bullet moves a point along the ray towards a convex body until the point is within 1 cm of a simplex of points of the
body's surface. Points of the simplex that were found earlier are not moved with the ray. So a ray ends some millimetres
below the wheel, by an amount that changes from node to node and from step to step. The steps of the method, and its
tolerances in single precision, are those of the source of Bullet 2.88 in Project Chrono.
"""

import math

import numpy as np

from sandlot.kernels import kernel
from sandlot.typing import Array

EPSILON = 1e-4
"""Square of the distance at which a ray ends, and at which two points count as the same [m^2]."""
FLAT = 1e-4
"""Six times the volume of a tetrahedron below which it counts as flat [m^3]."""
ITERATIONS = 32
LENGTH, BELOW = 0.5, 0.4
"""Length of a ray [m], and how far below the present level of its node it starts [m]."""
EDGE = 0.01
"""Radius at which the edges of a cylinder are rounded off: Chrono's default margin [m]."""
FACES = ((0, 1, 2, 3), (0, 2, 3, 1), (0, 3, 1, 2), (1, 3, 2, 0))
"""Of a tetrahedron: three corners, and the opposite one."""


@kernel(error_model="numpy")
def farthest(radius: float, half: float, v: Array) -> Array:
    """Farthest point of a cylinder with rounded edges in a direction: (3,); its axis is y, its centre the origin."""
    across, length = math.hypot(v[0], v[2]), math.sqrt(np.dot(v, v))
    point = np.array([radius - EDGE, half - EDGE if v[1] >= 0.0 else EDGE - half, 0.0])
    if across > 0.0:
        point[0], point[2] = (radius - EDGE) * v[0] / across, (radius - EDGE) * v[2] / across
    return point + EDGE * v / length if length > 0.0 else point


@kernel(error_model="numpy")
def on_edge(points: Array, i: int, j: int) -> Array:
    """Weights of the point nearest to the origin on an edge of a simplex: (4,); both ends may be the same."""
    weights, edge = np.zeros(4), points[j] - points[i]
    square = np.dot(edge, edge)
    share = min(max(-np.dot(points[i], edge) / square, 0.0), 1.0) if square > 0.0 else 0.0
    weights[i] += 1.0 - share
    weights[j] += share
    return weights


@kernel(error_model="numpy")
def distance(points: Array, weights: Array) -> float:
    """Squared distance of a point of a simplex from the origin."""
    point = np.dot(weights, points)
    return float(np.dot(point, point))


@kernel(error_model="numpy")
def on_face(points: Array, i: int, j: int, k: int) -> Array:
    """As `on_edge`, on a triangle."""
    a, b = points[j] - points[i], points[k] - points[i]
    aa, ab, bb, pa, pb = np.dot(a, a), np.dot(a, b), np.dot(b, b), -np.dot(points[i], a), -np.dot(points[i], b)
    area = aa * bb - ab * ab
    if area > 1e-30:
        second, third = (bb * pa - ab * pb) / area, (aa * pb - ab * pa) / area
        if second > 0.0 and third > 0.0 and second + third < 1.0:
            weights = np.zeros(4)
            weights[i], weights[j], weights[k] = 1.0 - second - third, second, third
            return weights
    best = on_edge(points, i, j)
    for first in (i, j):
        other = on_edge(points, first, k)
        if distance(points, other) < distance(points, best):
            best = other
    return best


@kernel(error_model="numpy")
def nearest(points: Array, count: int) -> Array:
    """Weights of the point of a simplex nearest to the origin: (4,); all 0 if the origin is inside, or all is flat.

    Args:
        points: (4, 3) corners of the simplex.
        count: Number of corners.
    """
    if count <= 2:
        return on_edge(points, 0, count - 1)
    if count == 3:
        return on_face(points, 0, 1, 2)
    best = np.zeros(4)
    for i, j, k, opposite in FACES:
        normal = np.cross(points[j] - points[i], points[k] - points[i])
        side = np.dot(points[opposite] - points[i], normal)
        if abs(side) < FLAT:
            return np.zeros(4)
        if -np.dot(points[i], normal) * side < 0.0:
            other = on_face(points, i, j, k)
            if best.sum() == 0.0 or distance(points, other) < distance(points, best):
                best = other
    return best


@kernel(error_model="numpy")
def ray_end(radius: float, half: float, x: float, y: float, start: float) -> float:
    """Height at which a ray upwards ends near a cylinder, relative to its centre [m]; NaN if it misses.

    Args:
        radius: Of the cylinder [m].
        half: Half of its width [m].
        x: Of the ray, relative to the centre [m].
        y: Of the ray, relative to the centre [m].
        start: Height at which it starts [m].
    """
    tip, points, last = np.array([x, y, start]), np.zeros((4, 3)), np.full(3, np.inf)
    v = tip - farthest(radius, half, np.array([0.0, 0.0, 1.0]))
    way, count, hit = 0.0, 0, False
    for _ in range(ITERATIONS):
        if np.dot(v, v) <= EPSILON:
            break
        if way > LENGTH:
            return math.nan
        w = tip - farthest(radius, half, v)
        gap = np.dot(v, w)
        if gap > 0.0:
            if v[2] >= 0.0:
                return math.nan
            way, hit = way - gap / v[2], True
            tip[2] = start + way
        known = w[0] == last[0] and w[1] == last[1] and w[2] == last[2]
        for m in range(count):
            known = known or np.dot(points[m] - w, points[m] - w) <= EPSILON
        if known:
            continue
        points[count], count = w, count + 1
        last = w
        weights = nearest(points, count)
        if weights.sum() == 0.0:
            break
        v, kept = np.dot(weights, points), 0
        for m in range(count):
            if weights[m] > 0.0:
                points[kept], kept = points[m], kept + 1
        points[kept:], count = 0.0, kept
    return start + way if hit and way < LENGTH else math.nan
