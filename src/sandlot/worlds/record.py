"""Recording a world: a Gymnasium wrapper that writes every frame, and a function that drives and records one."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.models.policies import settings_for
from sandlot.recordings import Writer
from sandlot.settings import build
from sandlot.worlds import load, world_id
from sandlot.worlds.base import StepResult, World
from sandlot.worlds.picture import picture
from sandlot.worlds.rollout import rollout
from sandlot.worlds.transitions import transitions
from sandlot.worlds.video import Video, check_video

LONG = 1000
"""Shorter recordings are made step by step: the kernel that makes several steps at once takes 10 s to compile."""


class Record(gymnasium.Wrapper[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]):
    """Writes a recording while the world runs.

    A frame is written at every reset and after every step: the world's own quantities, and with them ``observation``,
    ``action`` (that led to the frame; zero at a reset), ``reward``, ``terminated``, ``truncated``, ``episode`` (counted
    from 0) and ``exploded`` (the simulation has become unstable, so that the frame is invalid). The outcomes of each
    episode are noted in the recording.

    Attributes:
        writer: The recording being written.
        episodes: Number of episodes begun.
        exploded: Number of episodes that exploded.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], path: Path | str, seed: int | None = None, observations: bool = True
    ) -> None:
        """Start a recording.

        Args:
            env: A world, possibly wrapped.
            path: Where to write the recording.
            seed: Written into the recording; give the one passed to ``reset``.
            observations: Whether observations are kept. Without them, a rover on soil with patches is recorded faster.

        Raises:
            SandlotError: If ``env`` is not a world, or ``path`` cannot be written.
        """
        super().__init__(env)
        world = env.unwrapped
        if not isinstance(world, World):
            raise SandlotError(f"only Sandlot worlds can be recorded, not {type(world).__name__}")
        self._recorder = world.recorder()
        declared = transitions(world, env.observation_space, env.action_space, observations)
        quantities = {**self._recorder.quantities, **declared}
        settings = world.settings.model_dump(mode="json")
        self.episodes = self.exploded = 0
        self._outcomes: list[dict[str, float]] = []
        self._unstable = False
        self._transition = {name: np.zeros(each.shape, each.dtype) for name, each in declared.items()}
        self.writer = Writer(
            Path(path),
            quantities,
            settings=settings,
            seed=seed,
            world=world_id(type(world).__name__),
            background=True,
        )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset the world and write its first frame."""
        self._conclude()
        observation, info = super().reset(seed=seed, options=options)
        self.episodes += 1
        self._unstable = False
        self._recorder.restart()
        self._keep(observation, 0, 0.0, False, False)
        return observation, info

    def step(self, action: NDArray[Any]) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Step the world and write its frame."""
        observation, reward, terminated, truncated, info = super().step(action)
        if info.get("exploded", False) and not self._unstable:
            self.exploded, self._unstable = self.exploded + 1, True
        self._keep(observation, action, float(reward), terminated, truncated)
        return observation, reward, terminated, truncated, info

    def hold(self, action: NDArray[Any], steps: int) -> tuple[int, StepResult]:
        """Step the world with one action, once or several times, until the episode ends, and write all frames.

        Args:
            action: As in `step`.
            steps: At most so many; a world that cannot make several steps at once makes one.

        Returns:
            The number of steps, and what the last of them returned.
        """
        recorder, writer = self._recorder, self.writer
        observes = "observation" not in self._transition or recorder.can_observe_held
        if self.env is not self.env.unwrapped or not (recorder.can_hold and observes):
            observation, reward, *rest = self.step(action)
            return 1, (observation, float(reward), *rest)
        rows = writer.room()
        count = min(steps, len(rows["time"]), writer.until_sparse)
        rows = {name: values[:count] for name, values in rows.items()}
        rewards, result, last = recorder.hold(action, rows)
        made = len(rewards)
        self._unstable = bool(result[-1].get("exploded", False))
        self.exploded += self._unstable
        rows["action"][:made], rows["reward"][:made] = action, rewards
        rows["episode"][:made], rows["exploded"][:made] = self.episodes - 1, False
        rows["terminated"][:made] = rows["truncated"][:made] = False
        rows["terminated"][made - 1], rows["truncated"][made - 1] = result[2], result[3]
        rows["exploded"][made - 1] = self._unstable
        writer.filled(made, last)
        return made, result

    def close(self) -> None:
        """Finish the recording and close the world."""
        self._conclude()
        self.writer.close()
        super().close()

    def _conclude(self) -> None:
        """Note the outcomes of the episode that ends."""
        world = self.env.unwrapped
        if isinstance(world, World) and len(self._outcomes) < self.episodes and (found := world.outcomes()):
            self._outcomes.append(found)
            self.writer.note_outcomes(self._outcomes)

    def _keep(self, observation: Any, action: Any, reward: float, terminated: bool, truncated: bool) -> None:
        kept = self._transition
        if "observation" in kept:
            kept["observation"][...] = observation
        kept["action"][...], kept["reward"][()] = action, reward
        kept["terminated"][()], kept["truncated"][()] = terminated, truncated
        kept["episode"][()], kept["exploded"][()] = self.episodes - 1, self._unstable
        self.writer.append({**self._recorder.frame(), **kept})


def record_world(
    name: str,
    path: Path,
    steps: int,
    controller: str | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    video: Path | None = None,
    video_speed: float = 1.0,
    observations: bool = True,
) -> dict[str, Any]:
    """Let a controller drive a world and record it; when an episode ends, the next begins.

    Args:
        name: Short name of the world.
        path: Where to write the recording.
        steps: Number of steps.
        controller: Name of one of the world's controllers, by default its first, or the path of one on disk.
        seed: Same seed, same recording.
        settings: Of the world.
        progress: Called about every 100 steps with the number of steps done and of all steps.
        video: If given, a video is written there too: ``.mp4``, ``.gif`` or ``.webp``.
        video_speed: Of the video, relative to real time.
        observations: Whether the recording keeps observations. Without them, rovers with patches are recorded faster.

    Returns:
        Facts about the recording, such as how many episodes it has and how many of them exploded.
    """
    kind = load(name)
    if video is not None:
        check_video(video, video_speed)
    world = kind(settings=build(kind.Settings, {**settings_for(controller, name), **(settings or {})}))
    driver = controller or next(iter(world.controllers()))
    chosen = world.controller(driver, steps)
    env = Record(world, path, seed, observations)
    with ExitStack() as stack:
        stack.callback(env.close)
        film = None if video is None else stack.enter_context(Video(video, world.metadata["render_fps"], video_speed))
        reported = 0
        for step in rollout(env, chosen, seed, steps, again=True, hold=film is None and steps >= LONG):
            if film is not None:
                film.add(lambda: picture(world.scene()))
            if not step.began[0] and (step.number >= reported + 100 or step.number == steps):
                reported = step.number - step.number % 100
                progress(step.number, steps)
    facts = {"world": name, "controller": driver, "seed": seed, "steps": steps, "episodes": env.episodes}
    facts |= {"exploded": env.exploded, "frames": env.writer.frames, "recording": str(path)}
    return facts if video is None else {**facts, "video": str(video)}
