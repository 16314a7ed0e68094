"""Swimming snakes that start anew one by one, while the others go on: each has a time of its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.physics import water
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import FastSwimmers, ReferenceSwimmers

Array = NDArray[np.float64]


class RestartingFast(FastSwimmers):
    """As `FastSwimmers`; ``time`` is (count,) [s]."""

    time: Any
    _commands: Any

    def __init__(self, snake: Snake, count: int, current: Sequence[float] = (0.0, 0.0)) -> None:
        super().__init__(snake, count, current)
        self._start = self.state.copy()
        self._commands, self.time = np.zeros(count, np.int64), np.zeros(count)

    def restart(self, which: NDArray[np.int64]) -> None:
        """Put these back to where they began, straight and at rest."""
        self.state[:, which] = self._start[:, which]
        self._commands[which], self.time[which] = 0, 0.0

    @property
    def centre(self) -> Array:
        """Centre of mass: (count, 2) [m]."""
        return self.state[[water.X, water.Y]].T + self.current * self.time[:, None]

    @property
    def drive(self) -> Array:
        """Mean share of the wanted acceleration that the motors could give: (count,)."""
        return self.state[water.DRIVE] / np.maximum(self._commands, 1)


class RestartingReference(ReferenceSwimmers):
    """As `ReferenceSwimmers`, with a ball each; ``time`` is (count,) [s]."""

    time: Any
    _commands: Any

    def __init__(self, snake: Snake, count: int, current: Sequence[float] = (0.0, 0.0), **options: Any) -> None:
        """As `ReferenceSwimmers`; where the balls are is told by `restart`."""
        super().__init__(snake, count, current, np.zeros((count, 2)), **options)
        # All there is to a simulation: position, velocity, time, user data, and where its solver starts from.
        self._start = self._batch.state.copy()
        self._commands, self.time = np.zeros(count, np.int64), np.zeros(count)

    def restart(self, which: NDArray[np.int64], balls: Array) -> None:
        """Put these back to where they began; ``balls`` (which, 2) is where their balls are [m]."""
        self._batch.state[which] = self._start[which]
        self._position[which, -2:] = balls
        self._last[which], self._lost[which] = 0.0, False
        self._commands[which], self.time[which] = 0, 0.0
