"""What a rover feels of its own movement: an inertial measurement unit on its chassis, and encoders on its wheels.

Both read a MuJoCo simulation after a step and all its rovers at once. They are exact unless told to be worse: noise is
drawn anew for every reading, a bias once per run, both from a generator that is passed in.
"""

import math
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sandlot.geometry.rotations import roll_pitch_yaw
from sandlot.robots.rover_model import RoverModel
from sandlot.settings import Settings
from sandlot.typing import Array


@dataclass(frozen=True, eq=False)
class ImuBias:
    """What is wrong with the units of n rovers for a whole run.

    Attributes:
        rates: (n, 3) [rad/s]
        force: (n, 3) [m/s^2]
    """

    rates: Array
    force: Array


@dataclass(frozen=True, eq=False)
class ImuReading:
    """What the units of n rovers say.

    Attributes:
        orientation: (n, 3) roll, pitch, yaw of the chassis [rad], as in ROS REP-103: about x forward, y left, z up, so
            that roll is positive with the left side up, pitch with the nose down, yaw to the left.
        rates: (n, 3) how fast it turns about its own axes [rad/s].
        force: (n, 3) specific force along its own axes [m/s^2]: acceleration without gravity. At rest and level, that
            is 9.81 upwards.
    """

    orientation: Array
    rates: Array
    force: Array


class Imu(Settings):
    """An inertial measurement unit, with axes along the chassis'.

    Attributes:
        position: Where it is, in the chassis' frame [m].
        interval: Between readings, which says how much of the noise each one gets [s].
        rate_noise: Density of the gyroscope's white noise [rad/s/sqrt(Hz)].
        force_noise: Density of the accelerometer's white noise [m/s^2/sqrt(Hz)].
        orientation_noise: Standard deviation of roll, pitch and yaw, which the unit works out itself [rad].
        rate_bias: Standard deviation of the gyroscope's bias [rad/s].
        force_bias: Standard deviation of the accelerometer's bias [m/s^2].
    """

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    interval: float = Field(0.02, gt=0.0)
    rate_noise: float = Field(0.0, ge=0.0)
    force_noise: float = Field(0.0, ge=0.0)
    orientation_noise: float = Field(0.0, ge=0.0)
    rate_bias: float = Field(0.0, ge=0.0)
    force_bias: float = Field(0.0, ge=0.0)

    def draw_bias(self, count: int, rng: np.random.Generator) -> ImuBias:
        """Of the units of that many rovers, for a run."""
        return ImuBias(self.rate_bias * rng.normal(size=(count, 3)), self.force_bias * rng.normal(size=(count, 3)))

    def read(self, rovers: RoverModel, data: mujoco.MjData, bias: ImuBias, rng: np.random.Generator) -> ImuReading:
        """After a step, of all rovers."""
        count = len(rovers.rovers)
        rates, force = np.empty((count, 3)), np.empty((count, 3))
        rotations = chassis_rotations(rovers, data)
        arm = np.array(self.position)
        for k, parts in enumerate(rovers.rovers):
            # A free joint's linear half is in the world's axes, its angular half in the body's own.
            linear, angular = data.qacc[parts.dof : parts.dof + 3], data.qacc[parts.dof + 3 : parts.dof + 6]
            rates[k] = data.qvel[parts.dof + 3 : parts.dof + 6]
            force[k] = rotations[k].T @ (linear - rovers.model.opt.gravity)
            if arm.any():
                force[k] += np.cross(angular, arm) + np.cross(rates[k], np.cross(rates[k], arm))
        share = 1.0 / math.sqrt(self.interval)
        return ImuReading(
            roll_pitch_yaw(rotations) + _noise(rng, self.orientation_noise, (count, 3)),
            rates + bias.rates + _noise(rng, share * self.rate_noise, (count, 3)),
            force + bias.force + _noise(rng, share * self.force_noise, (count, 3)),
        )


def _noise(rng: np.random.Generator, deviation: float, shape: tuple[int, ...]) -> Array:
    """Drawn anew, if there is any."""
    return deviation * rng.normal(size=shape) if deviation else np.zeros(shape)


def chassis_rotations(rovers: RoverModel, data: mujoco.MjData) -> Array:
    """From the axes of each chassis to the world's, after a step: (n, 3, 3). ``data.xmat`` is of before it."""
    flat = np.empty((len(rovers.rovers), 9))
    for k, parts in enumerate(rovers.rovers):
        mujoco.mju_quat2Mat(flat[k], data.qpos[parts.qpos + 3 : parts.qpos + 7])
    return flat.reshape(-1, 3, 3)


@dataclass(frozen=True, eq=False)
class EncoderReading:
    """What the encoders of n rovers say, left and right.

    Attributes:
        counts: (n, 2) since the start; back where it rolls backwards.
        angles: (n, 2) the same as angles [rad].
        speeds: (n, 2) [rad/s]
    """

    counts: NDArray[np.int64]
    angles: Array
    speeds: Array


class Encoders(Settings):
    """One on the foremost powered wheel of each side, as on the Rover 5.

    Attributes:
        resolution: Counts per turn of the wheel.
        speed_noise: Standard deviation of the speeds [rad/s].
        speed_bias: Standard deviation of their bias [rad/s].
    """

    resolution: float = Field(1000.0 / 3.0, gt=0.0)
    speed_noise: float = Field(0.0, ge=0.0)
    speed_bias: float = Field(0.0, ge=0.0)

    def draw_bias(self, count: int, rng: np.random.Generator) -> Array:
        """Of the speeds of that many rovers, for a run: (n, 2) [rad/s]."""
        return self.speed_bias * rng.normal(size=(count, 2))

    def read(self, rovers: RoverModel, data: mujoco.MjData, bias: Array, rng: np.random.Generator) -> EncoderReading:
        """After a step, of all rovers."""
        places = np.array([[wheel.qpos for wheel in parts.first] for parts in rovers.rovers], np.intp).reshape(-1, 2)
        dofs = np.array([[wheel.dof for wheel in parts.first] for parts in rovers.rovers], np.intp).reshape(-1, 2)
        step = 2.0 * math.pi / self.resolution
        counts = np.floor(data.qpos[places] / step).astype(np.int64)
        noise = _noise(rng, self.speed_noise, dofs.shape)
        return EncoderReading(counts, counts * step, data.qvel[dofs] + bias + noise)
