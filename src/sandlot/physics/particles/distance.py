"""Signed distance of a point from a shape, and the direction out of it.

Each shape is given in its own frame and numbered as MuJoCo's geoms, with sizes as there. A track, which MuJoCo does not
have, is a belt around two pulleys: a stadium along local x, extruded along local y; its sizes are half the distance of
the axles, the radius, and half the width. Distances are exact, negative inside, and in closed form except for the
ellipsoid, for which Newton's method finds the root of a convex function.
"""

import math
from typing import TypeAlias

from sandlot.kernels import kernel
from sandlot.physics.shapes import BOX, CAPSULE, CYLINDER, ELLIPSOID, TRACK
from sandlot.typing import Array

Distance: TypeAlias = tuple[float, float, float, float]
"""Signed distance [m], and the unit vector along which it grows fastest."""

TINY = 1e-12
ROOT_STEPS = 32
"""Maximum number of Newton steps to the nearest point of an ellipsoid; five are usual."""


@kernel(error_model="numpy")
def to_ball(x: float, y: float, z: float, radius: float) -> Distance:
    """Distance from a ball around the origin; at its centre the direction is x, which is right for a capsule, too."""
    away = math.sqrt(x * x + y * y + z * z)
    if away < TINY:
        return -radius, 1.0, 0.0, 0.0
    return away - radius, x / away, y / away, z / away


@kernel(error_model="numpy")
def to_box(x: float, y: float, z: float, a: float, b: float, c: float) -> Distance:
    """Distance from a box of half sizes ``a``, ``b`` and ``c``."""
    dx, dy, dz = abs(x) - a, abs(y) - b, abs(z) - c
    sx, sy, sz = math.copysign(1.0, x), math.copysign(1.0, y), math.copysign(1.0, z)
    ox, oy, oz = max(dx, 0.0), max(dy, 0.0), max(dz, 0.0)
    away = math.sqrt(ox * ox + oy * oy + oz * oz)
    if away > TINY:
        return away, sx * ox / away, sy * oy / away, sz * oz / away
    if dx > dy and dx > dz:
        return dx, sx, 0.0, 0.0
    if dy > dz:
        return dy, 0.0, sy, 0.0
    return dz, 0.0, 0.0, sz


@kernel(error_model="numpy")
def to_prism(u: float, v: float, w: float, half: float, radius: float, width: float) -> Distance:
    """Distance from a stadium along u in the plane (u, v), extruded along w by ``width`` to both sides; or a disc."""
    beyond = u - min(max(u, -half), half)
    axis = math.sqrt(beyond * beyond + v * v)
    # On the line between the axles many directions are equally short; up is one of them.
    nu, nv = (beyond / axis, v / axis) if axis > TINY else (0.0, 1.0)
    rim, side = axis - radius, abs(w) - width
    sign = math.copysign(1.0, w)
    if rim > 0.0 and side > 0.0:
        away = math.sqrt(rim * rim + side * side)
        return away, nu * rim / away, nv * rim / away, sign * side / away
    if rim > side:
        return rim, nu, nv, 0.0
    return side, 0.0, 0.0, sign


@kernel(error_model="numpy")
def to_ellipsoid(x: float, y: float, z: float, a: float, b: float, c: float) -> Distance:
    """Distance from an ellipsoid of half axes ``a``, ``b`` and ``c``.

    Eberly, "Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid": the nearest point is
    ``a^2 x / (t + a^2)`` and so on, with the root t of a decreasing convex function, so that Newton's method from below
    never overshoots.
    """
    least = min(a, b, c)
    # A point on a plane of symmetry is moved off it by a tiny distance: there the root would be at a pole.
    px, py, pz = max(abs(x), 1e-9 * least), max(abs(y), 1e-9 * least), max(abs(z), 1e-9 * least)
    ax, ay, az = a * px, b * py, c * pz
    # Start at the largest t at which one term alone is 1.
    t = max(ax - a * a, ay - b * b, az - c * c)
    for _ in range(ROOT_STEPS):
        fx, fy, fz = ax / (t + a * a), ay / (t + b * b), az / (t + c * c)
        excess = fx * fx + fy * fy + fz * fz - 1.0
        slope = 2.0 * (fx * fx / (t + a * a) + fy * fy / (t + b * b) + fz * fz / (t + c * c))
        t += excess / slope
        if excess < 1e-14:
            break
    qx, qy, qz = a * ax / (t + a * a), b * ay / (t + b * b), c * az / (t + c * c)
    away = math.sqrt((px - qx) ** 2 + (py - qy) ** 2 + (pz - qz) ** 2)
    nx, ny, nz = qx / (a * a), qy / (b * b), qz / (c * c)
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    nx, ny, nz = math.copysign(nx / size, x), math.copysign(ny / size, y), math.copysign(nz / size, z)
    return (away if t > 0.0 else -away), nx, ny, nz


@kernel(error_model="numpy")
def to_shape(kind: int, size: Array, x: float, y: float, z: float) -> Distance:
    """Distance from a shape, in its own frame.

    Args:
        kind: `SPHERE`, `CAPSULE`, `ELLIPSOID`, `CYLINDER`, `BOX` or `TRACK`.
        size: (3,) [m] as MuJoCo's geoms of that kind; of a track: half length, radius, half width.
        x: x of the point [m].
        y: y of the point [m].
        z: z of the point [m].
    """
    if kind == BOX:
        return to_box(x, y, z, size[0], size[1], size[2])
    if kind == CYLINDER:
        return to_prism(x, y, z, 0.0, size[0], size[1])
    if kind == TRACK:
        away, nx, nz, ny = to_prism(x, z, y, size[0], size[1], size[2])
        return away, nx, ny, nz
    if kind == CAPSULE:
        return to_ball(x, y, z - min(max(z, -size[1]), size[1]), size[0])
    if kind == ELLIPSOID:
        return to_ellipsoid(x, y, z, size[0], size[1], size[2])
    return to_ball(x, y, z, size[0])
