"""The studies of the climbing robot (Vincent 2008).

They are listed in the order in which they are loaded here, that of the source.
"""

# isort: off
from sandlot.studies.obstacles import hidden_nodes, boxes, stairs, fidelity, gap, trained, align
# isort: on

__all__ = ["align", "boxes", "fidelity", "gap", "hidden_nodes", "stairs", "trained"]
