"""The leveling studies: Cook (2017), figures 4.1 to 4.5, why one of its claims fails, scaling, and driving alone."""

from sandlot.studies.leveling.bridge import Bridge
from sandlot.studies.leveling.curves import Probabilities, Steepness
from sandlot.studies.leveling.fleet import Fleet
from sandlot.studies.leveling.memetic import Memetic, Remainder
from sandlot.studies.leveling.passive import Passive
from sandlot.studies.leveling.scaling import Scaling

__all__ = ["Bridge", "Fleet", "Memetic", "Passive", "Probabilities", "Remainder", "Scaling", "Steepness"]
