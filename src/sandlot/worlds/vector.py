"""What worlds that are compiled as one have in common: their number, seeds, and when episodes end."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.typing import Array, BoolArray

Seen = TypeVar("Seen", bound=NDArray[Any])


class CompiledVector(VectorEnv[Seen, Array, NDArray[Any]]):
    """Many worlds in one.

    World k is seeded with ``seed + k``, as in Gymnasium's ``SyncVectorEnv``. One whose episode has ended starts anew
    with the next step, whatever it is told; that step has no reward.

    A subclass adds ``_make``, ``reset``, ``step`` and ``render``.

    Attributes:
        max_episode_steps: After which episodes are truncated; None for never.
        generators: Where each world's chance comes from; those that have been reset.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}

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
            threads: How many work at the same time, if the world can use more than one; results do not depend on it.
            settings: Those of the world.

        Raises:
            SandlotError: If a setting is unknown or impossible.
        """
        limit = None if max_episode_steps == -1 else max_episode_steps  # as Gymnasium has it
        for name, value in {"num_envs": num_envs, "max_episode_steps": 1 if limit is None else limit}.items():
            if not (isinstance(value, int | np.integer) and value >= 1):
                raise SandlotError(f"{name}={value} is not possible; allowed: a whole number at least 1")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise SandlotError(f"render_mode={render_mode} is not possible; allowed: rgb_array")
        self.num_envs, self.render_mode, self.max_episode_steps = num_envs, render_mode, limit
        self.generators: dict[int, np.random.Generator] = {}
        self._begun, self._ended = np.zeros((2, num_envs), np.bool_)
        self._steps = np.zeros(num_envs, np.int64)
        self.single_observation_space, self.single_action_space = self._make(settings, threads)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    @abstractmethod
    def _make(self, settings: dict[str, Any], threads: int) -> tuple[Box, Box]:
        """Make what goes on in the worlds; returns what one of them observes, and what it can be told."""

    def _seed(self, seed: int | Sequence[int | None] | None, options: Mapping[str, Any]) -> BoolArray:
        """Seed the worlds that are to be reset; returns which these are: (num_envs,)."""
        try:
            mask = np.asarray(options.get("reset_mask", np.ones(self.num_envs, np.bool_)))
        except ValueError:  # rows of different lengths
            mask = np.empty(0)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise SandlotError(f"reset_mask is {self.num_envs} times true or false")
        seeds: list[int | None]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, int | np.integer):
            seeds = [int(seed) + k for k in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise SandlotError(f"{len(seeds)} seeds for {self.num_envs} worlds")
        for k in np.flatnonzero(mask).tolist():
            if seeds[k] is not None or k not in self.generators:
                self.generators[k] = seeding.np_random(seeds[k])[0]
        return mask

    def _check_begun(self) -> None:
        """Refuse to go on before there was a start."""
        if not self._begun.all():
            raise SandlotError("before the first step, reset all worlds")

    def _begin(self, mask: BoolArray) -> None:
        """Episodes of these worlds begin."""
        self._begun, self._ended = self._begun | mask, self._ended & ~mask
        self._steps[mask] = 0

    def _end(self, terminations: BoolArray, truncations: BoolArray) -> tuple[BoolArray, BoolArray]:
        """Episodes of these worlds end, and those that have lasted long enough."""
        if self.max_episode_steps is not None:
            truncations = truncations | (self._steps >= self.max_episode_steps)
        self._ended = terminations | truncations
        return terminations, truncations

    def _told(self, values: Mapping[str, NDArray[Any]], mask: BoolArray | None = None) -> dict[str, Any]:
        """Infos of all worlds, or of some, as Gymnasium wants them: values, and who has them."""
        known = np.ones(self.num_envs, np.bool_) if mask is None else mask
        told = {key: np.where(known, value, np.zeros_like(value)) for key, value in values.items()}
        return told | {f"_{key}": known.copy() for key in values}
