"""The studies of the leveling world: Cook (2017), figures 4.1 to 4.5, why one of its claims fails, and scaling."""

from sandlot.studies.leveling.curves import Probabilities, Steepness
from sandlot.studies.leveling.memetic import Memetic, Remainder
from sandlot.studies.leveling.scaling import Scaling

__all__ = ["Memetic", "Probabilities", "Remainder", "Scaling", "Steepness"]
