"""How deep a foot sinks that is pressed slowly, by Bekker's equation."""

import math

import numpy as np
from scipy.optimize import brentq

from sandlot.physics.soil import SoilKind
from sandlot.typing import Array

RINGS = 2000
"""A sphere is integrated over so many rings."""


def flat_load(kind: SoilKind, length: float, width: float, depth: float) -> float:
    """Load that carries a flat foot of these sides [m] at a depth [m]: [N]."""
    return (kind.kphi + kind.kc / min(length, width)) * depth**kind.exponent * length * width


def sphere_load(kind: SoilKind, radius: float, depth: float) -> float:
    """Load that carries a sphere at a depth of its lowest point [m]: [N].

    Bekker's width of a round contact is the side of a square with the same second moment of area.
    """
    reach = min(depth, radius)
    wide = math.sqrt(reach * (2.0 * radius - reach))
    rings: Array = (np.arange(RINGS) + 0.5) * wide / RINGS
    below = np.maximum(depth - radius + np.sqrt(radius**2 - rings**2), 0.0)
    area = 2.0 * math.pi * rings * wide / RINGS
    return float((kind.kphi + kind.kc / (math.sqrt(3.0) * wide)) * np.sum(below**kind.exponent * area))


def foot_depth(kind: SoilKind, foot: tuple[float, ...], load: float) -> float:
    """Depth to which a load [N] presses a foot, as of `sandlot.robots.legged.Legged` [m]; 0 on rigid ground.

    Soil is elastic as well; the depth is that under the load.
    """
    if math.isinf(kind.kphi) or load <= 0.0:
        return 0.0
    if len(foot) == 3:
        return float(brentq(lambda depth: flat_load(kind, foot[0], foot[1], depth) - load, 0.0, 100.0))
    return float(brentq(lambda depth: sphere_load(kind, foot[0], depth) - load, 1e-9, 100.0))
