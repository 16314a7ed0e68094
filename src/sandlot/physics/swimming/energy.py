"""The kinetic energy of a chain in water, to detect a simulation that gains more than its motors can give.

In the frame of the water, only motors add energy: drag, contacts and joint stops remove it.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.typing import Array


class Energies(NamedTuple):
    """Energies of bodies.

    Attributes:
        kinetic: (bodies,) of body and ball, in the frame of the water [J].
        max_power: (bodies,) of the motors at the present joint rates, each counted up to the motor's maximum [W].
        ball_speed: (bodies,) through the water [m/s]; 0 without a ball.
    """

    kinetic: Array
    max_power: Array
    ball_speed: Array


@kernel(error_model="numpy")
def energies(simulation: Any, position: Array, velocity: Array) -> Energies:
    """Compute the energies of bodies.

    Args:
        simulation: A record of `SIMULATION`.
        position: (bodies, coordinates) of bodies and balls.
        velocity: (bodies, coordinates) their rates.
    """
    body = simulation.body
    n, half = body.links, 0.5 * body.length
    kinetic, max_power, ball_speed = np.zeros((3, position.shape[0]))
    for b in range(position.shape[0]):
        angle, rate = position[b, 2], velocity[b, 2]
        c, s = math.cos(angle), math.sin(angle)
        vx, vy = velocity[b, 0] - simulation.current_x, velocity[b, 1] - simulation.current_y
        squared_speeds, squared_rates, joint_rates = vx * vx + vy * vy, rate * rate, 0.0
        for j in range(n - 1):
            last, last_c, last_s = rate, c, s
            angle -= position[b, 3 + j]
            rate -= velocity[b, 3 + j]
            c, s = math.cos(angle), math.sin(angle)
            vx += half * (last * last_s + rate * s)
            vy -= half * (last * last_c + rate * c)
            squared_speeds += vx * vx + vy * vy
            squared_rates += rate * rate
            joint_rates += min(abs(velocity[b, 3 + j]), body.max_rate)
        if simulation.ball_mass > 0.0:
            vx, vy = velocity[b, n + 2] - simulation.current_x, velocity[b, n + 3] - simulation.current_y
            kinetic[b] = 0.5 * simulation.ball_mass * (vx * vx + vy * vy)
            kinetic[b] += 0.5 * simulation.ball_inertia * velocity[b, n + 4] ** 2
            ball_speed[b] = math.sqrt(vx * vx + vy * vy)
        kinetic[b] += 0.5 * (body.mass * squared_speeds + body.inertia * squared_rates)
        max_power[b] = body.max_torque * joint_rates
    return Energies(kinetic, max_power, ball_speed)
