"""The studies of the terrain world: whether the ground is right, and what it does to a drive."""

from sandlot.studies.terrain.validation import Validation  # isort: skip
from sandlot.studies.terrain.drive import Drive

__all__ = ["Drive", "Validation"]
