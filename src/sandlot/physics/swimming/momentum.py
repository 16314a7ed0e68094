"""Keeping the momentum of chains that MuJoCo simulates.

MuJoCo's integrator works in joint coordinates and does not conserve momentum: a body that moves violently gains or
loses some, and without drag its centre would move. After each step, the velocity of the body as a whole is corrected,
so that body and ball have the momentum and the angular momentum that they had before the step, plus the impulse of
drag. The ball keeps the velocity that contacts gave it; the body takes the rest.
"""

from typing import Any

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.swimming.links import VELOCITY_X, VELOCITY_Y, X, Y, place
from sandlot.physics.swimming.simulation import (
    ANGULAR_MOMENTUM,
    CENTRE_X,
    CENTRE_Y,
    MOMENTUM_X,
    MOMENTUM_Y,
    YAW,
    Water,
)
from sandlot.typing import Array, IntArray


@kernel(error_model="numpy")
def keep_momentum(simulation: Any, position: Array, velocity: Array, which: IntArray, water: Water) -> None:
    """Correct x, y and yaw of the head link and their rates after a step; joints stay as they are.

    The centre of mass moves by its velocity times the step. The head turns by the rate that it needs in the middle of
    the step, with the joint angles there.

    Args:
        simulation: A record of `SIMULATION`.
        position: (bodies, coordinates) after the step, corrected.
        velocity: (bodies, coordinates) their rates, corrected.
        which: (some,) bodies.
        water: As `add_drag` left it before the step; the other forces are written.
    """
    body, step = simulation.body, simulation.step
    n = body.links
    links = np.empty((6, n))
    for b in which:
        q, v, kept = position[b], velocity[b], water.kept[b]
        momentum_x, momentum_y, angular = kept[MOMENTUM_X], kept[MOMENTUM_Y], kept[ANGULAR_MOMENTUM]
        if simulation.ball_mass > 0.0:
            mass, vx, vy = simulation.ball_mass, v[n + 2], v[n + 3]
            momentum_x -= mass * vx
            momentum_y -= mass * vy
            angular -= mass * ((q[n + 2] - kept[CENTRE_X]) * vy - (q[n + 3] - kept[CENTRE_Y]) * vx)
            angular -= simulation.ball_inertia * v[n + 4]
            _keep_force(mass / step, vx, vy, b, n, water)
        centre_vx, centre_vy = momentum_x / (n * body.mass), momentum_y / (n * body.mass)
        # Velocities after the forces have changed them, where the links were then.
        q[2] = kept[YAW] + step * v[2]
        found, inertia = place(body, q, v, -step, links)
        turn = (angular - found) / inertia
        for k in range(n):
            vx = centre_vx + links[VELOCITY_X, k] - turn * links[Y, k]
            vy = centre_vy + links[VELOCITY_Y, k] + turn * links[X, k]
            _keep_force(body.mass / step, vx, vy, b, k, water)
        found, inertia = place(body, q, v, -0.5 * step, links)
        q[2] = kept[YAW] + step * (v[2] + (angular - found) / inertia)
        found, inertia = place(body, q, v, 0.0, links)
        turn = (angular - found) / inertia
        v[0] = centre_vx + links[VELOCITY_X, 0] - turn * links[Y, 0]
        v[1] = centre_vy + links[VELOCITY_Y, 0] + turn * links[X, 0]
        v[2] += turn
        q[0] = kept[CENTRE_X] + step * centre_vx + links[X, 0]
        q[1] = kept[CENTRE_Y] + step * centre_vy + links[Y, 0]


@kernel(error_model="numpy", allocates=False)
def _keep_force(mass_rate: float, vx: float, vy: float, b: int, k: int, water: Water) -> None:
    """Write the force on link ``k`` that drag does not explain; ``mass_rate`` is mass over step [kg/s]."""
    before, drag, others = water.velocity[b, k], water.drag[b, k], water.others[b, k]
    others[0] = mass_rate * (vx - before[0]) - drag[0]
    others[1] = mass_rate * (vy - before[1]) - drag[1]
