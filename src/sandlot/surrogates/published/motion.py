"""What the published nets are trained on: a table of a rover's motion, frame by frame, from a recording."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import xarray as xr

from sandlot.errors import RecordingError
from sandlot.kernels import kernel
from sandlot.physics.height_map import height_between
from sandlot.typing import Array

INPUTS = ("left", "right", "pitch", "roll")
"""Of all nets: speeds of the left and the right wheels [rad/s], pitch, positive with the nose up, and roll [rad]."""
TARGETS = ("speed", "dyaw", "dx", "dy")
"""Of the nets, one each: length of the way of a frame [m], change of yaw [rad], changes of x and y [m]."""
QUANTITIES = ("wheel_speed_left", "wheel_speed_right", "pitch", "roll", "dx", "dy", "dyaw", "command_speed")


@dataclass(frozen=True, eq=False)
class Motion:
    """The motion of one rover in the frames of a recording.

    Attributes:
        values: (frames, 8) columns of `INPUTS`, then of `TARGETS`.
        command_speed: (frames,) commanded forward speed [m/s].
    """

    values: Array
    command_speed: Array

    @classmethod
    def of(cls, recording: xr.Dataset, rover: int = 0) -> Self:
        """Take it from a recording; first frames of episodes, in which nothing has moved, are left out.

        Raises:
            RecordingError: If a quantity is missing.
        """
        missing = [name for name in QUANTITIES if name not in recording]
        if missing:
            raise RecordingError(f"this recording has no {', '.join(missing)}; give one of a rover, as of `terrain`")
        episode = recording["episode"].values if "episode" in recording else np.zeros(recording.sizes["time"])
        moved = np.concatenate([[False], episode[1:] == episode[:-1]])
        found = {name: recording[name].values.reshape(len(moved), -1)[moved, rover] for name in QUANTITIES}
        inputs = found["wheel_speed_left"], found["wheel_speed_right"], -found["pitch"], found["roll"]
        speed = np.hypot(found["dx"], found["dy"])
        values = np.column_stack([*inputs, speed, found["dyaw"], found["dx"], found["dy"]])
        return cls(values, found["command_speed"])

    def column(self, name: str) -> Array:
        """One of `INPUTS` or `TARGETS`: (frames,)."""
        return self.values[:, (*INPUTS, *TARGETS).index(name)]


@kernel(error_model="numpy")
def attitude_on(
    heights: Array, row: float, column: float, yaw: float, reach: float, spacing: float, wrap: bool
) -> tuple[float, float]:
    """Pitch, positive with the nose up, and roll of a rover on a height map, as in section 6.1 of the source.

    Args:
        heights: (ny, nx) [m]
        row: Of the rover [node].
        column: Of the rover [node].
        yaw: Of the rover [rad].
        reach: Distance of the four points around the rover from its middle [m].
        spacing: Of nodes [m].
        wrap: Whether the map continues at its opposite edge.

    Returns:
        Both angles [rad].
    """
    along, aside = reach * math.cos(yaw) / spacing, reach * math.sin(yaw) / spacing
    front = height_between(heights, row + aside, column + along, wrap)
    back = height_between(heights, row - aside, column - along, wrap)
    left = height_between(heights, row + along, column - aside, wrap)
    right = height_between(heights, row - along, column + aside, wrap)
    return math.atan((front - back) / (2.0 * reach)), math.atan((left - right) / (2.0 * reach))
