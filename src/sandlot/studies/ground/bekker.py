"""How deep a foot sinks that is pressed slowly, and how soil under feet resists tilting, by Bekker's equation."""

import math

import numpy as np
from scipy.optimize import brentq

from sandlot.physics.soil import SoilKind
from sandlot.robots.legged import Legged
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


def foot_stiffness(kind: SoilKind, foot: tuple[float, ...], load: float) -> float:
    """How much more load [N] carries a foot that a load [N] has pressed, for each further metre of depth [N/m]."""
    if math.isinf(kind.kphi):
        return math.inf
    more = 1e-3 * load
    return 2.0 * more / (foot_depth(kind, foot, load + more) - foot_depth(kind, foot, load - more))


def resistance(kind: SoilKind, robot: Legged, weight: float) -> float:
    """Moment with which soil under the feet of a standing robot resists tilting, per angle [N*m/rad].

    Soil ahead is pressed further, and soil that is unloaded hardly rises: so the robot tilts about the rear edge of its
    feet. It is the smaller one of those about the lateral and the longitudinal axis.

    Args:
        kind: What the ground is made of.
        robot: With the same load on all feet.
        weight: [N]
    """
    stiffness = foot_stiffness(kind, robot.foot, weight / len(robot.hips))
    sides = np.array(robot.foot[:2]) if robot.flat else np.zeros(2)
    ahead = np.array(robot.hips) - np.min(robot.hips, axis=0) + 0.5 * sides
    return float(stiffness * np.sum(ahead**2 + sides**2 / 12.0, axis=0).min())
