"""Studies of sensor models, made from a robot's own log (Nehmzow, Kerr and Billings 2009); in the order of loading."""

# isort: off
from sandlot.studies.indoor import arena, rivals, real, demonstration
# isort: on

__all__ = ["arena", "demonstration", "real", "rivals"]
