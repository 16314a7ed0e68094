"""Test rigs as evidence about soil: a plate that is pressed in, and a wheel that is driven at a given slip."""

from contextlib import suppress

import mujoco
import numpy as np

from sandlot.errors import DivergedError
from sandlot.physics.soil import Soil, SoilKind
from sandlot.surrogates.soil.evidence import Channel, Layout
from sandlot.typing import Array

STEP = 1e-3
"""Of the physics [s]."""
SECONDS = 2.0
"""Duration of the drive of a wheel [s]; the means of its second half are compared."""
SAMPLED = 10
"""Steps between the samples of these means: a wheel at a constant speed changes slowly, and samples cost time."""
ROOM = 2.5
"""Ground around a plate or wheel, in its lengths or radii."""
HEAVY = 1e9
"""Mass or inertia of what moves at a given speed [kg, kg*m^2]."""
GRAVITY = 9.81
"""[m/s^2]"""


class PlateTest:
    """A plate that is held at one depth after the other.

    Attributes:
        width: Shorter side of the plate [m].
        layout: One force at each depth.
        measured: (depths,) forces [N].
        frames: Of one prediction.
    """

    def __init__(self, sides: tuple[float, float], depths: Array, forces: Array, spacing: float) -> None:
        """A test as it was made.

        Args:
            sides: Length and width of the plate [m].
            depths: (n,) in the order in which it was held there [m].
            forces: (n,) that held it [N].
            spacing: Of the nodes of the simulated ground [m].
        """
        self._sides, self._depths, self._spacing = sides, depths, spacing
        self.width, self.measured, self.frames = min(sides), forces, len(depths)
        largest = float(np.abs(forces).max())
        channels = (Channel("force [N]", 0.1 * largest, 0.005 * largest),)
        self.layout = Layout(channels, np.zeros(len(depths), np.int64), np.arange(len(depths)))

    def predict(self, kind: SoilKind) -> Array:
        """Forces on another soil: (n,) [N]."""
        length, width = self._sides
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{STEP}" gravity="0 0 0"/><worldbody><body pos="0 0 {length}">'
            f'<joint type="slide" axis="0 0 1"/><geom type="box" size="{length / 2} {width / 2} {length}"'
            f' mass="{HEAVY}"/></body></worldbody></mujoco>'
        )
        data, count = mujoco.MjData(model), round(ROOM * length / self._spacing) + 1
        soil = Soil(np.zeros((count, count)), self._spacing, kind).attach(model)
        found = []
        for depth in self._depths.tolist():
            data.qpos[0], data.qvel[0] = -depth, 0.0
            soil.step(data)
            found.append(soil.forces[0, 2])
        return np.array(found)


class WheelTest:
    """A wheel at given slips and a constant load, free to sink.

    Attributes:
        width: Of the wheel [m].
        layout: Sinkage, drawbar pull and, if measured, torque at each slip.
        measured: (n,) all of these.
        frames: Of one prediction.
    """

    def __init__(
        self, radius: float, width: float, load: float, speed: float, slips: Array, measured: Array, spacing: float
    ) -> None:
        """A test as it was made.

        Args:
            radius: Of the wheel [m].
            width: Of the wheel [m].
            load: On it, with its own weight [N].
            speed: Ahead [m/s].
            slips: (n,) 1 - speed / (turn rate * radius).
            measured: (n, 2 or 3) sinkage [m], drawbar pull [N] and, if known, torque of the motor [N*m].
            spacing: Of the nodes of the simulated ground [m].
        """
        self._radius, self._load, self._speed, self._slips, self._spacing = radius, load, speed, slips, spacing
        self.width, self.measured, self.frames = width, measured.ravel(), len(slips) * round(SECONDS / STEP)
        kinds = measured.shape[1]
        channels = (
            Channel("sinkage [m]", 0.05 * radius, 0.002 * radius),
            Channel("drawbar pull [N]", 0.1 * load, 0.01 * load),
            Channel("torque [N*m]", 0.1 * load * radius, 0.01 * load * radius),
        )[:kinds]
        self.layout = Layout(channels, np.tile(np.arange(kinds), len(slips)), np.repeat(np.arange(len(slips)), kinds))

    def predict(self, kind: SoilKind) -> Array:
        """The same on another soil: (n,)."""
        kinds = len(self.layout.channels)
        found = np.full((len(self._slips), kinds), np.nan)
        for row, slip in zip(found, self._slips.tolist(), strict=True):
            with suppress(DivergedError):
                row[:] = self._drive(kind, slip)[:kinds]
        return found.ravel()

    def _drive(self, kind: SoilKind, slip: float) -> Array:
        """Mean sinkage [m], drawbar pull [N] and torque [N*m] in the second half of a drive: (3,)."""
        radius, room = self._radius, ROOM * self._radius
        hidden = 'size="0.01" mass="1e-6" contype="0" conaffinity="0"'
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{STEP}"/><worldbody><body><joint type="slide" axis="1 0 0" armature="{HEAVY}"/>'
            f'<geom {hidden}/><body><joint type="slide" axis="0 0 1"/><geom {hidden}/><body>'
            f'<joint type="hinge" axis="0 1 0" armature="{HEAVY}"/><geom name="wheel" type="cylinder" euler="90 0 0" '
            f'size="{radius} {self.width / 2}" mass="{self._load / GRAVITY}"/>'
            "</body></body></body></worldbody></mujoco>"
        )
        data, half = mujoco.MjData(model), round(0.5 * SECONDS / STEP)
        length = 2.0 * room + abs(self._speed) * SECONDS
        shape = round(2.0 * room / self._spacing) + 1, round(length / self._spacing) + 1
        soil = Soil(np.zeros(shape), self._spacing, kind, (-room, -room)).attach(model, ["wheel"])
        data.qpos[1] = radius
        data.qvel[:] = self._speed, 0.0, self._speed / (radius * (1.0 - slip))
        soil.step(data, half)
        samples = []
        for _ in range(half // SAMPLED):
            soil.step(data, SAMPLED)
            samples.append((radius - data.qpos[1], soil.forces[0, 0], -soil.forces[0, 4]))
        return np.mean(samples, axis=0)
