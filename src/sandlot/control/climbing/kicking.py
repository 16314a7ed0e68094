"""The teacher of the neural controller: the reactive one, which kicks with both axles when it is stuck (section 5.2).

A kick turns both pairs of tracks down, beyond where they are, and lets go. While the robot stays stuck, each kick is
larger than the last. The source gives no sizes; here the first is 20 degrees and each further one 20 degrees more.
"""

import math
from collections.abc import Sequence

import numpy as np

from sandlot.control.climbing.memory import Recent
from sandlot.control.climbing.reactive import Reactive
from sandlot.control.climbing.reinforced import iteration
from sandlot.control.climbing.sight import split, stuck
from sandlot.control.controller import Action, Controller, Observation
from sandlot.robots.climber import AXLE_LIMIT, NOMINAL_SPEED, Climber

GROWTH = math.radians(20.0)
"""How much larger each kick is than the last [rad]."""
LARGEST = math.radians(120.0)
"""[rad]"""


class Kicking(Controller):
    """The reactive controller with kicks.

    Attributes:
        reactive: What drives between kicks.
    """

    def __init__(self, climber: Climber, rows: int = 1, speed: float = NOMINAL_SPEED) -> None:
        """As of `Reactive`."""
        self.rows, self.reactive = rows, Reactive(climber, rows, speed)
        self._recent = Recent(iteration(climber))

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes."""
        self.reactive.reset(seeds, members)
        self._recent.reset(len(seeds), members)
        if members is None:
            self._size, self._left, self._from = (
                np.zeros(len(seeds)),
                np.zeros(len(seeds), int),
                np.zeros((len(seeds), 2)),
            )
        else:
            self._size[members], self._left[members] = 0.0, 0

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """(n, 4) angles of the front and the rear axle [rad], speeds of the left and the right belts [m/s]."""
        sight = split(observations, self.rows)
        who = np.arange(len(observations)) if members is None else np.asarray(members)
        actions = self.reactive.act(observations, members)
        velocity = self._recent.mean(who, sight.velocity)
        left, length = self._left[who], self._recent.length
        halted = stuck(velocity) & (left == 0)
        # A robot that has moved for an iteration after its kick begins anew.
        size = np.where(halted, np.minimum(self._size[who] + GROWTH, LARGEST), self._size[who])
        self._size[who] = np.where((left == 0) & ~halted, 0.0, size)
        self._from[who] = np.where(halted[:, None], sight.axles, self._from[who])
        left = np.where(halted, 2 * length, left)
        kicks = left > length
        kick = self._from[who] + self._size[who, None] * (-1.0, 1.0)
        actions[:, :2] = np.where(kicks[:, None], np.clip(kick, -AXLE_LIMIT, AXLE_LIMIT), actions[:, :2])
        self._left[who] = np.maximum(left - 1, 0)
        return actions
