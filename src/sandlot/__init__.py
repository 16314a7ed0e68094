"""Sandlot: a robot lab of worlds, controllers and studies.

Importing it registers every world with Gymnasium.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sandlot import worlds
from sandlot.version import __version__

if TYPE_CHECKING:
    from sandlot.worlds.base import World

__all__ = ["__version__"]


def _watch(world: "World") -> Callable[[], None]:
    """Open a world in the lab, which takes long to import."""
    from sandlot.lab.human import watch

    return watch(world)


worlds.register()
worlds.viewer = _watch
