"""The studies of the terrain world: whether the ground is right."""

from sandlot.studies.terrain.validation import Validation

__all__ = ["Validation"]
