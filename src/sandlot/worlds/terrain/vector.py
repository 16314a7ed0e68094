"""The vector form of the terrain world: at ``learned``, one call of compiled code drives the rovers of all members."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings
from sandlot.worlds.terrain.members import TerrainMembers
from sandlot.worlds.terrain.settings import TerrainSettings
from sandlot.worlds.terrain.task import scale, spaces
from sandlot.worlds.terrain.world import ACTION
from sandlot.worlds.vector import CompiledVector

Seen = NDArray[np.float32]


class TerrainVector(CompiledVector[Seen]):
    """What ``gymnasium.make_vec("sandlot/Terrain-v0", num_envs=...)`` gives: the results of so many `Terrain`.

    Each member has ground of its own. Memory grows with it: give learners a ``shape`` that is as small as their task
    allows.

    Attributes:
        settings: What the worlds were made with. At ``reference``, so many ``threads`` step members in parallel.
        task: The rovers.
    """

    metadata = {**CompiledVector.metadata, "render_fps": 100}
    Settings: ClassVar[type[WorldSettings]] = TerrainSettings
    action_meaning = ACTION
    settings: TerrainSettings
    task: TerrainMembers

    def _make(self, threads: int) -> tuple[Box, Box]:
        self.metadata = {**self.metadata, "render_fps": 1.0 / (self.settings.interval * self.settings.frame_skip)}
        self.task = TerrainMembers(self.settings, self.num_envs, threads)
        return spaces(self.settings, self.task.fleets.top_speeds)

    def _scale(self) -> Array:
        return scale(self.settings, self.task.fleets.top_speeds, self.task.fleets.wheel_radius)

    def _check_start(self, options: Mapping[str, Any]) -> None:
        return None

    def _place(self, which: IntArray, start: None) -> None:
        self.task.restart(which, [self.generators[k] for k in which.tolist()])

    def _advance(self, actions: Array, running: BoolArray) -> Array:
        return self.task.drive(actions, running)

    def _observe(self, mask: BoolArray) -> Seen:
        which = np.flatnonzero(mask)
        return self.task.observe(which, [self.generators[k] for k in which.tolist()])

    def _outcomes(self, over: BoolArray) -> Mapping[str, Array]:
        return self.task.outcomes(over)

    def scenes(self) -> Iterator[Scene]:
        """One for each member, as that of `Terrain`."""
        return (self.task.scene(k) for k in range(self.num_envs))
