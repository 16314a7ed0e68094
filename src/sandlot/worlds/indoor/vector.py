"""The vector form of the indoor world: one call drives all robots, and one scans for all of them."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.indoor.scene import indoor_scene
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.task import ACTION, IndoorTask, scale, spaces
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings
from sandlot.worlds.vector import CompiledVector

Seen = NDArray[np.float32]


class IndoorVector(CompiledVector[Seen]):
    """What ``gymnasium.make_vec("sandlot/Indoor-v0", num_envs=...)`` gives: the results of so many `Indoor`, faster.

    Each robot has the floor for itself. ``options["start"]`` of a reset is the start of all members, as in `Indoor`.

    Attributes:
        settings: What the worlds were made with. At ``fast``, so many ``threads`` cast rays in parallel.
        task: The robots.
    """

    metadata = {**CompiledVector.metadata, "render_fps": 4}
    Settings: ClassVar[type[WorldSettings]] = IndoorSettings
    action_meaning = ACTION
    settings: IndoorSettings
    task: IndoorTask

    def _make(self, threads: int) -> tuple[Box, Box]:
        self.metadata = {**self.metadata, "render_fps": 1.0 / self.settings.period}
        self.task = IndoorTask(self.settings, self.num_envs, threads)
        return spaces(self.settings)

    @property
    def reward_units(self) -> str:
        """Unit of the reward; it depends on the task."""
        return self.task.mission.units

    def _scale(self) -> Array:
        return scale(self.settings)

    def _check_start(self, options: Mapping[str, Any]) -> Array | None:
        start = options.get("start", self.settings.start)
        return None if start is None else self.task.check(start)

    def _place(self, which: IntArray, start: Array | None) -> None:
        poses = [self.task.floor.draw_pose(self.generators[k]) if start is None else start for k in which.tolist()]
        self.task.restart(which, np.reshape(poses, (-1, 3)), [self.generators[k] for k in which.tolist()])

    def _advance(self, actions: Array, running: BoolArray) -> Array:
        # Those that do not run will be reset, and draw only their start.
        return self.task.drive(actions, [self.generators[k] if runs else None for k, runs in enumerate(running)])

    def _observe(self, mask: BoolArray) -> Seen:
        return self.task.observe()

    def scenes(self) -> Iterator[Scene]:
        """One for each robot, as that of `Indoor`."""
        return (indoor_scene(self.task, robot) for robot in range(self.num_envs))
