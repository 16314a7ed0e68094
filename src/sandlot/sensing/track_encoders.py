"""Quadrature encoders of a rover's tracks, and odometry from their counts.

A Hall encoder on the motor's axle has two channels, A and B, a quarter of a pulse apart. Forward, A leads: over one
pulse the channels (A, B) are (1, 0), (1, 1), (0, 1), (0, 0). At an edge of one channel the level of the other one gives
the direction. The source's computer counts both edges of A by interrupts, and misses some.
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sandlot.geometry.planar import wrap_compiled
from sandlot.kernels import kernel
from sandlot.kernels.randomness import uniform
from sandlot.settings import Settings
from sandlot.typing import Array

ODOMETRY = np.dtype(
    [
        ("count_left", np.int64),
        ("count_right", np.int64),
        ("odometry_x", np.float64),  # [m]
        ("odometry_y", np.float64),
        ("odometry_yaw", np.float64),  # [rad]
        ("speed", np.float64),  # forward, over the last reading [m/s]
        ("turn_rate", np.float64),  # to the left, over the last reading [rad/s]
        ("stream", np.uint64),  # of random numbers
    ]
)
"""What the encoders of a rover have counted. A batch is a record array (n,)."""


class TrackEncoders(Settings):
    """Quadrature encoders of the sprockets of both tracks, as on the source's rover.

    Attributes:
        pulses: Pulses of a channel per turn of the sprocket.
        sprocket: Its diameter [m].
        channels: 1, count both edges of channel A, as the source does; 2, count those of B as well.
        missed: Probability that an edge is not counted. The source counts about 1% too much or too little.
    """

    pulses: int = Field(76, ge=1, le=1_000_000)
    sprocket: float = Field(0.05, gt=0.0, le=10.0)
    channels: Literal[1, 2] = 1
    missed: float = Field(0.005, ge=0.0, le=1.0)

    @property
    def travel(self) -> float:
        """Travel of a track per count [m]."""
        return math.pi * self.sprocket / (2 * self.channels * self.pulses)

    def start(self, poses: Array, streams: NDArray[np.uint64]) -> Any:
        """Counts of 0, and odometry at poses (n, 3) [m, m, rad]: (n,) of `ODOMETRY`; ``streams`` is (n,)."""
        state = np.zeros(len(poses), ODOMETRY).view(np.recarray)
        state.odometry_x, state.odometry_y, state.odometry_yaw = poses.T
        state.stream = streams
        return state

    def read(self, state: Any, travels: Array, width: float, interval: float) -> None:
        """Count the edges of a drive, and integrate odometry.

        Args:
            state: (n,) of `ODOMETRY`, changed in place.
            travels: (n, steps + 1, 2) travel of the left and the right track at equal times [m].
            width: Difference between both travels for a turn of 1 rad [m].
            interval: How long the drive took [s].
        """
        quarter = math.pi * self.sprocket / (4 * self.pulses)
        scale = _Scale(quarter, self.travel, self.channels, self.missed, width, interval)
        _read(state, np.ascontiguousarray(travels), scale)


class _Scale(NamedTuple):
    """Travel per quarter of a pulse and per count [m]; channels; missed share; width [m]; interval [s]."""

    quarter: float
    travel: float
    channels: int
    missed: float
    width: float
    interval: float


@kernel(error_model="numpy", allocates=False)
def decode(a_changed: bool, rising: bool, other: bool) -> int:
    """The source's table: 1 for a forward (clockwise) edge, -1 for a backward one, by the other channel's level."""
    if a_changed:
        return -1 if rising == other else 1
    return 1 if rising == other else -1


@kernel(error_model="numpy", allocates=False)
def count_edges(owner: Any, before: float, after: float, scale: _Scale) -> int:
    """Count the edges while a track goes from one travel to another [m]."""
    quarter, last = math.floor(before / scale.quarter), math.floor(after / scale.quarter)
    direction, count = 1 if last > quarter else -1, 0
    while quarter != last:
        state = (quarter + (0 if direction > 0 else -1)) % 4  # the quarter behind the edge, going forward
        a_changed = state % 2 == 1
        # Forward, A rises at the end of quarter 3 and falls at the end of 1; B rises at the end of 0, falls at 2.
        rising = (state == 3 or state == 0) == (direction > 0)
        other = state == 1 if a_changed else state == 0
        if (a_changed or scale.channels == 2) and (scale.missed == 0.0 or uniform(owner) >= scale.missed):
            count += decode(a_changed, rising, other)
        quarter += direction
    return count


@kernel(error_model="numpy", nogil=True, allocates=False)
def _read(state: Any, travels: Array, scale: _Scale) -> None:
    """Compute the steps of `TrackEncoders.read`."""
    for k in range(state.shape[0]):
        rover = state[k]
        sum_left, sum_right = 0, 0
        for i in range(1, travels.shape[1]):
            left = count_edges(rover, travels[k, i - 1, 0], travels[k, i, 0], scale)
            right = count_edges(rover, travels[k, i - 1, 1], travels[k, i, 1], scale)
            sum_left += left
            sum_right += right
            rotation = scale.travel * (right - left) / scale.width
            ahead, middle = 0.5 * scale.travel * (left + right), rover.odometry_yaw + 0.5 * rotation
            rover.odometry_x += ahead * math.cos(middle)
            rover.odometry_y += ahead * math.sin(middle)
            rover.odometry_yaw = wrap_compiled(rover.odometry_yaw + rotation)
        rover.count_left += sum_left
        rover.count_right += sum_right
        rover.speed = 0.5 * scale.travel * (sum_left + sum_right) / scale.interval
        rover.turn_rate = scale.travel * (sum_right - sum_left) / scale.width / scale.interval
