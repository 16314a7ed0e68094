"""Where the links of a chain are, and how they move, from the coordinates that MuJoCo uses for it.

The coordinates are x, y [m] and yaw [rad] of the head link, then the joint angles [rad]. The yaw of a link is that of
the link before it, minus the angle of the joint between them.
"""

import math
from typing import Any

from sandlot.kernels import kernel
from sandlot.typing import Array

X, Y, VELOCITY_X, VELOCITY_Y, COS, SIN = range(6)
"""Rows of an array (6, links): centre of each link relative to the centre of mass [m], velocity of its centre relative
to the velocity of the centre of mass [m/s], and direction."""


@kernel(error_model="numpy", allocates=False)
def place(body: Any, position: Array, velocity: Array, later: float, links: Array) -> tuple[float, float]:
    """Compute places and velocities of links in a frame that moves with the centre of mass.

    Args:
        body: A record of `SWIMMER`.
        position: (coordinates,) of the body.
        velocity: (coordinates,) their rates.
        later: The places are those that this velocity reaches after this time [s].
        links: (6, links) filled.

    Returns:
        Angular momentum about the centre of mass [kg*m^2/s], and moment of inertia about it [kg*m^2].
    """
    n, half = body.links, 0.5 * body.length
    angle, rate = position[2] + later * velocity[2], velocity[2]
    c, s = math.cos(angle), math.sin(angle)
    x, y, vx, vy = 0.0, 0.0, 0.0, 0.0
    sum_x, sum_y, sum_vx, sum_vy, sum_rate = 0.0, 0.0, 0.0, 0.0, rate
    links[X, 0], links[Y, 0], links[VELOCITY_X, 0], links[VELOCITY_Y, 0] = 0.0, 0.0, 0.0, 0.0
    links[COS, 0], links[SIN, 0] = c, s
    for k in range(1, n):
        last, last_c, last_s = rate, c, s
        angle -= position[2 + k] + later * velocity[2 + k]
        rate -= velocity[2 + k]
        c, s = math.cos(angle), math.sin(angle)
        x -= half * (last_c + c)
        y -= half * (last_s + s)
        vx += half * (last * last_s + rate * s)
        vy -= half * (last * last_c + rate * c)
        links[X, k], links[Y, k], links[VELOCITY_X, k], links[VELOCITY_Y, k] = x, y, vx, vy
        links[COS, k], links[SIN, k] = c, s
        sum_x, sum_y, sum_vx, sum_vy, sum_rate = sum_x + x, sum_y + y, sum_vx + vx, sum_vy + vy, sum_rate + rate
    angular, inertia = 0.0, 0.0
    for k in range(n):
        links[X, k] -= sum_x / n
        links[Y, k] -= sum_y / n
        links[VELOCITY_X, k] -= sum_vx / n
        links[VELOCITY_Y, k] -= sum_vy / n
        x, y = links[X, k], links[Y, k]
        angular += x * links[VELOCITY_Y, k] - y * links[VELOCITY_X, k]
        inertia += x * x + y * y
    return body.mass * angular + body.inertia * sum_rate, body.mass * inertia + n * body.inertia
