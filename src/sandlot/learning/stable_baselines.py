"""Compiled vector worlds for Stable-Baselines3, whose own adapters take only lists of single worlds."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from sandlot.errors import SettingError
from sandlot.extras import need
from sandlot.typing import BoolArray, Image
from sandlot.worlds.vector import CompiledVector

VecEnv: Any = need("stable_baselines3.common.vec_env", "learn").VecEnv

Steps = tuple[NDArray[Any], NDArray[np.float32], BoolArray, list[dict[str, Any]]]


def as_sb3(vector: VectorEnv[Any, Any, Any]) -> "CompiledVecEnv":
    """Make a compiled vector world an environment of Stable-Baselines3.

        PPO("MlpPolicy", as_sb3(gymnasium.make_vec("sandlot/Water-v0", num_envs=64))).learn(1_000_000)

    Args:
        vector: What ``gymnasium.make_vec`` gives; from now on it resets members in the step in which they end.

    Raises:
        SettingError: If it is not a compiled vector world, or is wrapped.
    """
    if not isinstance(vector.unwrapped, CompiledVector):
        raise SettingError(f"as_sb3 takes a compiled vector world of Sandlot, not {type(vector.unwrapped).__name__}")
    if not isinstance(vector, CompiledVector):
        raise SettingError("as_sb3 takes a vector world without wrappers; wrap what it returns instead")
    vector.autoreset_mode = AutoresetMode.SAME_STEP
    vector.metadata = {**vector.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}
    return CompiledVecEnv(vector)


class CompiledVecEnv(VecEnv):
    """A compiled vector world with the interface of Stable-Baselines3.

    Infos are filled only for members whose episode has ended: ``terminal_observation``, ``TimeLimit.truncated``,
    ``is_success`` and the world's other infos, and its ``outcomes``.

    Attributes:
        world: The vector world.
    """

    def __init__(self, world: CompiledVector[Any]) -> None:
        """Take a vector world that resets members in the step in which they end."""
        self.world = world
        super().__init__(world.num_envs, world.single_observation_space, world.single_action_space)
        self.metadata = world.metadata

    def reset(self) -> NDArray[Any]:
        """Begin new episodes of all members, with the seeds and options that were set before."""
        options = [each for each in self._options if each]
        if any(each != options[0] for each in options):
            raise SettingError("options of a compiled vector world must be the same for all members")
        seen, _ = self.world.reset(seed=self._seeds, options=dict(options[0]) if options else None)
        self._reset_seeds()
        self._reset_options()
        return np.array(seen)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> Steps:
        """Make the step."""
        seen, rewards, terminated, truncated, info = self.world.step(self._actions)
        over = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for k in np.flatnonzero(over).tolist():
            infos[k] = of_member(info["final_info"], k) | {
                "terminal_observation": info["final_obs"][k],
                "TimeLimit.truncated": bool(truncated[k] and not terminated[k]),
            }
        return np.array(seen), rewards.astype(np.float32), over, infos

    def close(self) -> None:
        """Close the vector world."""
        self.world.close()

    def get_images(self) -> Sequence[Image]:
        """A picture of each member."""
        return self.world.render()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the vector world, once for each member."""
        return [getattr(self.world, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the vector world; members share it."""
        setattr(self.world, attr_name, value)

    def env_method(self, method_name: str, *given: Any, indices: Any = None, **named: Any) -> list[Any]:
        """Call a method of the vector world once; its result is that of each member."""
        result = getattr(self.world, method_name)(*given, **named)
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Members have no wrappers."""
        return [False for _ in self._get_indices(indices)]


def of_member(infos: dict[str, Any], member: int) -> dict[str, Any]:
    """The infos of one member of a vector world, as a single world gives them."""
    keys: Iterable[str] = (key for key in infos if not key.startswith("_") and infos[f"_{key}"][member])
    return {key: _one(infos[key], member) for key in keys}


def _one(value: Any, member: int) -> Any:
    if isinstance(value, dict):
        return of_member(value, member)
    each = value[member]
    return each.item() if isinstance(each, np.generic) else each
