"""A batch of round robots on two driven wheels, the drive of most indoor robots.

A robot is commanded a speed and a turn rate, reaches them as fast as its motors allow, loses a share of both to slip,
and slides along walls that it bumps into. Its odometry follows its wheels, which go on turning when a wall stops it. It
never overlaps a wall: `sandlot.physics.walls`.
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from sandlot.geometry.planar import wrap_compiled
from sandlot.geometry.walls import Walls
from sandlot.kernels import kernel
from sandlot.physics.walls import slide
from sandlot.settings import Settings
from sandlot.typing import Array, BoolArray

ROBOT = np.dtype(
    [
        ("x", np.float64),  # [m]
        ("y", np.float64),
        ("yaw", np.float64),  # [rad]
        ("odometry_x", np.float64),  # by its wheels [m]
        ("odometry_y", np.float64),
        ("odometry_yaw", np.float64),  # [rad]
        ("speed", np.float64),  # of its wheels, forward [m/s]
        ("turn_rate", np.float64),  # of its wheels, to the left [rad/s]
    ]
)
"""The state of a robot. A batch is a record array (n,): ``state.x`` is (n,), ``state[k].x`` a number."""
MAX_STEP = 0.02
"""Longest time step [s]."""


class RoundRobot(Settings):
    """A round body. The defaults, chosen here, suit a MetraLabs SCITOS G5 that is driven with care.

    Attributes:
        kind: ``round``.
        radius: [m]
        top_speed: Forward and backward [m/s].
        top_turn: Largest turn rate, to either side [rad/s].
        acceleration: Largest [m/s^2].
        turn_acceleration: Largest [rad/s^2].
        slip: Mean share of the wheels' motion that is lost.
        slip_noise: Standard deviation of that share, drawn separately for driving and turning at every step.
    """

    kind: Literal["round"] = "round"
    radius: float = Field(0.3, ge=0.01, le=10.0)
    top_speed: float = Field(0.8, gt=0.0, le=100.0)
    top_turn: float = Field(1.5, gt=0.0, le=100.0)
    acceleration: float = Field(1.0, gt=0.0)
    turn_acceleration: float = Field(4.0, gt=0.0)
    slip: float = Field(0.01, ge=0.0, lt=1.0)
    slip_noise: float = Field(0.03, ge=0.0)

    def start(self, poses: Array) -> Any:
        """State of robots at rest at poses (n, 3) [m, m, rad], with odometry equal to the pose: (n,) of `ROBOT`."""
        state = np.zeros(len(poses), ROBOT).view(np.recarray)
        state.x, state.y, state.yaw = poses.T
        state.odometry_x, state.odometry_y, state.odometry_yaw = poses.T
        return state

    def drive(self, state: Any, commands: Array, slips: Array, walls: Walls, interval: float) -> BoolArray:
        """Drive robots for ``interval``.

        Args:
            state: (n,) of `ROBOT`, changed in place.
            commands: (n, 2) speed [m/s] and turn rate [rad/s], clipped to what the robot can do.
            slips: (n, 2) shares of driving and turning that are lost, from `slips`.
            walls: Around them.
            interval: How long [s].

        Returns:
            (n,) whether each has touched a wall.
        """
        top = np.array([self.top_speed, self.top_turn])
        steps = max(math.ceil(interval / MAX_STEP), math.ceil(8.0 * interval * self.top_speed / self.radius))
        step = interval / steps
        motion = _Motion(step, steps, self.acceleration * step, self.turn_acceleration * step, self.radius)
        bumped = np.zeros(len(state), np.bool_)
        limited = np.clip(np.asarray(commands, np.float64), -top, top)
        _drive(state, limited, slips, motion, walls, bumped)
        return bumped

    def slips(self, draws: Array) -> Array:
        """Shares of driving and turning that are lost in a step, from -1 to 1: (n, 2), from as many normal draws."""
        return np.clip(self.slip + self.slip_noise * draws, -1.0, 1.0)

    def draw_slips(self, count: int, rng: np.random.Generator) -> Array:
        """Draw the shares of `slips` for ``count`` robots: (count, 2)."""
        return self.slips(rng.standard_normal((count, 2)))


class _Motion(NamedTuple):
    """Length [s] and number of steps; largest change of speed [m/s] and turn rate [rad/s] in one; the radius [m]."""

    step: float
    steps: int
    speed_change: float
    turn_change: float
    radius: float


@kernel(error_model="numpy", nogil=True, allocates=False)
def _drive(state: Any, commands: Array, slips: Array, motion: _Motion, walls: Walls, bumped: BoolArray) -> None:
    """Compute the steps of `RoundRobot.drive`."""
    step = motion.step
    for k in range(state.shape[0]):
        robot = state[k]
        for _ in range(motion.steps):
            change = motion.speed_change
            robot.speed += min(max(commands[k, 0] - robot.speed, -change), change)
            change = motion.turn_change
            robot.turn_rate += min(max(commands[k, 1] - robot.turn_rate, -change), change)
            middle = robot.odometry_yaw + 0.5 * step * robot.turn_rate
            robot.odometry_x += step * robot.speed * math.cos(middle)
            robot.odometry_y += step * robot.speed * math.sin(middle)
            robot.odometry_yaw = wrap_compiled(robot.odometry_yaw + step * robot.turn_rate)
            distance = step * robot.speed * (1.0 - slips[k, 0])
            rotation = step * robot.turn_rate * (1.0 - slips[k, 1])
            middle = robot.yaw + 0.5 * rotation
            dx, dy = distance * math.cos(middle), distance * math.sin(middle)
            x, y, touched = slide(robot.x, robot.y, dx, dy, motion.radius, walls)
            bumped[k] |= touched
            robot.x, robot.y = x, y
            robot.yaw = wrap_compiled(robot.yaw + rotation)
