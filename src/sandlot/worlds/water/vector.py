"""The vector form of the water world: one call of the compiled kernel steps all bodies."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box

from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings
from sandlot.worlds.vector import CompiledVector
from sandlot.worlds.water.scene import water_scene
from sandlot.worlds.water.settings import WaterSettings
from sandlot.worlds.water.task import WaterTask, scale
from sandlot.worlds.water.world import ACTION, spaces


class WaterVector(CompiledVector[Array]):
    """What ``gymnasium.make_vec("sandlot/Water-v0", num_envs=...)`` gives: the results of so many `Water`, faster.

    ``options["target"]`` of a reset is one target for all members, (2,), or one for each, (num_envs, 2) [m].

    Attributes:
        settings: What the worlds were made with. At ``reference``, so many ``threads`` step bodies in parallel.
        task: The bodies.
    """

    metadata = {**CompiledVector.metadata, "render_fps": 50}
    Settings: ClassVar[type[WorldSettings]] = WaterSettings
    action_meaning = ACTION
    settings: WaterSettings
    task: WaterTask

    def _make(self, threads: int) -> tuple[Box, Box]:
        self.task = WaterTask(self.settings, self.num_envs, threads)
        self.metadata = {**self.metadata, "render_fps": 1.0 / (self.settings.snake.interval * self.settings.skip)}
        return spaces(self.settings)

    def _scale(self) -> Array:
        return scale(self.settings)

    def _check_start(self, options: Mapping[str, Any]) -> Array | None:
        target = options.get("target", self.settings.target)
        if target is None:
            return None
        if np.shape(target) == (self.num_envs, 2):
            return np.array([self.task.check(each) for each in target])
        return np.tile(self.task.check(target), (self.num_envs, 1))

    def _place(self, which: IntArray, start: Array | None) -> None:
        drawn = [self.task.draw(self.generators[k]) if start is None else start[k] for k in which.tolist()]
        self.task.restart(which, np.reshape(drawn, (-1, 2)))

    def _advance(self, actions: Array, running: BoolArray) -> Array:
        return self.task.command(actions)

    def _observe(self, mask: BoolArray) -> Array:
        return self.task.observe()

    def scenes(self) -> Iterator[Scene]:
        """One for each snake, as that of `Water`."""
        return (water_scene(self.task, body) for body in range(self.num_envs))
