"""A rover on soil that goes on without end, for the trials that drive one."""

from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from sandlot.physics.soil import Soil
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import GRAVITY, build_model, drive
from sandlot.typing import Array

SIDE, SPACING = 2.0, 0.01
"""Of the ground, and of its nodes [m]."""
STANDS = 0.0515
"""Height of a rover's chassis above firm ground [m]."""


def waves(high: float, side: float = SIDE, spacing: float = SPACING) -> Array:
    """Ground that fits together at its edges: (ny, nx) from 0 to ``high`` [m]."""
    count = round(side / spacing)
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.asarray(0.25 * high * (2.0 + np.sin(3.0 * angle)[None, :] + np.cos(2.0 * angle)[:, None]))


class Ride:
    """A shipped rover on soil.

    A slope is made by tilting gravity: the angle is exact, the slope has no end, and it can be steeper than soil could
    lie. A slope made of soil would slide from under the rover near the angle of friction, where it is to stall.

    Attributes:
        model: MuJoCo's.
        data: MuJoCo's.
        parts: Where the rover is in them.
        soil: Below it.
    """

    def __init__(
        self,
        name: str,
        ground: str,
        slope: float = 0.0,
        step: float = 0.001,
        above: float = 0.0,
        heights: ArrayLike | None = None,
        spacing: float = SPACING,
        place: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:
        """Put it on the ground, where it has yet to sink in.

        Args:
            name: Of the rover.
            ground: Name of a preset.
            slope: That it looks up [deg].
            step: Of the simulation [s].
            above: How high above the ground [m].
            heights: (ny, nx) of the ground, which goes on at the other edge [m]; level if not given.
            spacing: Of its nodes [m].
            place: x, y [m] and heading [rad].
        """
        count = round(SIDE / spacing)
        self.soil = Soil(np.zeros((count, count)) if heights is None else heights, spacing, ground, wrap=True)
        x, y, heading = place
        corners = [(x + dx, y + dy) for dx in (-0.12, 0.0, 0.12) for dy in (-0.1, 0.0, 0.1)]
        top = float(self.soil.height_at(*np.transpose(corners)).max())
        self._made = build_model([load_rover(name)], [[x, y, top + STANDS + above, 0.0, 0.0, heading]], step)
        self.model: Any = self._made.model
        self.parts = self._made.rovers[0]
        angle = np.radians(slope)
        self.model.opt.gravity[:] = -GRAVITY * np.sin(angle), 0.0, -GRAVITY * np.cos(angle)
        self.data = mujoco.MjData(self.model)
        self.soil.attach(self.model, self.parts.ground, self.parts.tracks)
        mujoco.mj_forward(self.model, self.data)

    def go(self, linear: float, angular: float, seconds: float) -> None:
        """Drive at wanted speeds [m/s, rad/s] for a while [s]."""
        drive(self._made, self.data, [[linear, angular]])
        self.wait(seconds)

    def wait(self, seconds: float) -> None:
        """Go on as before."""
        self.soil.step(self.data, round(seconds / self.model.opt.timestep))

    @property
    def place(self) -> Array:
        """Of the chassis: (2,) [m]."""
        return self.data.qpos[self.parts.qpos : self.parts.qpos + 2].copy()

    @property
    def heading(self) -> float:
        """Where it looks [rad]."""
        ahead = self.data.xmat[self.parts.chassis]
        return float(np.arctan2(ahead[3], ahead[0]))

    @property
    def rolled(self) -> float:
        """Way that the powered wheels have rolled, on average [m]."""
        return float(np.mean([self.data.qpos[wheel.qpos] for wheel in self.parts.wheels])) * self.parts.radius

    @property
    def sinkage(self) -> float:
        """Depth of the powered wheels below level 0, on average [m]."""
        bottoms = [self.data.xpos[wheel.body, 2] - self.parts.radius for wheel in self.parts.wheels]
        return -float(np.mean(bottoms))
