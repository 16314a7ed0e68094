"""Recording any world: a Gymnasium wrapper that keeps every frame, and a loop that drives one."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.recordings import Quantity, Writer
from sandlot.settings import build
from sandlot.worlds import load, world_id
from sandlot.worlds.base import World


class Record(gymnasium.Wrapper[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]):
    """Writes a recording while the world runs.

    A frame is kept at every reset and after every step: the world's own quantities, and with them ``action`` (what led
    here; zero at a reset), ``reward``, ``episode`` (counted from 0) and ``exploded`` (no longer to be trusted, so that
    the frame says nothing about the world).

    Attributes:
        writer: The recording being written.
        episodes: How many have begun.
        exploded: How many of them have exploded.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], path: Path | str, seed: int | None = None) -> None:
        """Start a recording.

        Args:
            env: A world, possibly wrapped.
            path: Where to keep the recording.
            seed: Noted in the recording; give the one passed to ``reset``.

        Raises:
            SandlotError: If ``env`` is not a world, or ``path`` cannot be written.
        """
        super().__init__(env)
        world = env.unwrapped
        if not isinstance(world, World):
            raise SandlotError(f"only Sandlot worlds can be recorded, not {type(world).__name__}")
        self._world = world
        sample = np.asarray(env.action_space.sample())
        self._still = np.zeros_like(sample)
        dims = tuple(f"action_{k}" for k in range(sample.ndim))
        quantities = {
            **world.quantities,
            "action": Quantity("1", "action that led here", dims, sample.shape, str(sample.dtype)),
            "reward": Quantity(world.reward_units, "reward of the step that led here"),
            "episode": Quantity("1", "episodes finished before", dtype="int64"),
            "exploded": Quantity("1", "whether the simulation has exploded: not to be trusted", dtype="bool"),
        }
        settings = world.settings.model_dump(mode="json")
        self.episodes = self.exploded = 0
        self._lost = False
        self.writer = Writer(Path(path), quantities, settings=settings, seed=seed, world=world_id(type(world).__name__))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the world and keep its first frame."""
        observation, info = super().reset(seed=seed, options=options)
        self.episodes += 1
        self._lost = False
        self._keep(self._still, 0.0)
        return observation, info

    def step(self, action: NDArray[Any]) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step the world and keep its frame."""
        observation, reward, terminated, truncated, info = super().step(action)
        if info.get("exploded", False) and not self._lost:
            self.exploded, self._lost = self.exploded + 1, True
        self._keep(action, float(reward))
        return observation, reward, terminated, truncated, info

    def close(self) -> None:
        """Finish the recording and close the world."""
        self.writer.close()
        super().close()

    def _keep(self, action: NDArray[Any], reward: float) -> None:
        mine: dict[str, Any] = {
            "action": np.asarray(action, self._still.dtype),
            "reward": np.float64(reward),
            "episode": np.int64(self.episodes - 1),
            "exploded": np.bool_(self._lost),
        }
        self.writer.append({**self._world.frame(), **mine})


def record_world(
    name: str,
    path: Path,
    steps: int,
    controller: str | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Let a controller drive a world and record it; when an episode ends, the next begins.

    Args:
        name: Short name of the world.
        path: Where to keep the recording.
        steps: How many.
        controller: One of the world's, its first if not given, or the path of a file.
        seed: Same seed, same recording.
        settings: Of the world.
        progress: Called now and then with the steps done and all steps.

    Returns:
        What was recorded, for showing; among it how many episodes exploded, and so ended there.
    """
    kind = load(name)
    world = kind(**build(kind.Settings, settings or {}).model_dump())
    driver = controller or next(iter(world.controllers()))
    act = world.controller(driver, np.random.SeedSequence(seed), steps)
    env = Record(world, path, seed)
    try:
        observation, _ = env.reset(seed=seed)
        for done in range(1, steps + 1):
            observation, _, terminated, truncated, _ = env.step(act(observation))
            if terminated or truncated:
                observation, _ = env.reset()
            if done % 100 == 0 or done == steps:
                progress(done, steps)
    finally:
        env.close()
    facts = {"world": name, "controller": driver, "seed": seed, "steps": steps, "episodes": env.episodes}
    return {**facts, "exploded": env.exploded, "frames": env.writer.frames, "recording": str(path)}
