"""The swimming snake: a chain of equal boxes with a motor in every hinge."""

import math
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from sandlot.physics.swimming.water import SWIMMER
from sandlot.settings import Settings

DRAG = 6.1335
"""Drag coefficient [N*s/m^3], the one constant the source does not give: fitted once, so that the best gait of its
section 7.7 swims the 97.20 units in 10 s that it reports there (`water.shared`)."""


class Snake(Settings):
    """A body, its motors, and the water around it. The default is the one of the source's sections 7.6 to 7.12.

    The source's units are kept: lengths, masses and forces are in units of its own, written here as SI.

    Attributes:
        links: How many; joints are one fewer.
        length: Of a link, along the body [m].
        width: Of a link, across the body [m].
        height: Of a link [m].
        mass: Of the whole body [kg].
        drag: Drag coefficient of the water [N*s/m^3].
        faces: Which faces of the links feel the water: ``open``, not those between links (section 7.4), or ``all``.
        max_torque: Of a motor [N*m]. A soft limit: it bounds what a motor adds to change its joint's rate. What keeps a
            rate up, against the water and the pull of links that turn, is never cut off, so that the torque may exceed
            the limit where that alone does.
        max_rate: Of a joint [rad/s].
        max_angle: Of a joint, to either side [rad].
        interval: Between commands [s].
        step: Of the physics [s].
    """

    links: int = Field(17, ge=3, le=512)
    length: float = Field(1.5, gt=0.0)
    width: float = Field(0.5, gt=0.0)
    height: float = Field(0.5, gt=0.0)
    mass: float = Field(318.75, gt=0.0)
    drag: float = Field(DRAG, ge=0.0)
    faces: Literal["open", "all"] = "open"
    max_torque: float = Field(1e5, gt=0.0)
    max_rate: float = Field(20.0, gt=0.0)
    max_angle: float = Field(math.pi / 2, gt=0.0, le=math.pi / 2)
    interval: float = Field(0.02, gt=0.0)
    step: float = Field(0.005, gt=0.0)

    @model_validator(mode="after")
    def _steps_fit(self) -> Self:
        steps = self.interval / self.step
        if steps < 0.999 or abs(steps - round(steps)) > 1e-6:
            raise ValueError(f"step={self.step:g} does not divide interval={self.interval:g} evenly")
        return self

    @property
    def joints(self) -> int:
        """How many."""
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
        """Itself, as the kernels know it: a record of `SWIMMER`."""
        side, end = self.drag * self.length * self.height, self.drag * self.width * self.height
        every, tips = (0.0, end) if self.faces == "open" else (end, 0.0)
        body = np.zeros(1, SWIMMER)
        motors = (self.max_torque, self.max_rate, self.max_angle, self.interval, self.substeps)
        body[0] = (self.links, self.length, self.link_mass, self.inertia, side, every, tips, *motors)
        # As a record array's, whose fields are attributes also where Numba is switched off.
        return body.view(np.recarray)[0]


def link_angles(head: NDArray[np.float64], angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Direction of every link: (..., links) [rad], from that of the head (...,) and the joints (..., joints)."""
    turned = np.concatenate([np.zeros((*angles.shape[:-1], 1)), np.cumsum(angles, axis=-1)], axis=-1)
    return np.asarray(head)[..., None] - turned


def link_centres(centre: NDArray[np.float64], directions: NDArray[np.float64], length: float) -> NDArray[np.float64]:
    """Centre of every link: (..., links, 2) [m], from the centre of mass (..., 2) and `link_angles`."""
    along = np.stack([np.cos(directions), np.sin(directions)], axis=-1)
    steps = -0.5 * length * (along[..., 1:, :] + along[..., :-1, :])
    places = np.concatenate([np.zeros((*steps.shape[:-2], 1, 2)), np.cumsum(steps, axis=-2)], axis=-2)
    return places - places.mean(axis=-2, keepdims=True) + np.asarray(centre)[..., None, :]


def link_corners(centres: NDArray[np.float64], directions: NDArray[np.float64], snake: Snake) -> NDArray[np.float64]:
    """Corners of every link from above, each after its neighbour: (..., links, 4, 2) [m].

    Args:
        centres: (..., links, 2) of the links [m].
        directions: (..., links) of the links [rad].
        snake: Whose links they are.
    """
    cosine, sine = np.cos(directions), np.sin(directions)
    along = 0.5 * snake.length * np.stack([cosine, sine], axis=-1)
    aside = 0.5 * snake.width * np.stack([-sine, cosine], axis=-1)
    front, rear = centres + along, centres - along
    return np.stack([front + aside, rear + aside, rear - aside, front - aside], axis=-2)
