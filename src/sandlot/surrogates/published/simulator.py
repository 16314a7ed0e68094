"""The published simulator in the plane (section 6.1 of the source): two nets move a rover over a height map.

Pitch and roll come from the map, and positions from ``x += v cos(yaw)``. Nets predict a speed without a sign; it gets
that of the command.
"""

from dataclasses import dataclass

import numpy as np

from sandlot.kernels import kernel
from sandlot.models.dense import Dense, forward
from sandlot.surrogates.published.motion import TARGETS, attitude_on
from sandlot.surrogates.published.preprocessing import Scale
from sandlot.typing import Array

PATH = ("x", "y", "yaw", "speed", "dyaw", "pitch", "roll")
"""Columns of a path: pose after a frame [m, m, rad], motion in it [m, rad], and attitude before it [rad]."""


@dataclass(frozen=True, eq=False)
class Map:
    """Ground for the simulator.

    Attributes:
        heights: (ny, nx) [m], its middle at the origin.
        spacing: Of nodes [m].
        wrap: Whether it continues at the opposite edge.
        reach: Half the size of the rover, at which pitch and roll are measured [m].
    """

    heights: Array
    spacing: float
    wrap: bool
    reach: float


@kernel(error_model="numpy", nogil=True)
def move(
    nets: tuple[Dense, Dense],
    low: Array,
    high: Array,
    wheel_speeds: Array,
    directions: Array,
    heights: Array,
    spacing: float,
    wrap: bool,
    reach: float,
    path: Array,
) -> None:
    """Move a rover for some frames.

    Args:
        nets: Of speed and change of yaw, from and to numbers from -1 to 1.
        low: (6,) what -1 stands for: of the inputs, then of speed and change of yaw.
        high: (6,) what 1 stands for.
        wheel_speeds: (frames, 2) left and right [rad/s].
        directions: (frames,) sign of the commanded speed.
        heights: As in `Map`, and so are ``spacing``, ``wrap`` and ``reach``.
        spacing: [m]
        wrap: Whether the map continues at its opposite edge.
        reach: [m]
        path: (frames + 1, 7) columns of `PATH`; the first row has the start, the others are filled.
    """
    x, y, yaw = path[0, 0], path[0, 1], path[0, 2]
    ny, nx = heights.shape
    row, middle, half = np.empty((1, 4)), 0.5 * (high + low), 0.5 * (high - low)
    for k in range(len(wheel_speeds)):
        at_row, at_column = y / spacing + 0.5 * (ny - 1), x / spacing + 0.5 * (nx - 1)
        pitch, roll = attitude_on(heights, at_row, at_column, yaw, reach, spacing, wrap)
        row[0, 0], row[0, 1], row[0, 2], row[0, 3] = wheel_speeds[k, 0], wheel_speeds[k, 1], pitch, roll
        for n in range(4):
            row[0, n] = (row[0, n] - middle[n]) / half[n]
        speed = forward(nets[0], row)[0, 0] * half[4] + middle[4]
        turn = forward(nets[1], row)[0, 0] * half[5] + middle[5]
        if directions[k] < 0.0:
            speed = -speed
        x, y, yaw = x + speed * np.cos(yaw), y + speed * np.sin(yaw), yaw + turn
        path[k + 1, 0], path[k + 1, 1], path[k + 1, 2], path[k + 1, 3] = x, y, yaw, speed
        path[k + 1, 4], path[k + 1, 5], path[k + 1, 6] = turn, pitch, roll


def simulate(
    nets: tuple[Dense, Dense],
    scale: Scale,
    ground: Map,
    wheel_speeds: Array,
    command_speed: Array,
    start: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Array:
    """Drive a rover in the plane.

    Args:
        nets: Of ``speed`` and ``dyaw``.
        scale: Of their training.
        ground: Under the rover.
        wheel_speeds: (frames, 2) of the left and the right wheels [rad/s].
        command_speed: (frames,) whose sign the speed gets [m/s].
        start: x, y [m] and yaw [rad].

    Returns:
        (frames + 1, 7) columns of `PATH`, beginning with the start.
    """
    path = np.zeros((len(wheel_speeds) + 1, len(PATH)))
    path[0, :3] = start
    count = 4 + TARGETS.index("dyaw") + 1
    about = ground.heights, ground.spacing, ground.wrap, ground.reach
    low, high = scale.low[:count], scale.high[:count]
    move(nets, low, high, np.ascontiguousarray(wheel_speeds), np.sign(command_speed), *about, path)
    return path
