"""Studies of the swimming snake."""

from sandlot.studies.water import evolution, search

__all__ = ["evolution", "search"]
