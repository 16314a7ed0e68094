"""What the nets of a learned rover get to see."""

import math

import numpy as np

from sandlot.physics.soil import SoilKind
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

NO_SOIL = np.array([0.0, 0.0, 0.0, 0.6, -2.0, 0.0, 0.0])
"""Inputs for ground that is not soil."""


def shear_of(inputs: Array) -> float:
    """Janosi and Hanamoto's length of a soil, from its inputs [m]."""
    return float(10.0 ** inputs[SOIL_INPUTS.index("log10 of shear [m]")])


def soil_inputs(kind: SoilKind, width: float) -> Array:
    """A soil as nets get it: (soil inputs,) as `SOIL_INPUTS` names them.

    Args:
        kind: Of soil.
        width: Of a wheel or belt, for Bekker's cohesive modulus [m].
    """
    pressure = min((kind.kphi + kind.kc / width) * DEPTH**kind.exponent, MAX_PRESSURE)
    exponent = kind.exponent if math.isfinite(kind.kphi) else 1.0
    friction = math.tan(math.radians(kind.friction))
    elastic = math.log10(min(kind.elastic, MAX_ELASTIC))
    return np.array(
        [math.log10(pressure), exponent, kind.cohesion, friction, math.log10(kind.shear), elastic, kind.damping]
    )
