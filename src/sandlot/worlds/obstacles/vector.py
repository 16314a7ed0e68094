"""The vector form of the obstacles world: one call of the compiled kernel steps all robots."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box

from sandlot.errors import SettingError
from sandlot.places.course_kinds import Kind
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.obstacles.scene import obstacles_scene
from sandlot.worlds.obstacles.settings import ObstaclesSettings
from sandlot.worlds.obstacles.task import ObstaclesTask
from sandlot.worlds.obstacles.world import ACTION, spaces
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings
from sandlot.worlds.vector import CompiledVector


class ObstaclesVector(CompiledVector[Array]):
    """What ``gymnasium.make_vec("sandlot/Obstacles-v0", num_envs=...)`` gives: as so many `Obstacles`, faster.

    ``reset(options={"courses": kinds})`` puts each robot on a course of its own kind, in place of the settings' one. At
    ``reference``, ``options={"yaws": yaws}`` starts each robot turned by its own yaw, positive to the left [rad].

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

    def _check_start(self, options: Mapping[str, Any]) -> Sequence[tuple[Kind | None, float | None]]:
        kinds, yaws = options.get("courses"), options.get("yaws")
        if kinds is not None and (len(kinds) != self.num_envs or not all(isinstance(kind, Kind) for kind in kinds)):
            raise SettingError(f"courses of a reset must be {self.num_envs} course kinds, one for each world")
        for kind in kinds or ():
            try:
                self.settings.check_start(kind, self.task.climbers.climber.reach)
            except ValueError as error:
                raise SettingError(f"courses of a reset: {error}") from None
        if yaws is not None:
            if self.settings.fidelity == "fast":
                raise SettingError(
                    "yaws of a reset are only for fidelity=reference: the fast model drives straight ahead"
                )
            if np.shape(yaws) != (self.num_envs,) or not np.isfinite(yaws).all():
                raise SettingError(f"yaws of a reset must be {self.num_envs} numbers [rad], one for each world")
        nothing = [None] * self.num_envs
        return list(zip(kinds or nothing, nothing if yaws is None else map(float, yaws), strict=True))

    def _place(self, which: IntArray, start: Sequence[tuple[Kind | None, float | None]]) -> None:
        self.task.restart(which, [self.task.draw(self.generators[k], *start[k]) for k in which.tolist()])

    def _advance(self, actions: Array, running: BoolArray) -> Array:
        return self.task.command(actions)

    def _observe(self, mask: BoolArray) -> Array:
        which = np.flatnonzero(mask)
        self.task.look(which, [self.generators[k] for k in which.tolist()])
        return self.task.observe()

    def scenes(self) -> Iterator[Scene]:
        """One for each robot, as that of `Obstacles`."""
        return (obstacles_scene(self.task, robot) for robot in range(self.num_envs))
