"""Sandlot: a robot lab of worlds, controllers and studies.

Importing it registers every world with Gymnasium.
"""

from sandlot.worlds import register

__version__ = "0.1.0"

register()
