"""Soft ground on a height map, under any MuJoCo model."""

from sandlot.physics.soil.soil import PRESETS, Soil, SoilKind

__all__ = ["PRESETS", "Soil", "SoilKind"]
