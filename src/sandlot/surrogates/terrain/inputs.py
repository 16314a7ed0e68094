"""What the nets of a learned rover get to see."""

import math
from collections.abc import Callable

import numpy as np

from sandlot.physics.soil import SoilKind
from sandlot.surrogates.terrain.shape import Shape
from sandlot.typing import Array

SOIL_INPUTS = (
    "log10 of the pressure at 1 cm [Pa]",
    "exponent [1]",
    "cohesion [Pa]",
    "friction [1]",
    "log10 of shear [m]",
    "log10 of elastic [Pa/m]",
    "damping [Pa*s/m]",
)
FRICTION = SOIL_INPUTS.index("friction [1]")
MAX_PRESSURE = 3e6
"""Of a plate that is 1 cm deep, for soil that hardly yields [Pa]."""
MAX_ELASTIC = 1e9
"""[Pa/m]"""
DEPTH = 0.01
"""[m]"""
WHEELS = 4
"""That share the weight of a rover."""
SHAPE = 0.67
"""Mean depth of a wheel's round underside, as a share of the largest."""
GRAIN = 0.01
"""The contact patch of a wheel is longer by a cell of the ground, of the usual size [m]."""
DEPTHS = 1e-7, 0.05
"""Wheels sink between these [m]."""

NO_SOIL = np.array([0.0, 0.0, 0.0, 0.6, -2.0, 0.0, 0.0])
"""Inputs for ground that is not soil."""


def shear_of(inputs: Array) -> float:
    """Janosi and Hanamoto's length of a soil, from its inputs [m]."""
    return float(10.0 ** inputs[SOIL_INPUTS.index("log10 of shear [m]")])


def wheel_depth(stress: Callable[[float], float], shape: Shape) -> float:
    """How deep a wheel with its share of the weight sinks into soil, from the soil's stress at a depth [m]."""
    low, high = DEPTHS
    for _ in range(60):
        middle = math.sqrt(low * high)
        carried = SHAPE * stress(middle) * shape.width * math.sqrt(2.0 * shape.radius * middle)
        low, high = (low, middle) if carried > shape.weight / WHEELS else (middle, high)
    return low


def patch_width(kind: SoilKind, shape: Shape) -> float:
    """Width of the contact patch of a wheel or belt, for Bekker's cohesive modulus [m].

    That is its smaller side: on firm soil, a wheel touches less along its course than across.
    """
    if kind.kc == 0.0 or (shape.feet["straight"][shape.feet["radius"] > 0.0] > 0.0).any():
        return shape.width

    def length(depth: float) -> float:
        return min(math.sqrt(2.0 * shape.radius * depth) + GRAIN, shape.width)

    return length(wheel_depth(lambda z: (kind.kphi + kind.kc / length(z)) * z**kind.exponent, shape))


def soil_inputs(kind: SoilKind, shape: Shape) -> Array:
    """A soil as the nets of a rover get it: (soil inputs,) as `SOIL_INPUTS` names them."""
    modulus = kind.kphi + kind.kc / patch_width(kind, shape)
    pressure = min(modulus * DEPTH**kind.exponent, MAX_PRESSURE)
    exponent = kind.exponent if math.isfinite(kind.kphi) else 1.0
    friction = math.tan(math.radians(kind.friction))
    elastic = math.log10(min(kind.elastic, MAX_ELASTIC))
    return np.array(
        [math.log10(pressure), exponent, kind.cohesion, friction, math.log10(kind.shear), elastic, kind.damping]
    )
