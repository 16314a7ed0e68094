"""Deformable soil under any MuJoCo model."""

from sandlot.physics.soil.endless import EndlessSoil
from sandlot.physics.soil.kinds import PRESETS, SoilKind
from sandlot.physics.soil.readings import Contact
from sandlot.physics.soil.soil import Soil
from sandlot.physics.soil.soils import Soils

__all__ = ["PRESETS", "Contact", "EndlessSoil", "Soil", "SoilKind", "Soils"]
