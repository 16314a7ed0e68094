"""The neural controller of Vincent 2008, section 5.2: a net commands the front axle, and the rear axle follows."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sandlot.control.climbing.memory import Delay
from sandlot.control.controller import Action, Controller, Observation
from sandlot.errors import ModelError
from sandlot.models.dense import Dense, forward, load_dense
from sandlot.robots.climber import AXLE_LIMIT, NOMINAL_SPEED, Climber
from sandlot.robots.climbers import INTERVAL

ROWS = 5
"""Of the elevation map."""
SHIPPED = Path(__file__).parent / "taught"
"""The net that comes with the package; ``python -m sandlot.learning.imitation`` made it."""


class Neural(Controller):
    """A net for the front axle; the rear axle does the opposite after the time of an axle span."""

    def __init__(self, climber: Climber, net: Dense, speed: float = NOMINAL_SPEED) -> None:
        """Begin with `reset`.

        Args:
            climber: The robot.
            net: From an observation to the angle of the front axle [rad], taught by `sandlot.learning.imitation`.
            speed: Nominal speed of the belts [m/s], above 0.

        Raises:
            ModelError: If it has more than one output.
        """
        if net.sizes[-1] != 1:
            raise ModelError(f"a net with {net.sizes[-1]} outputs is not for a front axle; it has 1 output")
        self.net, self.speed = net, speed
        self.delay = Delay(max(round(climber.axles.span / speed / INTERVAL), 1))

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes."""
        self.delay.reset(len(seeds), members)

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """(n, 4) angles of the front and the rear axle [rad], speeds of the left and the right belts [m/s]."""
        who = np.arange(len(observations)) if members is None else np.asarray(members)
        angles = forward(self.net, np.asarray(observations, np.float64))[:, 0]
        front = np.clip(angles, -AXLE_LIMIT, AXLE_LIMIT)
        back = -self.delay.oldest(who)
        self.delay.replace(who, front)
        belts = np.full(len(who), self.speed)
        return np.stack([front, back, belts, belts], axis=1)


def load_neural(climber: Climber, path: Path = SHIPPED) -> Neural:
    """The neural controller with a net from its directory; the one that comes with the package if no path is given.

    Raises:
        ModelError: If it cannot be read, or is not for a front axle.
    """
    net, _ = load_dense(path)
    try:
        return Neural(climber, net)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
