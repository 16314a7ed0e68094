"""The studies of the swimming snake (Draschwandtner 2015).

They are listed in the order in which they are loaded here, that of the source.
"""

# isort: off
from sandlot.studies.water import evolve, neat, turn, drift, stop, spin
from sandlot.studies.water import shared, heads, grasp, carry, capture, deliver
from sandlot.studies.water import calibration, fidelity, optimizers, pareto, currents
# isort: on

__all__ = [
    "calibration",
    "capture",
    "carry",
    "currents",
    "deliver",
    "drift",
    "evolve",
    "fidelity",
    "grasp",
    "heads",
    "neat",
    "optimizers",
    "pareto",
    "shared",
    "spin",
    "stop",
    "turn",
]
