"""The shapes that a rover is drawn with, in its chassis' frame."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sandlot.robots.rover_layout import Layout
from sandlot.robots.solids import Solid
from sandlot.typing import Array

BELT_HEIGHT = 0.97
"""Of the box between the wheels of a belt, relative to their diameter: on flat solids the wheels carry the load."""


@dataclass(frozen=True, eq=False)
class DrawnShape:
    """A shape of a rover, with all joints at zero.

    Attributes:
        shape: In the chassis' frame.
        role: What it is part of.
    """

    shape: Solid
    role: Literal["chassis", "wheel", "belt"]


def belt_size(layout: Layout, side: int) -> Array:
    """Half lengths of the box between the wheels of a belt: (3,) [m]."""
    belt = layout.belts[side]
    return np.array([belt.half_length, belt.driver.half_width, BELT_HEIGHT * belt.driver.radius])


def drawn_shapes(layout: Layout) -> tuple[DrawnShape, ...]:
    """Every visual shape of a rover, the collision shapes of parts that have none, and its belts."""
    drawn, wheels = [], {wheel.part for wheel in layout.wheels}
    for k, part in enumerate(layout.parts):
        for shape in part.visual or part.collision:
            drawn.append(DrawnShape(shape.moved(*layout.poses[k]), "wheel" if k in wheels else "chassis"))
    for side, belt in enumerate(layout.belts):
        size = tuple((2.0 * belt_size(layout, side)).tolist())
        box = Solid("box", size, belt.position, belt.rotation, np.zeros((0, 3)), np.zeros((0, 3), np.int32))
        drawn.append(DrawnShape(box.moved(*layout.poses[belt.parent]), "belt"))
    return tuple(drawn)
