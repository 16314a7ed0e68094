"""Many indoor worlds as one: all robots drive in one call, and see in another."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from sandlot.settings import build
from sandlot.typing import Array, BoolArray
from sandlot.worlds.actions import check_action
from sandlot.worlds.indoor.picture import Picture
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.task import ACTION, IndoorTask, spaces
from sandlot.worlds.vector import CompiledVector

Seen = NDArray[np.float32]


class IndoorVector(CompiledVector[Seen]):
    """What ``gymnasium.make_vec("sandlot/Indoor-v0", num_envs=...)`` gives: the same as so many `Indoor`, but faster.

    Robot k is seeded with ``seed + k``, as in Gymnasium's ``SyncVectorEnv``, and has the floor for itself. Chance comes
    from a generator of its own, in the same order as in `Indoor`: it sees the same, bit for bit. One whose episode has
    ended starts anew with the next step, whatever it is told; that step has no reward.

    Attributes:
        settings: What it was made with. At ``fast``, ``threads`` are how many cast rays at the same time.
        task: The robots.
    """

    metadata = {**CompiledVector.metadata, "render_fps": 4}

    def _make(self, settings: dict[str, Any], threads: int) -> tuple[Box, Box]:
        self.settings = build(IndoorSettings, settings)
        self.task = IndoorTask(self.settings, self.num_envs, threads)
        self._picture: Picture | None = None
        return spaces(self.settings)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Start all anew, or those of ``options["reset_mask"]``; ``options["start"]`` is as in `Indoor`."""
        given = options or {}
        start = given.get("start", self.settings.start)
        if start is not None:
            self.task.check(start)  # before anything is changed
        mask = self._seed(seed, given)
        self._restart(mask, start)
        self._scan(mask)
        return self.task.observe(), self._info(mask)

    def step(self, actions: NDArray[Any]) -> tuple[Seen, Array, BoolArray, BoolArray, dict[str, Any]]:
        """Drive for one interval, and scan, all at once."""
        self._check_begun()
        wanted = check_action(actions, (self.num_envs, 2), ACTION)
        ended = self._ended
        draws = np.zeros((self.num_envs, 2))
        for k in np.flatnonzero(~ended).tolist():  # those that have ended do not drive: they draw a start
            self.generators[k].standard_normal(out=draws[k])
        rewards = self.task.drive(wanted, self.settings.robot.slips(draws))
        self._steps += 1
        if ended.any():
            self._restart(ended, self.settings.start)
            rewards[ended] = 0.0
        self._scan(np.ones(self.num_envs, np.bool_))
        never = np.zeros(self.num_envs, np.bool_)
        return self.task.observe(), rewards, *self._end(never, never.copy()), self._info()

    def render(self) -> tuple[NDArray[np.uint8], ...]:
        """A picture of each, as that of `Indoor`."""
        if self._picture is None:
            self._picture = Picture(self.task.plan)
        radius, bearings = self.settings.robot.radius, self.settings.laser.bearings
        seen = zip(self.task.poses, self.task.ranges, strict=True)
        return tuple(self._picture.draw(pose, radius, bearings, ranges) for pose, ranges in seen)

    def _restart(self, mask: BoolArray, start: Any) -> None:
        which = np.flatnonzero(mask)
        poses = [self.task.place(start, self.generators[k]) for k in which.tolist()]
        self.task.restart(which, np.reshape(poses, (-1, 3)))
        self._begin(mask)

    def _scan(self, mask: BoolArray) -> None:
        which = np.flatnonzero(mask)
        self.task.scan(which, [self.generators[k] for k in which.tolist()])

    def _info(self, mask: BoolArray | None = None) -> dict[str, Any]:
        task = self.task
        values = {"time": task.time, "bumped": task.bumped, "bumps": task.bumps, "covered": task.covered}
        return self._told(values, mask)
