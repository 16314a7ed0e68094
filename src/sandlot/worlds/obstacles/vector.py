"""The vector form of the obstacles world: one call of the compiled kernel steps all robots."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box

from sandlot.errors import SettingError
from sandlot.places.course_kinds import Kind
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.base import WorldSettings
from sandlot.worlds.obstacles.scene import obstacles_scene
from sandlot.worlds.obstacles.settings import ObstaclesSettings
from sandlot.worlds.obstacles.task import ObstaclesTask
from sandlot.worlds.obstacles.world import ACTION, spaces
from sandlot.worlds.scene import Scene
from sandlot.worlds.vector import CompiledVector


class ObstaclesVector(CompiledVector[Array]):
    """What ``gymnasium.make_vec("sandlot/Obstacles-v0", num_envs=...)`` gives: as so many `Obstacles`, faster.

    ``reset(options={"courses": kinds})`` puts each robot on a course of its own kind, in place of the settings' one.

    Attributes:
        settings: What the worlds were made with. So many ``threads`` step robots in parallel.
        task: The robots.
    """

    metadata = {**CompiledVector.metadata, "render_fps": 20}
    Settings: ClassVar[type[WorldSettings]] = ObstaclesSettings
    action_meaning = ACTION
    settings: ObstaclesSettings
    task: ObstaclesTask

    def _make(self, threads: int) -> tuple[Box, Box]:
        self.task = ObstaclesTask(self.settings, self.num_envs, threads)
        return spaces(self.task.climbers.climber, self.settings.cells * self.settings.rows)

    def _check_start(self, options: Mapping[str, Any]) -> Sequence[Kind] | None:
        kinds = options.get("courses")
        if kinds is not None and (len(kinds) != self.num_envs or not all(isinstance(kind, Kind) for kind in kinds)):
            raise SettingError(f"courses of a reset must be {self.num_envs} course kinds, one for each world")
        for kind in kinds or ():
            try:
                self.settings.check_start(kind, self.task.climbers.climber.reach)
            except ValueError as error:
                raise SettingError(f"courses of a reset: {error}") from None
        return kinds

    def _place(self, which: IntArray, start: Sequence[Kind] | None) -> None:
        drawn = [self.task.draw(self.generators[k], start[k] if start else None) for k in which.tolist()]
        self.task.restart(which, drawn)

    def _advance(self, actions: Array, running: BoolArray) -> Array:
        return self.task.command(actions)

    def _observe(self, mask: BoolArray) -> Array:
        which = np.flatnonzero(mask)
        self.task.look(which, [self.generators[k] for k in which.tolist()])
        return self.task.observe()

    def scenes(self) -> Iterator[Scene]:
        """One for each robot, as that of `Obstacles`."""
        return (obstacles_scene(self.task, robot) for robot in range(self.num_envs))
