"""Drag on chains that MuJoCo simulates.

A step of MuJoCo changes the velocities by the forces at its beginning, then the positions by the new velocities. Drag
is that of the mean of a link's velocities before and after that change. The velocity after it depends on drag itself,
and on the other forces on the link: those of motors, joints and contacts, which are taken from the last step. This is
second order in the step, and exact where drag and the other forces balance. It converges quickly while a step is
shorter than 2 over the rate at which drag slows a link down, and is stable beyond.
"""

from typing import Any

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.swimming.links import COS, SIN, VELOCITY_X, VELOCITY_Y, X, Y, place
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


@kernel(error_model="numpy", allocates=False)
def resist(damping: float, mass: float, speed: float, other: float, step: float) -> float:
    """Drag force on a mass in one direction [N].

    Args:
        damping: Drag force over speed [N*s/m].
        mass: [kg]
        speed: Through the water, before the step [m/s].
        other: All other forces [N].
        step: [s]
    """
    half = 0.5 * step / mass
    return -damping * (speed + half * other) / (1.0 + half * damping)


@kernel(error_model="numpy")
def add_drag(simulation: Any, position: Array, velocity: Array, which: IntArray, water: Water, force: Array) -> None:
    """Compute drag as generalised forces for the next step, and the momentum that the step has to leave.

    Args:
        simulation: A record of `SIMULATION`.
        position: (bodies, coordinates)
        velocity: (bodies, coordinates) their rates.
        which: (some,) bodies.
        water: Other forces are read, the rest is written.
        force: (bodies, coordinates) generalised forces, written.
    """
    body, step = simulation.body, simulation.step
    n, half, mass = body.links, 0.5 * body.length, body.mass
    links = np.empty((6, n))
    for b in which:
        q, v, f, kept = position[b], velocity[b], force[b], water.kept[b]
        angular, _ = place(body, q, v, 0.0, links)
        centre_vx, centre_vy = v[0] - links[VELOCITY_X, 0], v[1] - links[VELOCITY_Y, 0]
        sum_x, sum_y, moment = 0.0, 0.0, 0.0
        # From the tail on, sums of the drag and its moment give the force at each joint.
        for k in range(n - 1, -1, -1):
            c, s, drag, other = links[COS, k], links[SIN, k], water.drag[b, k], water.others[b, k]
            vx, vy = centre_vx + links[VELOCITY_X, k], centre_vy + links[VELOCITY_Y, k]
            water.velocity[b, k, 0], water.velocity[b, k, 1] = vx, vy
            vx, vy = vx - simulation.current_x, vy - simulation.current_y
            along, across = vx * c + vy * s, vy * c - vx * s
            into_water = (k == 0 and along > 0.0) or (k == n - 1 and along < 0.0)
            end = body.end_drag + (body.tip_drag if into_water else 0.0)
            along = resist(end, mass, along, other[0] * c + other[1] * s, step)
            across = resist(body.side_drag, mass, across, other[1] * c - other[0] * s, step)
            drag[0], drag[1] = along * c - across * s, along * s + across * c
            sum_x += drag[0]
            sum_y += drag[1]
            moment += links[X, k] * drag[1] - links[Y, k] * drag[0]
            if k > 0:
                x, y = links[X, k] + half * c, links[Y, k] + half * s
                f[2 + k] = x * sum_y - y * sum_x - moment
        f[0], f[1], f[2] = sum_x, sum_y, moment - (links[X, 0] * sum_y - links[Y, 0] * sum_x)
        kept[CENTRE_X], kept[CENTRE_Y], kept[YAW] = q[0] - links[X, 0], q[1] - links[Y, 0], q[2]
        kept[MOMENTUM_X] = n * mass * centre_vx + step * sum_x
        kept[MOMENTUM_Y] = n * mass * centre_vy + step * sum_y
        kept[ANGULAR_MOMENTUM] = angular + step * moment
        if simulation.ball_mass > 0.0:
            _drag_ball(simulation, q[n + 2 : n + 5], v[n + 2 : n + 5], b, water, f[n + 2 : n + 5])


@kernel(error_model="numpy", allocates=False)
def _drag_ball(simulation: Any, q: Array, v: Array, b: int, water: Water, f: Array) -> None:
    """The same for the ball of body ``b``, with its coordinates."""
    k, kept, drag, other = simulation.body.links, water.kept[b], water.drag[b, -1], water.others[b, -1]
    mass, step = simulation.ball_mass, simulation.step
    water.velocity[b, k, 0], water.velocity[b, k, 1] = v[0], v[1]
    drag[0] = resist(simulation.ball_drag, mass, v[0] - simulation.current_x, other[0], step)
    drag[1] = resist(simulation.ball_drag, mass, v[1] - simulation.current_y, other[1], step)
    f[0], f[1] = drag[0], drag[1]
    px, py = mass * v[0] + step * drag[0], mass * v[1] + step * drag[1]
    kept[MOMENTUM_X] += px
    kept[MOMENTUM_Y] += py
    kept[ANGULAR_MOMENTUM] += (q[0] - kept[CENTRE_X]) * py - (q[1] - kept[CENTRE_Y]) * px
    kept[ANGULAR_MOMENTUM] += simulation.ball_inertia * v[2]
