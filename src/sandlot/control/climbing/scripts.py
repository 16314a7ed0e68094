"""Climbs that are written down in advance: axle angles over time, whatever the robot sees or feels.

They show what the robot can do and compare fidelities, as the same commands go to both.
"""

from dataclasses import dataclass

import numpy as np

from sandlot.control.controller import Action, Controller, Observation, Policy, Separate
from sandlot.robots.climbers import INTERVAL
from sandlot.typing import Array


@dataclass(frozen=True)
class Script:
    """Axle angles over time, straight from knot to knot, at constant belt speed.

    Attributes:
        knots: Time [s], front and rear axle angle [rad] of each; the last lasts.
        speed: Of the belts [m/s].
        distance: From the start to the obstacle that the script is written for [m].
    """

    knots: tuple[tuple[float, float, float], ...]
    speed: float
    distance: float

    def at(self, time: float) -> Array:
        """The command at a time: front and rear axle angle [rad], left and right belt speed [m/s]."""
        times, front, back = np.array(self.knots).T
        return np.array([np.interp(time, times, front), np.interp(time, times, back), self.speed, self.speed])

    def controller(self) -> Controller:
        """Follow the script from each reset on."""
        return Separate(lambda _: self._policy())

    def _policy(self) -> Policy:
        commands = 0

        def act(_: Observation) -> Action:
            nonlocal commands
            commands += 1
            return self.at((commands - 1) * INTERVAL)

        return act


CLIMB_BOX = Script(
    knots=((0.0, 1.4, 0.0), (1.7, 0.6, 0.5), (3.0, 0.65, 0.5), (3.7, 0.0, 1.1), (4.4, -0.4, 0.2), (6.1, 0.3, 0.2)),
    speed=0.4,
    distance=0.8,
)
"""Raises the front tracks against the box, pushes the body up with the rear ones, tips over, and drives down."""
CLIMB_STAIRS = Script(
    knots=((0.0, 1.1, 0.1), (1.2, 0.8, 0.3), (2.2, 0.55, 0.7), (3.35, -0.2, 0.35), (4.3, 0.0, 0.0), (6.25, 0.1, 0.6)),
    speed=0.4,
    distance=0.8,
)
"""Raises the front tracks onto the first steps, then stretches out along the stairs."""
