"""Inertial measurement units on the chassis of rovers, all read at once.

A unit is exact by default. Noise is drawn for every reading and a bias once per run, both from a given generator.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from pydantic import Field

from sandlot.sensing.noise import Source, white_noise
from sandlot.settings import Settings
from sandlot.typing import Array


class BodyMotion(Protocol):
    """What an `Imu` measures: the motion of n bodies, about and along their own axes (x forward, y left, z up)."""

    @property
    def attitude(self) -> Array:
        """Roll, pitch and yaw: (n, 3) [rad]."""

    @property
    def rates(self) -> Array:
        """Angular rates: (n, 3) [rad/s]."""

    @property
    def angular_acceleration(self) -> Array:
        """(n, 3) [rad/s^2]."""

    @property
    def specific_force(self) -> Array:
        """Acceleration minus gravity at the body's origin: (n, 3) [m/s^2]."""


@dataclass(frozen=True, eq=False)
class ImuBias:
    """Constant errors of n units during a run.

    Attributes:
        rates: (n, 3) [rad/s]
        force: (n, 3) [m/s^2]
    """

    rates: Array
    force: Array


@dataclass(frozen=True, eq=False)
class ImuReading:
    """Readings of n units.

    Attributes:
        orientation: (n, 3) roll, pitch, yaw of the chassis [rad], as in ROS REP-103: about x forward, y left, z up, so
            that roll is positive with the left side up, pitch with the nose down, yaw to the left.
        rates: (n, 3) angular rates about the chassis' axes [rad/s].
        force: (n, 3) specific force along the chassis' axes [m/s^2]: acceleration minus gravity. At rest on level
            ground it is 9.81 upwards.
    """

    orientation: Array
    rates: Array
    force: Array


class Imu(Settings):
    """An inertial measurement unit whose axes are those of the chassis.

    Attributes:
        position: In the chassis' frame [m].
        rate_noise: Density of the gyroscope's white noise [rad/s/sqrt(Hz)].
        force_noise: Density of the accelerometer's white noise [m/s^2/sqrt(Hz)].
        orientation_noise: Standard deviation of roll, pitch and yaw, which the unit estimates itself [rad].
        rate_bias: Standard deviation of the gyroscope's bias [rad/s].
        force_bias: Standard deviation of the accelerometer's bias [m/s^2].
    """

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rate_noise: float = Field(0.0, ge=0.0)
    force_noise: float = Field(0.0, ge=0.0)
    orientation_noise: float = Field(0.0, ge=0.0)
    rate_bias: float = Field(0.0, ge=0.0)
    force_bias: float = Field(0.0, ge=0.0)

    @property
    def noisy(self) -> bool:
        """Whether readings have noise."""
        return bool(self.rate_noise or self.force_noise or self.orientation_noise)

    def draw_bias(self, count: int, rng: np.random.Generator) -> ImuBias:
        """Draw the biases of ``count`` units for a run."""
        return ImuBias(self.rate_bias * rng.normal(size=(count, 3)), self.force_bias * rng.normal(size=(count, 3)))

    def read(self, motion: BodyMotion, bias: ImuBias, interval: float, rng: Source) -> ImuReading:
        """Read the units of all bodies.

        Args:
            motion: Of the bodies.
            bias: From `draw_bias`.
            interval: Between readings [s]. The noise of a reading is its density over the square root of this.
            rng: Of the noise; several give the noise of equal shares of the bodies.
        """
        rates, force = motion.rates, motion.specific_force
        if any(self.position):
            arm = np.array(self.position)
            force = force + (np.cross(motion.angular_acceleration, arm) + np.cross(rates, np.cross(rates, arm)))
        share = 1.0 / math.sqrt(interval)
        return ImuReading(
            motion.attitude + white_noise(rng, self.orientation_noise, rates.shape),
            rates + bias.rates + white_noise(rng, share * self.rate_noise, rates.shape),
            force + bias.force + white_noise(rng, share * self.force_noise, rates.shape),
        )
