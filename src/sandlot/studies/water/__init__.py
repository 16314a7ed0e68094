"""Studies of the swimming snake."""

from sandlot.studies.water import behaviours, evolution, fetching, fidelity, search

__all__ = ["behaviours", "evolution", "fetching", "fidelity", "search"]
