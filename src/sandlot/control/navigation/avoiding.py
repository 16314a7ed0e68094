"""Steers near obstacles with a net that was trained for that: of four moves it makes the one with the largest value."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sandlot.control.controller import Action, Controller, Observation
from sandlot.errors import ModelError
from sandlot.models.dense import Dense, forward, load_dense
from sandlot.typing import Array

SHIPPED = Path(__file__).parent / "avoider"
"""The net that comes with the package; ``sandlot train avoider`` made it."""
FIXED, ACTIONS = 4, 4
"""Inputs besides the lines, and moves: forward, backward, right, left."""
ALIGNED = math.pi / 12.0
"""`Straight` drives on while its goal is within this bearing [rad]."""


class Avoider(Controller):
    """A trained net.

    Attributes:
        net: Observations of the avoid world in, values of its four moves out.
    """

    def __init__(self, net: Dense, lines: int) -> None:
        """Take a net for a world with so many lines.

        Raises:
            ModelError: If it has other inputs or outputs.
        """
        if (net.sizes[0], net.sizes[-1]) != (FIXED + lines, ACTIONS):
            raise ModelError(
                f"a net with {net.sizes[0]} inputs and {net.sizes[-1]} outputs is not an avoider with {lines} lines; "
                f"it has {FIXED + lines} inputs and {ACTIONS} outputs"
            )
        self.net = net

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """It remembers nothing."""

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """(n,) moves."""
        values = forward(self.net, np.ascontiguousarray(observations, np.float64))
        return values.argmax(axis=1)


class Straight(Controller):
    """Turns towards the goal and drives there, whatever is in the way."""

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """It remembers nothing."""

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """(n,) moves."""
        bearing: Array = np.asarray(observations)[:, 3]
        return np.where(np.abs(bearing) <= ALIGNED, 0, np.where(bearing < 0.0, 2, 3))


def load_avoider(path: Path = SHIPPED, lines: int = 5) -> Avoider:
    """Read a trained avoider; the one that comes with the package if no path is given.

    Raises:
        ModelError: If it cannot be read, or is not an avoider for so many lines.
    """
    net, _ = load_dense(path)
    try:
        return Avoider(net, lines)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
