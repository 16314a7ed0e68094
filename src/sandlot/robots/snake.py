"""The swimming snake: a chain of equal boxes with a motor in every hinge."""

import math
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from sandlot.geometry.planar import rectangle
from sandlot.physics.swimming.body import SWIMMER
from sandlot.settings import Settings
from sandlot.typing import Array

GAIN = 32.0
"""Commanded rate of a joint over the error of its angle [1/s], a first-order lag of 31 ms. The source does not give it.
`water.calibration` fits it together with the drag to the source's numbers, and shows how far they are uncertain."""
DRAG = 18.68
"""Drag coefficient [N*s/m^3], which the source does not give either: with it and the gain above, the best gait of
section 7.7 swims the 97.20 m that the source reports."""


class Snake(Settings):
    """A body, its motors, and the water around it. The default is the body of the source's sections 7.6 to 7.12.

    Lengths, masses and forces are in the source's own units, written here as SI.

    Attributes:
        links: Number of links; there is one joint fewer.
        length: Of a link, along the body [m].
        width: Of a link, across the body [m].
        height: Of a link [m].
        mass: Of the whole body [kg].
        drag: Drag coefficient of the water [N*s/m^3].
        faces: Which faces of the links have drag: ``open``, all but those between links (section 7.4), or ``all``.
        gain: A command sets the rate of each motor to this times the error of its joint's angle [1/s]; the motor has
            that rate until the next command, or its largest torque.
        max_torque: Of a motor [N*m].
        max_rate: The largest rate that is commanded [rad/s].
        max_angle: Of a joint, to either side, where it has a stop [rad].
        interval: Between commands [s].
        step: Of the physics [s]; the reference takes several shorter ones instead.
    """

    links: int = Field(17, ge=3, le=512)
    length: float = Field(1.5, ge=1e-3, le=1e3)
    width: float = Field(0.5, ge=1e-3, le=1e3)
    height: float = Field(0.5, ge=1e-3, le=1e3)
    mass: float = Field(318.75, ge=1e-3, le=1e6)
    drag: float = Field(DRAG, ge=0.0, le=1e6)
    faces: Literal["open", "all"] = "open"
    gain: float = Field(GAIN, gt=0.0, le=1e4)
    max_torque: float = Field(1e5, gt=0.0, le=1e12)
    max_rate: float = Field(100.0, gt=0.0, le=1e3)
    max_angle: float = Field(math.pi / 2, gt=0.0, le=math.pi / 2)
    interval: float = Field(0.02, ge=1e-4, le=1.0)
    step: float = Field(0.01, ge=1e-5, le=1.0)

    @model_validator(mode="after")
    def _steps_fit(self) -> Self:
        steps = self.interval / self.step
        if steps < 0.999 or abs(steps - round(steps)) > 1e-6:
            raise ValueError(f"step={self.step:g} does not divide interval={self.interval:g} evenly")
        return self

    @property
    def joints(self) -> int:
        """Number of joints."""
        return self.links - 1

    @property
    def arclength(self) -> float:
        """Of the whole body [m]."""
        return self.links * self.length

    @property
    def link_mass(self) -> float:
        """Of one link [kg]."""
        return self.mass / self.links

    @property
    def inertia(self) -> float:
        """Of one link about its centre [kg*m^2]."""
        return self.link_mass * (self.length**2 + self.width**2) / 12.0

    @property
    def substeps(self) -> int:
        """Steps between commands."""
        return round(self.interval / self.step)

    def record(self) -> Any:
        """The body for compiled functions: a record of `SWIMMER`."""
        side, end = self.drag * self.length * self.height, self.drag * self.width * self.height
        every, tips = (0.0, end) if self.faces == "open" else (end, 0.0)
        body = np.zeros(1, SWIMMER)
        motors = (self.gain, self.max_torque, self.max_rate, self.max_angle, self.interval, self.substeps)
        body[0] = (self.links, self.length, self.link_mass, self.inertia, side, every, tips, *motors)
        # A record of a record array has its fields as attributes, also when Numba is disabled.
        return body.view(np.recarray)[0]


def link_angles(head: Array, angles: Array) -> Array:
    """Yaw of every link: (..., links) [rad], from the yaw of the head (...,) and the joint angles (..., joints)."""
    turned = np.concatenate([np.zeros((*angles.shape[:-1], 1)), np.cumsum(angles, axis=-1)], axis=-1)
    return np.asarray(head)[..., None] - turned


def link_centres(centre: Array, directions: Array, length: float) -> Array:
    """Centre of every link: (..., links, 2) [m], from the centre of mass (..., 2) and `link_angles`."""
    along = np.stack([np.cos(directions), np.sin(directions)], axis=-1)
    steps = -0.5 * length * (along[..., 1:, :] + along[..., :-1, :])
    places = np.concatenate([np.zeros((*steps.shape[:-2], 1, 2)), np.cumsum(steps, axis=-2)], axis=-2)
    return places - places.mean(axis=-2, keepdims=True) + np.asarray(centre)[..., None, :]


def link_corners(centres: Array, directions: Array, snake: Snake) -> Array:
    """Corners of every link from above, in order around it: (..., links, 4, 2) [m].

    Args:
        centres: (..., links, 2) of the links [m].
        directions: (..., links) yaw of the links [rad].
        snake: The body.
    """
    return rectangle(centres, (snake.length, snake.width), directions)
