"""Many water worlds as one: a step of all of them is one call of the compiled kernel."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.settings import build
from sandlot.worlds.actions import check_action
from sandlot.worlds.water import ACTION, Array, WaterSettings, picture, spaces
from sandlot.worlds.water_task import Flags, WaterTask


class WaterVector(VectorEnv[Array, Array, NDArray[Any]]):
    """What ``gymnasium.make_vec("sandlot/Water-v0", num_envs=...)`` gives: the same as so many `Water`, but faster.

    Body k is seeded with ``seed + k``, as in Gymnasium's ``SyncVectorEnv``. One whose episode has ended starts anew
    with the next step, whatever its action; that step has no reward.

    Attributes:
        settings: What it was made with.
        task: The bodies.
    """

    metadata = {
        "render_modes": ["rgb_array"],
        "render_fps": 50,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        threads: int = 1,
        **settings: Any,
    ) -> None:
        """Make the worlds.

        Args:
            num_envs: How many.
            render_mode: None or ``rgb_array``.
            max_episode_steps: Truncate episodes after so many.
            threads: At ``reference``, how many move at the same time; results do not depend on it.
            settings: The fields of `WaterSettings`.

        Raises:
            SandlotError: If a setting is unknown or impossible.
        """
        if num_envs < 1:
            raise SandlotError(f"num_envs={num_envs} is not possible; allowed: a whole number at least 1")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise SandlotError(f"render_mode={render_mode} is not possible; allowed: rgb_array")
        self.num_envs, self.render_mode, self.max_episode_steps = num_envs, render_mode, max_episode_steps
        self.settings = build(WaterSettings, settings)
        self.task = WaterTask(self.settings, num_envs, threads)
        self.single_observation_space, self.single_action_space = spaces(self.settings.snake)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators: dict[int, np.random.Generator] = {}
        self._ended = np.zeros(num_envs, np.bool_)
        self._steps = np.zeros(num_envs, np.int64)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start all anew, or those of ``options["reset_mask"]``; ``options["target"]`` is as in `Water`."""
        given = dict(options or {})
        mask = np.asarray(given.get("reset_mask", np.ones(self.num_envs, np.bool_)))
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise SandlotError(f"reset_mask is {self.num_envs} times true or false")
        if seed is None or isinstance(seed, int):
            seeds = [None if seed is None else seed + k for k in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise SandlotError(f"{len(seeds)} seeds for {self.num_envs} worlds")
        for k in np.flatnonzero(mask).tolist():
            if seeds[k] is not None or k not in self._generators:
                self._generators[k] = seeding.np_random(seeds[k])[0]
        self._restart(mask, given.get("target", self.settings.target))
        return self.task.observe(), self._info(mask)

    def step(self, actions: NDArray[Any]) -> tuple[Array, Array, Flags, Flags, dict[str, Any]]:
        """Go on to the next command, all at once."""
        ended = self._ended
        rewards = self.task.command(check_action(actions, (self.num_envs, self.settings.snake.joints), ACTION))
        self._steps += 1
        if ended.any():
            self._restart(ended, self.settings.target)
            rewards[ended] = 0.0
        exploded = self.task.exploded
        terminations = self.task.done & ~exploded & ~ended
        truncations = exploded & ~ended
        if self.max_episode_steps is not None:
            truncations |= self._steps >= self.max_episode_steps
        self._ended = terminations | truncations
        return self.task.observe(), rewards, terminations, truncations, self._info()

    def render(self) -> tuple[NDArray[np.uint8], ...]:
        """A picture of each, as that of `Water`."""
        return tuple(picture(self.task, body) for body in range(self.num_envs))

    def _restart(self, mask: Flags, target: Any) -> None:
        which = np.flatnonzero(mask)
        if target is None:
            marks = np.array([self.task.draw(self._generators[k]) for k in which.tolist()])
        else:
            marks = np.tile(self.task.check(np.asarray(target, np.float64)), (which.size, 1))
        self.task.restart(which, marks)
        self._ended = self._ended & ~mask
        self._steps[which] = 0

    def _info(self, mask: Flags | None = None) -> dict[str, Any]:
        known = np.ones(self.num_envs, np.bool_) if mask is None else mask
        time, exploded = np.where(known, self.task.swimmers.time, 0.0), self.task.exploded & known
        return {"time": time, "_time": known.copy(), "exploded": exploded, "_exploded": known.copy()}
