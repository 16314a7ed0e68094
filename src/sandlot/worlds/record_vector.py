"""Recording a compiled vector world: a wrapper that writes one recording for each member."""

from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from sandlot.errors import SettingError
from sandlot.recordings import Writer
from sandlot.recordings.vocabulary import quantity
from sandlot.typing import Array, BoolArray
from sandlot.worlds import world_id
from sandlot.worlds.transitions import transitions
from sandlot.worlds.vector import CompiledVector


class RecordVector(VectorWrapper):
    """Writes what learners need of every member: ``PATH/0``, ``PATH/1``, and so on.

    A frame is written at every reset and after every step: ``time``, ``observation``, ``action``, ``reward``,
    ``terminated``, ``truncated``, ``episode`` and ``exploded``, as `sandlot.worlds.record.Record` writes them. The
    world's other quantities are not kept; a recording can be replayed, which gives them. Members may be reset in the
    next step or in the same step; a frame of the first kind, whose action means nothing, has action 0.

    Attributes:
        writers: The recording of each member; made at the first reset, which gives the seeds.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], path: Path | str) -> None:
        """Start the recordings.

        Args:
            env: What ``gymnasium.make_vec`` gives.
            path: Directory of the recordings.

        Raises:
            SettingError: If it is not a compiled vector world, or does not reset members by itself.
        """
        super().__init__(env)
        world = env.unwrapped
        if not isinstance(world, CompiledVector):
            raise SettingError(f"RecordVector takes a compiled vector world of Sandlot, not {type(world).__name__}")
        if world.autoreset_mode is AutoresetMode.DISABLED:
            raise SettingError("a vector world is recorded with autoreset_mode=NextStep or SameStep, not Disabled")
        self._world, self._path = world, Path(path)
        declared = transitions(world, world.single_observation_space, world.single_action_space)
        self._quantities = {"time": quantity("time"), **declared}
        self.writers: list[Writer] = []
        self._episodes, self._steps = np.full(self.num_envs, -1), np.zeros(self.num_envs, np.int64)
        self._ended = np.zeros(self.num_envs, np.bool_)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset members and write their first frames.

        Raises:
            SettingError: If members are seeded again, or not all of them are reset at first.
        """
        which = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_)))
        if not self.writers:
            if not which.all():
                raise SettingError("the first reset of a vector world that is recorded resets all members")
            # A seed that Gymnasium draws has more digits than netCDF and HDF5 can hold.
            seed = int(np.random.default_rng().integers(2**31)) if seed is None else seed
        elif seed is not None:
            raise SettingError("a recorded vector world is seeded only at its first reset: each recording has one seed")
        seen, info = self.env.reset(seed=seed, options=options)
        if not self.writers:
            settings = self._world.settings.model_dump(mode="json")
            name, seeds = world_id(self._world.name), self._world.np_random_seed
            self.writers = [
                Writer(self._path / str(k), self._quantities, settings=settings, seed=seeds[k], world=name)
                for k in range(self.num_envs)
            ]
        self._begin(which, seen)
        self._ended &= ~which
        return seen, info

    def step(self, actions: NDArray[Any]) -> tuple[Any, Array, BoolArray, BoolArray, dict[str, Any]]:
        """Step all members and write their frames."""
        began = self._ended
        seen, rewards, terminated, truncated, info = self.env.step(actions)
        over, same = terminated | truncated, self._world.autoreset_mode is AutoresetMode.SAME_STEP
        self._steps += 1
        exploded = np.asarray(info.get("exploded", np.zeros(self.num_envs, np.bool_)))
        if same and over.any() and "exploded" in info:
            exploded = np.where(over, info["final_info"]["exploded"], exploded)
        for k in np.flatnonzero(~began).tolist():
            last = info["final_obs"][k] if same and over[k] else seen[k]
            self._write(k, last, actions[k], rewards[k], terminated[k], truncated[k], exploded[k])
        self._begin(over if same else began, seen)
        self._ended = np.zeros_like(over) if same else over
        return seen, rewards, terminated, truncated, info

    def close(self, **options: Any) -> None:
        """Finish the recordings and close the worlds."""
        for writer in self.writers:
            writer.close()
        self.writers = []
        super().close(**options)

    def _begin(self, which: BoolArray, seen: NDArray[Any]) -> None:
        """Write the first frames of new episodes."""
        for k in np.flatnonzero(which).tolist():
            self._episodes[k], self._steps[k] = self._episodes[k] + 1, 0
            self._write(k, seen[k], 0, 0.0, False, False, False)

    def _write(self, k: int, seen: Any, action: Any, reward: Any, *ends: Any) -> None:
        values = (self._steps[k] * self._world.period, seen, action, reward, *ends[:2], self._episodes[k], ends[2])
        frame = {}
        for (name, each), value in zip(self._quantities.items(), values, strict=True):
            frame[name] = np.empty(each.shape, each.dtype)
            frame[name][...] = value
        self.writers[k].append(frame)
