"""A controller that was trained by reinforcement: a net at the normalised interface of one world.

`sandlot.learning.reinforcement` makes it. Its card names the world, and the settings that its observations and actions
depend on.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete, Space

from sandlot.control.controller import Action, Controller, Observation
from sandlot.errors import ModelError, SandlotError, quote
from sandlot.models.dense import Dense, forward, load_dense
from sandlot.models.policies import KIND


class TrainedController(Controller):
    """The best action of a net, for any number of members.

    Attributes:
        net: (inputs) to (outputs): actions in [-1, 1], or for each of several choices a value.
        choices: Of each discrete action; empty if actions are numbers.
    """

    def __init__(self, net: Dense, choices: tuple[int, ...] = (), single: bool = False) -> None:
        """Take a net; with ``single`` an action is one whole number, and not a row of them."""
        self.net, self.choices, self._single = net, choices, single

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Nothing: it has no memory and no randomness."""

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """One action for each observation.

        Raises:
            SandlotError: If observations have another shape, or the net gives NaN.
        """
        rows = np.asarray(observations, np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.net.sizes[0]:
            raise SandlotError(
                f"the trained controller takes rows of {self.net.sizes[0]} numbers, not an array of shape {rows.shape}"
            )
        values = forward(self.net, np.ascontiguousarray(rows))
        if not np.isfinite(values).all():
            raise SandlotError("the net of the trained controller gave NaN or infinity")
        if not self.choices:
            return np.clip(values, -1.0, 1.0).astype(np.float32)
        ends = np.cumsum(self.choices).tolist()
        best = [values[:, end - count : end].argmax(axis=1) for count, end in zip(self.choices, ends, strict=True)]
        return best[0] if self._single else np.stack(best, axis=1)


def choices_of(space: Space[Any]) -> tuple[int, ...]:
    """The number of choices of each discrete action of a space; empty if actions are numbers."""
    if isinstance(space, Discrete):
        return (int(space.n),)
    return tuple(space.nvec.ravel().tolist()) if isinstance(space, MultiDiscrete) else ()


def load_trained(path: Path, observation: Space[Any], action: Space[Any]) -> TrainedController:
    """Read a controller for a world with these spaces.

    Raises:
        ModelError: If it cannot be read, or does not fit.
    """
    net, _ = load_dense(path, KIND)
    choices = choices_of(action)
    takes, gives = math.prod(observation.shape or ()), sum(choices) or math.prod(action.shape or ())
    if (takes, gives) != (int(net.sizes[0]), int(net.sizes[-1])):
        raise ModelError(
            f"{quote(path)} takes {net.sizes[0]} numbers and gives {net.sizes[-1]}; this world gives {takes} and takes "
            f"{gives}; run it with the settings that it was trained with"
        )
    return TrainedController(net, choices, isinstance(action, Discrete))
