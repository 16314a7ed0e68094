"""What a recording holds of each step besides a world's own quantities, so that learners can learn from it."""

from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from gymnasium.spaces import Space

from sandlot.recordings import Quantity
from sandlot.recordings.vocabulary import quantity
from sandlot.worlds.settings import WorldSettings


class Units(Protocol):
    """What a world, or a vector world, says about its units."""

    @property
    def settings(self) -> WorldSettings:
        """What it was made with."""

    @property
    def reward_units(self) -> str:
        """Of its reward."""

    @property
    def action_units(self) -> str:
        """Of its actions."""


def transitions(
    world: Units, observation: Space[Any], action: Space[Any], observations: bool = True
) -> dict[str, Quantity]:
    """Observation, action, reward, and how the episode stands.

    Args:
        world: Whose units they have.
        observation: Space of what is observed.
        action: Space of actions.
        observations: Whether observations are among them.
    """
    seen, given = (np.empty(space.shape or (), space.dtype) for space in (observation, action))
    # Controllers may give more digits than the space: a replay needs them.
    kind = "float64" if given.dtype.kind == "f" else str(given.dtype)
    plain = world.settings.interface == "units"
    found = {
        "observation": replace(
            quantity("observation", _axes("observation", seen.ndim), seen.shape, str(seen.dtype)),
            units="mixed" if plain else "1",
        ),
        "action": replace(
            quantity("action", _axes("action", given.ndim), given.shape, kind),
            units=world.action_units if plain else "1",
        ),
        "reward": replace(quantity("reward"), units=world.reward_units),
        "terminated": quantity("terminated", dtype="bool"),
        "truncated": quantity("truncated", dtype="bool"),
        "episode": quantity("episode", dtype="int64"),
        "exploded": quantity("exploded", dtype="bool"),
    }
    if not observations:
        del found["observation"]
    return found


def _axes(name: str, count: int) -> tuple[str, ...]:
    return tuple(f"{name}_{k}" for k in range(count))
