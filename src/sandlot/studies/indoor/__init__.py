"""The studies of indoor robots: sensor models (Nehmzow, Kerr and Billings 2009), a rover (Huete 2020), and maps.

They are listed in the order in which they are loaded here.
"""

# isort: off
from sandlot.studies.indoor import arena, rivals, real, demonstration, maneuvers, logs
# isort: on

__all__ = ["arena", "demonstration", "logs", "maneuvers", "real", "rivals"]
