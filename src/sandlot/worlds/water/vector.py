"""Many water worlds as one: a step of all of them is one call of the compiled kernel."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from sandlot.settings import build
from sandlot.typing import Array, BoolArray
from sandlot.worlds.actions import check_action
from sandlot.worlds.vector import CompiledVector
from sandlot.worlds.water.task import WaterTask
from sandlot.worlds.water.world import ACTION, WaterSettings, picture, spaces


class WaterVector(CompiledVector[Array]):
    """What ``gymnasium.make_vec("sandlot/Water-v0", num_envs=...)`` gives: the same as so many `Water`, but faster.

    Body k is seeded with ``seed + k``, as in Gymnasium's ``SyncVectorEnv``. One whose episode has ended starts anew
    with the next step, whatever it is told; that step has no reward.

    Attributes:
        settings: What it was made with. At ``reference``, ``threads`` are how many bodies move at the same time.
        task: The bodies.
    """

    metadata = {**CompiledVector.metadata, "render_fps": 50}

    def _make(self, settings: dict[str, Any], threads: int) -> tuple[Box, Box]:
        self.settings = build(WaterSettings, settings)
        self.task = WaterTask(self.settings, self.num_envs, threads)
        return spaces(self.settings.snake)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start all anew, or those of ``options["reset_mask"]``; ``options["target"]`` is as in `Water`."""
        given = options or {}
        target = given.get("target", self.settings.target)
        if target is not None:
            target = self.task.check(target)  # before anything is changed
        mask = self._seed(seed, given)
        self._restart(mask, target)
        return self.task.observe(), self._info(mask)

    def step(self, actions: NDArray[Any]) -> tuple[Array, Array, BoolArray, BoolArray, dict[str, Any]]:
        """Go on to the next command, all at once."""
        self._check_begun()
        ended = self._ended
        rewards = self.task.command(check_action(actions, (self.num_envs, self.settings.snake.joints), ACTION))
        self._steps += 1
        if ended.any():
            self._restart(ended, self.settings.target)
            rewards[ended] = 0.0
        exploded = self.task.exploded
        ends = self._end(self.task.done & ~exploded & ~ended, exploded & ~ended)
        return self.task.observe(), rewards, *ends, self._info()

    def render(self) -> tuple[NDArray[np.uint8], ...]:
        """A picture of each, as that of `Water`."""
        return tuple(picture(self.task, body) for body in range(self.num_envs))

    def _restart(self, mask: BoolArray, target: Any) -> None:
        which = np.flatnonzero(mask)
        if target is None:
            marks = np.array([self.task.draw(self.generators[k]) for k in which.tolist()])
        else:
            marks = np.tile(target, (which.size, 1))
        self.task.restart(which, marks)
        self._begin(mask)

    def _info(self, mask: BoolArray | None = None) -> dict[str, Any]:
        return self._told({"time": self.task.swimmers.time, "exploded": self.task.exploded}, mask)
