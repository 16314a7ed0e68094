"""The vector form of the avoid world: one call of the compiled kernel moves all rovers."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.avoid.scene import avoid_scene
from sandlot.worlds.avoid.settings import AvoidSettings
from sandlot.worlds.avoid.task import AvoidTask
from sandlot.worlds.avoid.world import ACTION, check_move, spaces
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings
from sandlot.worlds.vector import CompiledVector

Seen = NDArray[np.float32]


class AvoidVector(CompiledVector[Seen]):
    """What ``gymnasium.make_vec("sandlot/Avoid-v0", num_envs=...)`` gives: the results of so many `Avoid`, faster.

    Attributes:
        settings: What the worlds were made with.
        task: The rovers, each in its own situation.
    """

    metadata = {**CompiledVector.metadata, "render_fps": 1.25}
    Settings: ClassVar[type[WorldSettings]] = AvoidSettings
    action_meaning = ACTION
    settings: AvoidSettings
    task: AvoidTask

    def _make(self, threads: int) -> tuple[Box, Discrete]:
        self.metadata = {**self.metadata, "render_fps": 1.0 / self.settings.interval}
        self.task = AvoidTask(self.settings, self.num_envs)
        return spaces(self.settings)

    def _check_start(self, options: Mapping[str, Any]) -> None:
        return None

    def _place(self, which: IntArray, start: None) -> None:
        self.task.restart(which, [self.generators[k] for k in which.tolist()])

    def _advance(self, actions: Array, running: BoolArray) -> Array:
        return self.task.move(check_move(actions), running)

    def _observe(self, mask: BoolArray) -> Seen:
        return self.task.observe()

    def scenes(self) -> Iterator[Scene]:
        """One for each rover, as that of `Avoid`."""
        return (avoid_scene(self.task, robot) for robot in range(self.num_envs))
