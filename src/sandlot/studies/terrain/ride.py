"""A rover on soil without edges, for the studies that drive one."""

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from sandlot.physics.soil import Soil, SoilKind
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import build_model, drive
from sandlot.robots.rover_motors import GRAVITY
from sandlot.typing import Array

NODES, SPACING = 200, 0.01
"""Grid nodes along each side of the ground, and their spacing [m]."""
CHASSIS_HEIGHT = 0.0515
"""Of a rover on firm ground [m]."""
COMMAND_STEPS = 500
"""Steps for which a random command lasts."""


def random_commands(seed: np.random.SeedSequence, steps: int) -> Iterator[tuple[int, float, float]]:
    """A random drive: how many steps, speed [m/s] and turn rate [rad/s] of each command."""
    rng = np.random.default_rng(seed)
    for begin in range(0, steps, COMMAND_STEPS):
        yield min(COMMAND_STEPS, steps - begin), float(rng.uniform(-0.1, 0.25)), float(rng.uniform(-2.0, 2.0))


def waves(relief: float) -> Array:
    """Periodic ground: (ny, nx) heights from 0 to ``relief`` [m]."""
    angle = 2.0 * np.pi * np.arange(NODES) / NODES
    return np.asarray(0.25 * relief * (2.0 + np.sin(3.0 * angle)[None, :] + np.cos(2.0 * angle)[:, None]))


class Ride:
    """A shipped rover on periodic soil.

    A slope is made by tilting gravity. Its angle is exact, it has no end, and it can be steeper than the angle of
    repose. A slope of tilted soil would slide away under the rover near the angle of friction, where rovers should
    stall.

    Attributes:
        model: MuJoCo's model.
        data: MuJoCo's data.
        parts: Addresses of the rover in both.
        soil: The ground.
    """

    def __init__(
        self,
        name: str,
        ground: str | SoilKind,
        slope: float = 0.0,
        step: float = 0.001,
        above: float = 0.0,
        heights: ArrayLike | None = None,
        chassis: bool = True,
    ) -> None:
        """Put a rover on the ground; it has not sunk in yet.

        Args:
            name: Of the rover.
            ground: A soil, or the name of a preset.
            slope: Slope that the rover faces uphill [deg].
            step: Time step [s].
            above: Height above the ground [m].
            heights: (ny, nx) of periodic ground [m]; level if not given.
            chassis: Whether soil touches its chassis, too, and not only its wheels or tracks.
        """
        self.soil = Soil(np.zeros((NODES, NODES)) if heights is None else heights, SPACING, ground, wrap=True)
        corners = [(x, y) for x in (-0.12, 0.0, 0.12) for y in (-0.1, 0.0, 0.1)]
        top = float(self.soil.height_at(*np.transpose(corners)).max())
        self._made = build_model([load_rover(name)], [[0.0, 0.0, top + CHASSIS_HEIGHT + above, 0.0, 0.0, 0.0]], step)
        self.model: Any = self._made.model
        self.parts = self._made.rovers[0]
        angle = np.radians(slope)
        self.model.opt.gravity[:] = -GRAVITY * np.sin(angle), 0.0, -GRAVITY * np.cos(angle)
        self.data = mujoco.MjData(self.model)
        wheels = {wheel.body for wheel in self.parts.wheels}
        touched = [geom for geom in self.parts.ground if chassis or int(self.model.geom_bodyid[geom]) in wheels]
        self.soil.attach(self.model, touched, self.parts.tracks)
        mujoco.mj_forward(self.model, self.data)

    def go(self, linear: float, angular: float, seconds: float) -> None:
        """Drive at commanded speeds [m/s, rad/s] for a while [s]."""
        drive(self._made, self.data, [[linear, angular]])
        self.wait(seconds)

    def wait(self, seconds: float) -> None:
        """Simulate with the last command."""
        self.soil.step(self.data, round(seconds / self.model.opt.timestep))

    @property
    def position(self) -> Array:
        """Of the chassis: (2,) [m]."""
        return self.data.qpos[self.parts.qpos : self.parts.qpos + 2].copy()

    @property
    def yaw(self) -> float:
        """Of the chassis [rad]."""
        ahead = self.data.xmat[self.parts.chassis]
        return float(np.arctan2(ahead[3], ahead[0]))

    @property
    def rolled(self) -> float:
        """Mean distance that the powered wheels have rolled [m]."""
        return float(np.mean([self.data.qpos[wheel.qpos] for wheel in self.parts.wheels])) * self.parts.radius

    @property
    def sinkage(self) -> float:
        """Mean depth of the powered wheels below height 0 [m]."""
        bottoms = [self.data.xpos[wheel.body, 2] - self.parts.radius for wheel in self.parts.wheels]
        return -float(np.mean(bottoms))
