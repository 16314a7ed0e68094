"""The studies of the terrain world: whether the ground is right, and what it does to a drive.

They are listed in the order in which they are loaded here.
"""

# isort: off
from sandlot.studies.terrain import plate, wheel, low_slip, turning, slope, heaps, volume, particles, steps, energy
from sandlot.studies.terrain import drive
# isort: on

__all__ = ["drive", "energy", "heaps", "low_slip", "particles", "plate", "slope", "steps", "turning", "volume", "wheel"]
