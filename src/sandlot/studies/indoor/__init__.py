"""The studies of indoor robots: sensor models (Nehmzow, Kerr and Billings 2009), maps, and a rover (Huete 2020).

They are listed in the order in which they are loaded here.
"""

# isort: off
from sandlot.studies.indoor import arena, rivals, real, demonstration, logs, maneuvers, semi, auto, maps
from sandlot.studies.indoor import dqn, rewards, vision, scenarios, sweep, avoider
# isort: on

__all__ = [
    "arena",
    "auto",
    "avoider",
    "demonstration",
    "dqn",
    "logs",
    "maneuvers",
    "maps",
    "real",
    "rewards",
    "rivals",
    "scenarios",
    "semi",
    "sweep",
    "vision",
]
