"""The studies of sensor models fitted to a robot's log (Nehmzow, Kerr and Billings 2009), and of a rover (Huete 2020).

They are listed in the order in which they are loaded here.
"""

# isort: off
from sandlot.studies.indoor import arena, rivals, real, demonstration, maneuvers
# isort: on

__all__ = ["arena", "demonstration", "maneuvers", "real", "rivals"]
