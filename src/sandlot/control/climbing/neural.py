"""The neural controller of Vincent 2008, section 5.2: a net commands the front axle, and the rear axle follows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sandlot.control.climbing.memory import Delay
from sandlot.control.controller import Action, Controller, Observation
from sandlot.robots.climber import AXLE_LIMIT, NOMINAL_SPEED, Climber
from sandlot.robots.climbers import INTERVAL
from sandlot.typing import Array

ROWS = 5
"""Of the elevation map."""


class FrontNet(NamedTuple):
    """A net from observations to the angle of the front axle over pi.

    Attributes:
        low: (inputs,) smallest value of each input in training.
        high: (inputs,) largest one.
        hidden: (nodes, inputs + 1) weights of inputs scaled to -1 and 1, the last of them biases.
        output: (nodes + 1,) weights of the nodes' hyperbolic tangents, the last a bias.
    """

    low: Array
    high: Array
    hidden: Array
    output: Array

    def angle(self, observations: Array) -> Array:
        """Desired angles of the front axle: (n,) [rad]."""
        x = scaled(observations, self.low, self.high)
        nodes = np.tanh(x @ self.hidden[:, :-1].T + self.hidden[:, -1])
        return np.asarray(np.pi * (nodes @ self.output[:-1] + self.output[-1]))


def scaled(observations: Array, low: Array, high: Array) -> Array:
    """Inputs from -1 to 1 over their range in training; those that never varied are 0."""
    range_ = high - low
    return np.where(range_ > 0.0, 2.0 * (observations - low) / np.where(range_ > 0.0, range_, 1.0) - 1.0, 0.0)


class Neural(Controller):
    """A net for the front axle; the rear axle does the opposite after the time of an axle span."""

    def __init__(self, climber: Climber, net: FrontNet, speed: float = NOMINAL_SPEED) -> None:
        """Begin with `reset`.

        Args:
            climber: The robot.
            net: For the front axle, trained by `sandlot.learning.imitation`.
            speed: Nominal speed of the belts [m/s], above 0.
        """
        self.net, self.speed = net, speed
        self.delay = Delay(max(round(climber.axles.span / speed / INTERVAL), 1))

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes."""
        self.delay.reset(len(seeds), members)

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """(n, 4) angles of the front and the rear axle [rad], speeds of the left and the right belts [m/s]."""
        who = np.arange(len(observations)) if members is None else np.asarray(members)
        front = np.clip(self.net.angle(np.asarray(observations, np.float64)), -AXLE_LIMIT, AXLE_LIMIT)
        back = -self.delay.oldest(who)
        self.delay.replace(who, front)
        belts = np.full(len(who), self.speed)
        return np.stack([front, back, belts, belts], axis=1)
