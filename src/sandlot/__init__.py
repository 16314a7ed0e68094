"""Sandlot: a robot lab of worlds, controllers and studies.

Importing it registers every world with Gymnasium.
"""

from sandlot.version import __version__
from sandlot.worlds import register

__all__ = ["__version__"]


register()
