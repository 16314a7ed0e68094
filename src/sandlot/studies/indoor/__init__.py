"""The studies of sensor models fitted to a robot's log (Nehmzow, Kerr and Billings 2009).

They are listed in the order in which they are loaded here.
"""

# isort: off
from sandlot.studies.indoor import arena, rivals, real, demonstration, semi, auto, maps
# isort: on

__all__ = ["arena", "auto", "demonstration", "maps", "real", "rivals", "semi"]
