"""A round robot on two driven wheels, the kind that most indoor robots are; any number of them at once.

It is told a speed and a turn, gets there as fast as its motors allow, loses a share of both to slip, and slides along
what it bumps into. Its odometry believes its wheels, which go on turning when a wall stops it. It never is within a
wall: `sandlot.physics.walls`.
"""

import math

import numpy as np
from pydantic import Field

from sandlot.kernels import kernel
from sandlot.physics.walls import slide
from sandlot.settings import Settings
from sandlot.typing import Array, BoolArray

X, Y, HEADING, ODOMETRY_X, ODOMETRY_Y, ODOMETRY_HEADING, SPEED, TURN = range(8)
"""Columns of the state of robots: position [m] and heading [rad], where its wheels say it is, and how fast these say it
drives [m/s] and turns to the left [rad/s]."""
STEP = 0.02
"""Robots move in steps not longer than this [s]."""


class RoundRobot(Settings):
    """A round body. The defaults, chosen here, are such as a MetraLabs SCITOS G5 might have when driven with care.

    Attributes:
        radius: [m]
        top_speed: Forwards and backwards [m/s].
        top_turn: To both sides [rad/s].
        acceleration: Largest [m/s^2].
        turn_acceleration: Largest [rad/s^2].
        slip: Share of the wheels' way and turn that is lost.
        slip_noise: Standard deviation of that share, drawn anew for way and turn in every step.
    """

    radius: float = Field(0.3, gt=0.0)
    top_speed: float = Field(0.8, gt=0.0, le=100.0)
    top_turn: float = Field(1.5, gt=0.0, le=100.0)
    acceleration: float = Field(1.0, gt=0.0)
    turn_acceleration: float = Field(4.0, gt=0.0)
    slip: float = Field(0.01, ge=0.0, lt=1.0)
    slip_noise: float = Field(0.03, ge=0.0)

    def start(self, poses: Array) -> Array:
        """State of robots at rest at poses (n, 3) [m, m, rad], their odometry right: (n, 8)."""
        state = np.zeros((len(poses), 8))
        state[:, X : HEADING + 1] = state[:, ODOMETRY_X : ODOMETRY_HEADING + 1] = poses
        return state

    def drive(
        self,
        state: Array,
        wanted: Array,
        slips: Array,
        segments: Array,
        circles: Array,
        interval: float,
    ) -> BoolArray:
        """Drive robots for a while.

        Args:
            state: (n, 8) changed.
            wanted: (n, 2) speed [m/s] and turn [rad/s]; what is more than the robot can is cut off.
            slips: (n, 2) shares of way and turn that are lost, as `slips` gives them.
            segments: (m, 4) walls [m].
            circles: (c, 3) round ones [m].
            interval: How long [s].

        Returns:
            (n,) whether each has touched a wall.
        """
        top = np.array([self.top_speed, self.top_turn])
        steps = max(math.ceil(interval / STEP), math.ceil(8.0 * interval * self.top_speed / self.radius))
        pace = np.array([self.acceleration, self.turn_acceleration])
        bumped = np.zeros(len(state), np.bool_)
        limited = np.clip(np.asarray(wanted, np.float64), -top, top)
        drive(state, limited, slips, pace, self.radius, segments, circles, interval / steps, steps, bumped)
        return bumped

    def slips(self, draws: Array) -> Array:
        """Shares of way and turn that robots lose in a step, from -1 to 1: (n, 2), from as many normal draws."""
        return np.clip(self.slip + self.slip_noise * draws, -1.0, 1.0)

    def draw_slips(self, count: int, rng: np.random.Generator) -> Array:
        """Such shares for so many robots by one generator: (count, 2)."""
        return self.slips(rng.standard_normal((count, 2)))


@kernel(error_model="numpy", nogil=True, allocates=False)
def drive(
    state: Array,
    wanted: Array,
    slips: Array,
    pace: Array,
    radius: float,
    segments: Array,
    circles: Array,
    step: float,
    steps: int,
    bumped: BoolArray,
) -> None:
    """The kernel of `RoundRobot.drive`: so many steps of ``step`` [s]; ``pace`` is the largest accelerations."""
    for k in range(state.shape[0]):
        robot = state[k]
        for _ in range(steps):
            most = pace[0] * step
            robot[SPEED] += min(max(wanted[k, 0] - robot[SPEED], -most), most)
            most = pace[1] * step
            robot[TURN] += min(max(wanted[k, 1] - robot[TURN], -most), most)
            believed = robot[ODOMETRY_HEADING] + 0.5 * step * robot[TURN]
            robot[ODOMETRY_X] += step * robot[SPEED] * math.cos(believed)
            robot[ODOMETRY_Y] += step * robot[SPEED] * math.sin(believed)
            robot[ODOMETRY_HEADING] = wrap(robot[ODOMETRY_HEADING] + step * robot[TURN])
            way, turned = step * robot[SPEED] * (1.0 - slips[k, 0]), step * robot[TURN] * (1.0 - slips[k, 1])
            middle = robot[HEADING] + 0.5 * turned
            dx, dy = way * math.cos(middle), way * math.sin(middle)
            x, y, touched = slide(robot[X], robot[Y], dx, dy, radius, segments, circles)
            bumped[k] |= touched
            robot[X], robot[Y] = x, y
            robot[HEADING] = wrap(robot[HEADING] + turned)


@kernel(error_model="numpy", allocates=False)
def wrap(angle: float) -> float:
    """The same angle from -pi to pi [rad]."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)
