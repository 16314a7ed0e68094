"""Drag and servo torques on a chain that a rigid-body engine simulates.

The servos are computed-torque ones. With plain position servos, stiff enough to move this body, MuJoCo is only first
order in the step and gains momentum in violent gaits; clamped ones become unstable. Here inverse dynamics of the chain
gives each joint the torque that its acceleration needs, and only errors are fed back, at the rate ``stiffness``. No
term is stiff then, so that the fourth-order integrator converges.

Accelerations are planned within the torque limit at every command (`reduced.plan`). If a joint needs more in between,
all accelerations are scaled by the same factor. The torques that keep the present joint rates are never limited:
without them the water would move a joint off its course faster than any servo could correct.
"""

import math
from typing import Any

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.swimming.body import SWIMMER
from sandlot.typing import Array

SIMULATION = np.dtype(
    [
        ("mark", np.float64),  # `MARK`
        ("body", SWIMMER),
        ("current_x", np.float64),  # velocity of the water [m/s]
        ("current_y", np.float64),
        ("stiffness", np.float64),  # rate at which servos correct errors [1/s]
        ("command_time", np.float64),  # of the last command [s]
        ("ball_drag", np.float64),  # [N*s/m]; negative without a ball
    ]
)
"""What is known of a simulation; the same for all of its joints."""

MARK = 20150703.0
"""In the first word of a simulation's user data: its body swims."""

ANGLE, RATE, ACCELERATION = range(3)
"""Rows of a plan: angle [rad] and rate [rad/s] of every joint at the last command, and its acceleration [rad/s^2]."""


@kernel(error_model="numpy")
def push(position: Array, velocity: Array, force: Array, time: float, simulation: Any, plan: Array) -> None:
    """Add drag and joint torques to the generalised forces of a chain.

    Args:
        position: x, y [m] and yaw [rad] of the head link, joint angles [rad], and x, y of the ball [m] if there is one.
        velocity: Their rates.
        force: Generalised forces, added to.
        time: Since the start [s].
        simulation: A record of `SIMULATION`.
        plan: (3, joints) motion of the joints from the last command on.
    """
    body, stiffness, since = simulation.body, simulation.stiffness, time - simulation.command_time
    n, half, mass, inertia = body.links, 0.5 * body.length, body.mass, body.inertia
    # Links: centre, direction, drag force; centripetal acceleration (b), acceleration (a) and angular acceleration
    # (alpha) by the joints' accelerations.
    x, y, ex, ey, fx, fy = np.zeros((6, n))
    bx, by, ax, ay, alpha = np.zeros((5, n))
    angle, rate = position[2], velocity[2]
    vx, vy = velocity[0] - simulation.current_x, velocity[1] - simulation.current_y
    for k in range(n):
        if k > 0:
            j = k - 1
            acc = plan[ACCELERATION, j]
            planned_rate = plan[RATE, j] + acc * since
            planned_angle = plan[ANGLE, j] + since * (plan[RATE, j] + 0.5 * acc * since)
            acc += 2.0 * stiffness * (planned_rate - velocity[3 + j])
            acc += stiffness * stiffness * (planned_angle - position[3 + j])
            c, s, last = ex[j], ey[j], rate
            angle -= position[3 + j]
            rate -= velocity[3 + j]
            alpha[k] = alpha[j] - acc
            ex[k], ey[k] = math.cos(angle), math.sin(angle)
            x[k], y[k] = x[j] - half * (c + ex[k]), y[j] - half * (s + ey[k])
            vx += half * (last * s + rate * ey[k])
            vy -= half * (last * c + rate * ex[k])
            bx[k] = bx[j] + half * (last * last * c + rate * rate * ex[k])
            by[k] = by[j] + half * (last * last * s + rate * rate * ey[k])
            ax[k] = ax[j] + half * (alpha[j] * s + alpha[k] * ey[k])
            ay[k] = ay[j] - half * (alpha[j] * c + alpha[k] * ex[k])
        else:
            ex[0], ey[0] = math.cos(angle), math.sin(angle)
        across, along = vy * ex[k] - vx * ey[k], vx * ex[k] + vy * ey[k]
        into_water = (k == 0 and along > 0.0) or (k == n - 1 and along < 0.0)
        drag, side = body.end_drag + (body.tip_drag if into_water else 0.0), body.side_drag
        fx[k], fy[k] = -drag * along * ex[k] + side * across * ey[k], -drag * along * ey[k] - side * across * ex[k]
    x -= x.mean()
    y -= y.mean()
    bx -= bx.mean()
    by -= by.mean()
    ax -= ax.mean()
    ay -= ay.mean()
    # The whole body is free: its accelerations follow from the drag and from the joints' accelerations.
    total_inertia = mass * (x * x + y * y).sum() + n * inertia
    moment = (x * fy - y * fx).sum()
    turn_b = (moment - mass * (x * by - y * bx).sum()) / total_inertia
    turn_a = -(mass * (x * ay - y * ax).sum() + inertia * alpha.sum()) / total_inertia
    bx += fx.sum() / (n * mass) - turn_b * y
    by += fy.sum() / (n * mass) + turn_b * x
    ax -= turn_a * y
    ay += turn_a * x
    alpha += turn_a
    # From the tail on, sums of the drag (w) and of mass times acceleration (g, h), with their moments, give the torque
    # of the water on each joint, the torque that keeps its rate, and the torque that its acceleration needs.
    have, need, water = np.zeros((3, n))
    wx, wy, wt, gx, gy, gt, hx, hy, ht = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(n - 1, 0, -1):
        wx += fx[k]
        wy += fy[k]
        wt += x[k] * fy[k] - y[k] * fx[k]
        gx += mass * bx[k]
        gy += mass * by[k]
        gt += mass * (x[k] * by[k] - y[k] * bx[k]) + inertia * turn_b
        hx += mass * ax[k]
        hy += mass * ay[k]
        ht += mass * (x[k] * ay[k] - y[k] * ax[k]) + inertia * alpha[k]
        px, py = x[k] + half * ex[k], y[k] + half * ey[k]
        water[k] = px * wy - py * wx - wt
        have[k] = px * gy - py * gx - gt - water[k]
        need[k] = px * hy - py * hx - ht
    share = 1.0
    for k in range(1, n):
        room = body.max_torque - have[k] if need[k] > 0.0 else body.max_torque + have[k]
        if share * abs(need[k]) > room:
            share = max(room, 0.0) / abs(need[k])
    for k in range(1, n):
        force[2 + k] += water[k] + have[k] + share * need[k]
    wx, wy = wx + fx[0], wy + fy[0]
    force[0] += wx
    force[1] += wy
    force[2] += moment - (x[0] * wy - y[0] * wx)
    if simulation.ball_drag >= 0.0:
        force[n + 2] -= simulation.ball_drag * (velocity[n + 2] - simulation.current_x)
        force[n + 3] -= simulation.ball_drag * (velocity[n + 3] - simulation.current_y)
