"""Deformable soil under any MuJoCo model."""

from sandlot.physics.soil.kinds import PRESETS, SoilKind
from sandlot.physics.soil.soil import Soil

__all__ = ["PRESETS", "Soil", "SoilKind"]
