"""The kinetic energy of a chain in water, to notice a simulation that gains more of it than its motors could give.

In the frame of the water, only motors give energy: drag, contacts and stops take it.
"""

import math
from typing import Any

import numpy as np

from sandlot.kernels import kernel
from sandlot.typing import Array


@kernel(error_model="numpy")
def energies(body: Any, position: Array, velocity: Array, current: Array, ball_mass: float) -> Array:
    """What moves, and what could move it.

    Args:
        body: A record of `sandlot.physics.swimming.water.SWIMMER`.
        position: (bodies, coordinates) x, y [m] and angle of the head link [rad], joint angles [rad], and x, y of the
            ball [m] if there is one.
        velocity: (bodies, coordinates) their rates.
        current: (2,) velocity of the water [m/s].
        ball_mass: [kg]; 0 without a ball.

    Returns:
        (bodies, 3) kinetic energy in the frame of the water [J], the most power of the motors at the present joint
        rates, of which none counts for more than the greatest a motor has [W], and the ball's speed through the water
        [m/s].
    """
    n, half = body.links, 0.5 * body.length
    found = np.zeros((position.shape[0], 3))
    for b in range(position.shape[0]):
        angle, rate = position[b, 2], velocity[b, 2]
        c, s = math.cos(angle), math.sin(angle)
        vx, vy = velocity[b, 0] - current[0], velocity[b, 1] - current[1]
        squares, turns, rates = vx * vx + vy * vy, rate * rate, 0.0
        for j in range(n - 1):
            last, last_c, last_s = rate, c, s
            angle -= position[b, 3 + j]
            rate -= velocity[b, 3 + j]
            c, s = math.cos(angle), math.sin(angle)
            vx += half * (last * last_s + rate * s)
            vy -= half * (last * last_c + rate * c)
            squares += vx * vx + vy * vy
            turns += rate * rate
            rates += min(abs(velocity[b, 3 + j]), body.max_rate)
        if ball_mass > 0.0:
            vx, vy = velocity[b, n + 2] - current[0], velocity[b, n + 3] - current[1]
            found[b, 0] = 0.5 * ball_mass * (vx * vx + vy * vy)
            found[b, 2] = math.sqrt(vx * vx + vy * vy)
        found[b, 0] += 0.5 * (body.mass * squares + body.inertia * turns)
        found[b, 1] = body.max_torque * rates
    return found
