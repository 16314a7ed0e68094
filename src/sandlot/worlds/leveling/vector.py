"""The vector form of the leveling world: one call of the compiled kernel lets all swarms act."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, MultiDiscrete
from numpy.typing import NDArray

from sandlot.control.leveling import CYCLES_PER_ROUND
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.leveling.scene import leveling_scene
from sandlot.worlds.leveling.settings import LevelingSettings
from sandlot.worlds.leveling.task import ACTION, CYCLE, LevelingTask, spaces
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings
from sandlot.worlds.vector import CompiledVector

Seen = NDArray[np.float32]


class LevelingVector(CompiledVector[Seen]):
    """What ``gymnasium.make_vec("sandlot/Leveling-v0", num_envs=...)`` gives: as so many `Leveling`, faster.

    ``options["heights"]`` of a reset is the terrain of all members, as in `Leveling`.

    Attributes:
        settings: What the worlds were made with.
        task: The swarms, each on its own terrain.
    """

    metadata = {**CompiledVector.metadata, "render_fps": 30}
    Settings: ClassVar[type[WorldSettings]] = LevelingSettings
    action_meaning = ACTION
    settings: LevelingSettings
    task: LevelingTask

    def _make(self, threads: int) -> tuple[Box, MultiDiscrete]:
        self.task = LevelingTask(self.settings, self.num_envs)
        return spaces(self.settings.agents)

    def _check_start(self, options: Mapping[str, Any]) -> NDArray[Any] | None:
        heights = options.get("heights")
        return None if heights is None else self.task.check_heights(heights)

    def _place(self, which: IntArray, start: NDArray[Any] | None) -> None:
        self.task.restart(which, [self.generators[k] for k in which.tolist()], start)

    def _advance(self, actions: Array, running: BoolArray) -> Array:
        return self.task.act(actions).sum(axis=1)

    def _observe(self, mask: BoolArray) -> Seen:
        return self.task.observe()

    @property
    def period(self) -> float:
        """Time of two cycles [s]."""
        return CYCLES_PER_ROUND * CYCLE

    def scenes(self) -> Iterator[Scene]:
        """One for each swarm, as that of `Leveling`."""
        cycles = self.task.cycles.tolist()
        return (leveling_scene(self.task.swarm(k), cycles[k], self.settings.relief) for k in range(self.num_envs))
