"""Wheel encoders of rovers, all read at once."""

import math
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from sandlot.sensing.noise import Source, white_noise
from sandlot.settings import Settings
from sandlot.typing import Array, IntArray


@dataclass(frozen=True, eq=False)
class EncoderReading:
    """Readings of n rovers, left and right.

    Attributes:
        true_angles: (n, 2) of the wheels since the start [rad].
        step: Angle of a count [rad].
        speeds: (n, 2) [rad/s]
    """

    true_angles: Array
    step: float
    speeds: Array

    @property
    def counts(self) -> IntArray:
        """Since the start; they decrease when a wheel rolls backwards: (n, 2)."""
        return np.floor(self.true_angles / self.step).astype(np.int64)

    @property
    def angles(self) -> Array:
        """The counts as angles: (n, 2) [rad]."""
        return self.step * self.counts.astype(np.float64)


class Encoders(Settings):
    """An encoder on the foremost powered wheel of each side, as on the Rover 5.

    Attributes:
        resolution: Counts per turn of the wheel.
        speed_noise: Standard deviation of the speeds [rad/s].
        speed_bias: Standard deviation of their bias [rad/s].
    """

    resolution: float = Field(1000.0 / 3.0, gt=0.0)
    speed_noise: float = Field(0.0, ge=0.0)
    speed_bias: float = Field(0.0, ge=0.0)

    @property
    def noisy(self) -> bool:
        """Whether speeds have noise."""
        return bool(self.speed_noise)

    def draw_bias(self, count: int, rng: np.random.Generator) -> Array:
        """Draw the biases of the speeds of ``count`` rovers for a run: (count, 2) [rad/s]."""
        return self.speed_bias * rng.normal(size=(count, 2))

    def read(self, angles: Array, speeds: Array, bias: Array, rng: Source) -> EncoderReading:
        """Read the encoders of n rovers.

        Args:
            angles: (n, 2) of the left and the right wheel since the start [rad].
            speeds: (n, 2) of the wheels [rad/s].
            bias: (n, 2) of `draw_bias` [rad/s].
            rng: For the noise; several give the noise of equal shares of the rovers.
        """
        noise = white_noise(rng, self.speed_noise, speeds.shape)
        return EncoderReading(angles, 2.0 * math.pi / self.resolution, speeds + bias + noise)
