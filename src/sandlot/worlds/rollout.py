"""The one loop "reset, act, step": a controller drives one world, or a batch of them.

    for step in rollout(world, world.controller("fetch"), seed=1, steps=4000):
        ...  # keep what you need of the step, or of the world; break to stop

A rollout of a vector world gives each member, bit for bit, what a rollout of a single world with its seed gives.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, SupportsFloat, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from sandlot.control.controller import Action, Controller, Observation, Scripted
from sandlot.errors import SandlotError, SettingError
from sandlot.typing import Array, BoolArray, IntArray


@dataclass(frozen=True)
class Step:
    """One step of a batch of worlds; a single world is a batch of one.

    Attributes:
        number: Steps made so far; 0 after the first reset.
        episodes: (members,) number of each member's episode, from 0.
        began: (members,) whether the member was reset in this step: its action and its reward mean nothing.
        running: (members,) whether the member took part; one whose only episode ended earlier keeps its last values.
        observations: (members, ...) after the step.
        actions: (members, ...) that led here; zeros after the first reset.
        rewards: (members,)
        terminated: (members,) whether the episode ended with this step.
        truncated: (members,) whether it was cut off with this step.
        info: What the world returned.
    """

    number: int
    episodes: IntArray
    began: BoolArray
    running: BoolArray
    observations: Observation
    actions: Action
    rewards: Array
    terminated: BoolArray
    truncated: BoolArray
    info: dict[str, Any]

    @property
    def ended(self) -> BoolArray:
        """Whether the member's episode ended, or was cut off, with this step: (members,)."""
        return self.terminated | self.truncated


def rollout(
    world: gymnasium.Env[Any, Any] | VectorEnv[Any, Any, Any],
    controller: Controller,
    seed: int | Sequence[int],
    steps: int,
    *,
    again: bool = False,
    controller_seeds: Sequence[np.random.SeedSequence] | None = None,
    options: dict[str, Any] | None = None,
    until: Callable[[], BoolArray] | None = None,
    hold: bool = False,
) -> Iterator[Step]:
    """Let a controller drive a world, or a vector of worlds.

    Args:
        world: A world, possibly wrapped, or a vector world.
        controller: Is reset at the start of each episode.
        seed: Seed of the first episode; of a vector world one for each member, or one for the first member, and member
            k has ``seed + k``.
        steps: Maximum number of steps.
        again: When an episode ends, begin the next one. Otherwise the rollout ends when all members have ended, and
            the controller is not asked for members that have.
        controller_seeds: Seeds of the controller in the first episode, one for each member; made from ``seed`` if not
            given. Later episodes get children of these.
        options: Options of the first reset.
        until: Which members (members,) have reached their goal; replaces the world's own termination. A vector world
            must then be made with ``autoreset_mode="Disabled"``.
        hold: Let a single world that has a method ``hold`` make several steps at once while a `Scripted` controller
            keeps its action. Only the last of these steps is yielded.

    Yields:
        The state after the first reset, and after every step. When a single world is reset, the state after that too.

    Raises:
        SettingError: If the number of seeds does not fit, or the autoreset mode of the world does not.
        SandlotError: If the controller gives actions of an impossible shape.
    """
    batch: Any = world if isinstance(world, VectorEnv) else _Single(world)
    mode = batch.metadata.get("autoreset_mode")
    if again and mode not in (None, AutoresetMode.NEXT_STEP):
        raise SettingError(f"a vector world that begins episodes again needs autoreset mode NEXT_STEP, not {mode}")
    if until is not None and mode not in (None, AutoresetMode.DISABLED):
        raise SettingError("a rollout of a vector world with `until` needs a world made with autoreset_mode=Disabled")
    count = batch.num_envs
    seeds = [int(seed) + k for k in range(count)] if isinstance(seed, int | np.integer) else list(seed)
    first = [np.random.SeedSequence(each) for each in seeds] if controller_seeds is None else list(controller_seeds)
    if len(seeds) != count or len(first) != count:
        raise SettingError(f"{len(seeds)} seeds and {len(first)} controller seeds for {count} worlds")

    controller.reset(first)
    observations, info = batch.reset(seed=seeds, options=options)
    actions = np.zeros((count, *batch.single_action_space.shape), batch.single_action_space.dtype)
    running, everyone, nobody = np.ones(count, np.bool_), np.ones(count, np.bool_), np.zeros(count, np.bool_)
    episodes = np.zeros(count, np.int64)
    yield Step(0, episodes, everyone, everyone, observations, actions, np.zeros(count), nobody, nobody, info)
    whole = True  # all members are running
    holds = hold and isinstance(batch, _Single) and batch.can_hold and isinstance(controller, Scripted)
    number = 0
    while number < steps:
        if not (whole or again or running.any()):
            return
        if holds and isinstance(controller, Scripted):
            actions, same = controller.ahead()
            made, (seen, rewards, terminated, truncated, info) = batch.hold(actions, min(same, steps - number))
            controller.skip(made)
            number += made
        else:
            actions = (
                np.array(controller.act(observations)) if whole else _ask(controller, observations, running, actions)
            )
            seen, rewards, terminated, truncated, info = batch.step(actions)
            number += 1
        began, there = nobody, everyone
        if again and not whole:  # the vector world has reset these members
            began = ~running
            episodes = _begin(controller, first, episodes, began)
        if until is not None:
            terminated = until() & ~truncated
        if whole or again:
            observations = seen
        else:
            there = running
            observations = np.where(_along(there, seen), seen, observations)
            terminated, truncated, rewards = terminated & there, truncated & there, np.where(there, rewards, 0.0)
        yield Step(number, episodes, began, there, observations, actions, rewards, terminated, truncated, info)
        running = there & ~(terminated | truncated)
        whole = bool(running.all())
        if again and isinstance(batch, _Single) and not whole:
            observations, info = batch.reset()
            episodes, running, whole = _begin(controller, first, episodes, everyone), everyone, True
            yield Step(number, episodes, everyone, everyone, observations, actions, np.zeros(1), nobody, nobody, info)


def _ask(controller: Controller, observations: Observation, running: BoolArray, last: Action) -> Action:
    """Actions of those that are running; the others repeat their last one."""
    actions = last.copy()
    if running.any():
        actions[running] = controller.act(observations[running], np.flatnonzero(running).tolist())
    return actions


def _begin(
    controller: Controller, first: list[np.random.SeedSequence], episodes: IntArray, which: BoolArray
) -> IntArray:
    """Reset the controller of some members; returns the numbers of all members' episodes."""
    episodes = episodes + which
    members = np.flatnonzero(which).tolist()
    seeds = [
        np.random.SeedSequence(first[k].entropy, spawn_key=(*first[k].spawn_key, int(episodes[k]))) for k in members
    ]
    controller.reset(seeds, members)
    return episodes


def _along(mask: BoolArray, values: NDArray[Any]) -> BoolArray:
    """The mask with as many axes as the values, so that both broadcast."""
    return mask.reshape(-1, *[1] * (values.ndim - 1))


_Result: TypeAlias = tuple[Observation, Array, BoolArray, BoolArray, dict[str, Any]]


class _Single:
    """A single world with the methods of a vector world of one."""

    num_envs = 1
    metadata: dict[str, Any] = {}

    def __init__(self, world: gymnasium.Env[Any, Any]) -> None:
        self._world = world
        self.single_action_space = world.action_space

    def reset(
        self, *, seed: list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        observation, info = self._world.reset(seed=seed[0] if seed else None, options=options)
        return np.asarray(observation)[None], info

    @property
    def can_hold(self) -> bool:
        return hasattr(self._world, "hold")

    def hold(self, actions: Action, steps: int) -> tuple[int, _Result]:
        made, result = self._world.hold(actions[0], steps)  # type: ignore[attr-defined]
        return made, self._as_batch(*result)

    def step(self, actions: Action) -> _Result:
        if actions.shape[:1] != (1,):
            raise SandlotError(
                f"a controller gives actions with an axis of 1 world first, not of shape {actions.shape}"
            )
        return self._as_batch(*self._world.step(actions[0]))

    def _as_batch(
        self, observation: Any, reward: SupportsFloat, terminated: bool, truncated: bool, info: dict[str, Any]
    ) -> _Result:
        ends = np.array([terminated], np.bool_), np.array([truncated], np.bool_)
        return np.asarray(observation)[None], np.array([float(reward)]), *ends, info
