"""The shape of a rover as its learned model sees it: its feet, and the weight on them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import RobotError
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_layout import Layout, find_layout
from sandlot.robots.rover_motors import GRAVITY
from sandlot.surrogates.terrain.feet import FOOT, MOST_FEET
from sandlot.surrogates.terrain.springs import Body
from sandlot.typing import Array

WHEEL = np.array([-0.6, 0.0, 0.6])
"""Places below a wheel, in shares of its radius."""
SAME_PLACE, SAME_SHARE = 1e-4, 1e-3
"""Feet and masses of like rovers are in the same places [m], and weights and speeds the same by these."""


@dataclass(frozen=True, eq=False)
class Shape:
    """What touches the ground, and what it carries.

    Attributes:
        feet: (feet,) of FOOT: wheels or belts first, then the undersides of the other parts.
        centre: (3,) of mass, in the axes of the chassis [m].
        weight: [N]
        radius: Of the wheels [m].
        base: Distance of the left from the right wheels [m].
        top_speed: Of the motors, at the wheel [rad/s].
        width: Of a wheel or belt [m].
    """

    feet: NDArray[np.void]
    centre: Array
    weight: float
    radius: float
    base: float
    top_speed: float
    width: float

    def is_like(self, other: "Shape") -> bool:
        """Whether another rover touches the ground alike, weighs as much, and has such motors."""
        if len(self.feet) != len(other.feet):
            return False
        feet = [np.abs(self.feet[name] - other.feet[name]).max() for name in FOOT.names or ()]
        places = [*feet, np.abs(self.centre - other.centre).max(), abs(self.base - other.base)]
        numbers = self.weight / other.weight, self.top_speed / other.top_speed
        return max(places) < SAME_PLACE and all(abs(each - 1.0) < SAME_SHARE for each in numbers)

    @property
    def body(self) -> Body:
        """The same, for kernels that look at the ground."""
        return Body(self.feet, self.centre, self.weight, float(self.corner[0]), self.radius, self.reach)

    @property
    def below(self) -> Array:
        """Places below wheels and belts, in the axes of the chassis: (places, 2) [m]."""
        found = []
        for foot in self.feet[self.feet["radius"] > 0.0]:
            along = np.linspace(-1.0, 1.0, 5) * foot["straight"] if foot["straight"] > 0.0 else WHEEL * foot["radius"]
            found += [(foot["x"] + each, foot["y"]) for each in along]
        return np.array(found)

    @property
    def corner(self) -> Array:
        """Mean distances of wheels or belts from the middle, ahead and to the side: (2,) [m]."""
        feet = self.feet[self.feet["radius"] > 0.0]
        ahead = np.maximum(np.abs(feet["x"]), 0.5 * feet["straight"])
        return np.array([ahead.mean(), np.abs(feet["y"]).mean()])

    @property
    def middle(self) -> Array:
        """Mean distances of the quarters of the underside from the middle, ahead and to the side: (2,) [m]."""
        under = self.feet[self.feet["radius"] == 0.0]
        if not len(under):
            return 0.5 * self.corner
        ahead = np.maximum(np.abs(under["x"]), 0.5 * under["straight"])
        return np.array([ahead.mean(), np.maximum(np.abs(under["y"]), 0.5 * under["half_width"]).mean()])

    @property
    def reach(self) -> float:
        """Largest horizontal distance of a point of a foot from the middle of the chassis [m]."""
        feet = self.feet
        ahead, aside = np.abs(feet["x"]) + feet["straight"] + feet["radius"], np.abs(feet["y"]) + feet["half_width"]
        return float(np.hypot(ahead, aside).max())

    @property
    def lever(self) -> float:
        """Largest horizontal distance of the middle of a foot, or of an end of a belt, from that of the chassis [m]."""
        return float(np.hypot(np.abs(self.feet["x"]) + self.feet["straight"], self.feet["y"]).max())


def shape_of(rover: str) -> Shape:
    """The shape of a rover, by its name or file.

    Raises:
        SandlotError: If there is no such rover, or it cannot be read.
    """
    return measure(find_layout(load_rover(rover)))


def measure(layout: Layout) -> Shape:
    """The shape of a rover."""
    feet = np.array((_belts(layout) if layout.belts else _wheels(layout)) + _undersides(layout), FOOT)
    if len(feet) > MOST_FEET:
        raise RobotError(f"the rover has {len(feet)} wheels and solids; a learned rover may have {MOST_FEET}")
    masses = [part.inertial.mass for part in layout.parts]
    centres = [
        rotation @ part.inertial.centre + position
        for part, (rotation, position) in zip(layout.parts, layout.poses, strict=True)
    ]
    centre = np.average(centres, axis=0, weights=masses)
    width = 2.0 * float(np.mean([wheel.half_width for wheel in layout.wheels]))
    return Shape(feet, centre, GRAVITY * float(sum(masses)), layout.radius, layout.base, layout.top_speed, width)


Feet = list[tuple[float, ...]]


def _wheels(layout: Layout) -> Feet:
    return [(*wheel.middle.tolist(), 0.0, wheel.radius, wheel.half_width) for wheel in layout.wheels]


def _belts(layout: Layout) -> Feet:
    feet: Feet = []
    for belt in layout.belts:
        rotation, position = layout.poses[belt.parent]
        x, y, z = (rotation @ belt.position + position).tolist()
        feet.append((x, y, z, belt.half_length, belt.driver.radius, belt.driver.half_width))
    return feet


def _undersides(layout: Layout) -> Feet:
    """Boxes around all solids that are neither wheels nor belts."""
    wheels = {wheel.part for wheel in layout.wheels}
    feet: Feet = []
    for k, (part, (rotation, position)) in enumerate(zip(layout.parts, layout.poses, strict=True)):
        for solid in () if k in wheels else part.collision:
            corners = solid.box_corners() @ rotation.T + position
            (x, y, z), (right, left, _) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
            feet.append((0.5 * (x + right), 0.5 * (y + left), z, 0.5 * (right - x), 0.0, 0.5 * (left - y)))
    return feet
