"""The shape of a rover as its learned model sees it: its feet, and where it looks at the ground under them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sandlot.robots.rover import load_rover
from sandlot.robots.rover_layout import Layout, find_layout
from sandlot.surrogates.terrain.feet import FOOT
from sandlot.typing import Array

EDGE = 0.6
"""Ground below a wheel is sampled below its middle, and this share of its radius ahead and behind."""
BESIDE = 1.6
"""It is also sampled on both sides, at this many times half its width from its middle."""
BELT_SAMPLES = 5
"""Ground is sampled at this many points along a belt."""


@dataclass(frozen=True, eq=False)
class Shape:
    """What touches the ground, and where the ground is sampled.

    Attributes:
        feet: (feet,) of FOOT: wheels or belts first, then the undersides of the other parts.
        samples: (samples, 2) x and y in the axes of the chassis [m].
        groups: (groups, samples) weights that average the samples under a wheel, or under one half of a belt.
        plane: (3, samples) weights that give the slopes ahead and to the left, and the height in the middle, of the
            plane through the samples under wheels or belts.
        radius: Of the wheels [m].
        base: Distance of the left from the right wheels [m].
        top_speed: Of the motors, at the wheel [rad/s].
        width: Of a wheel or belt [m].
    """

    feet: NDArray[np.void]
    samples: Array
    groups: Array
    plane: Array
    radius: float
    base: float
    top_speed: float
    width: float

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
    feet, samples, groups = _belts(layout) if layout.belts else _wheels(layout)
    feet += _undersides(layout)
    spots = np.array(samples)
    weights = np.zeros((max(max(each, default=0) for each in groups) + 1, len(spots)))
    for k, each in enumerate(groups):
        weights[list(each), k] = 1.0
    weights /= weights.sum(axis=1, keepdims=True)
    below = weights.any(axis=0)
    plane = np.zeros((3, len(spots)))
    plane[:, below] = np.linalg.pinv(np.column_stack([spots[below], np.ones(below.sum())]))
    width = 2.0 * float(np.mean([wheel.half_width for wheel in layout.wheels]))
    return Shape(np.array(feet, FOOT), spots, weights, plane, layout.radius, layout.base, layout.top_speed, width)


Feet = list[tuple[float, ...]]
Samples = list[tuple[float, float]]
Groups = list[tuple[int, ...]]


def _wheels(layout: Layout) -> tuple[Feet, Samples, Groups]:
    feet: Feet = []
    samples: Samples = []
    groups: Groups = []
    for k, wheel in enumerate(layout.wheels):
        x, y, z = wheel.middle.tolist()
        feet.append((x, y, z, 0.0, wheel.radius, wheel.half_width))
        for along in (-EDGE, 0.0, EDGE):
            samples.append((x + along * wheel.radius, y))
            groups.append((k,))
        for across in (-BESIDE, BESIDE):
            samples.append((x, y + across * wheel.half_width))
            groups.append(())
    return feet, samples, groups


def _belts(layout: Layout) -> tuple[Feet, Samples, Groups]:
    feet: Feet = []
    samples: Samples = []
    groups: Groups = []
    for k, belt in enumerate(layout.belts):
        rotation, position = layout.poses[belt.parent]
        x, y, z = (rotation @ belt.position + position).tolist()
        wheel = belt.driver
        feet.append((x, y, z, belt.half_length, wheel.radius, wheel.half_width))
        for along in np.linspace(-1.0, 1.0, BELT_SAMPLES).tolist():
            samples.append((x + along * belt.half_length, y))
            groups.append((2 * k, 2 * k + 1) if along == 0.0 else (2 * k + (along < 0.0),))
        for along in (-0.5, 0.5):
            for across in (-BESIDE, BESIDE):
                samples.append((x + along * belt.half_length, y + across * wheel.half_width))
                groups.append(())
    return feet, samples, groups


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
