"""The studies of the indoor robots: sensor models fitted to a log (Nehmzow, Kerr and Billings 2009), and maps.

They are listed in the order in which they are loaded here.
"""

# isort: off
from sandlot.studies.indoor import arena, rivals, real, demonstration, logs, semi, auto, maps
# isort: on

__all__ = ["arena", "auto", "demonstration", "logs", "maps", "real", "rivals", "semi"]
