"""What controllers of the climbing robot remember of each member: commands to repeat later, and recent velocities."""

from collections.abc import Sequence

import numpy as np

from sandlot.typing import Array, IntArray


class Delay:
    """A table of commands, each of which is repeated after so many others (section 5.1)."""

    def __init__(self, length: int) -> None:
        """Repeat after ``length`` commands, at least 1."""
        self.length = length
        self.reset(0)

    def reset(self, count: int, members: Sequence[int] | None = None) -> None:
        """Fill the table of so many members, or of some ``members`` only, with zeros."""
        if members is None:
            self._table, self._next = np.zeros((count, self.length)), np.zeros(count, np.int64)
        else:
            self._table[members], self._next[members] = 0.0, 0

    def oldest(self, who: IntArray) -> Array:
        """What is due now: (n,)."""
        return self._table[who, self._next[who]]

    def replace(self, who: IntArray, commands: Array) -> None:
        """Put commands (n,) in place of what was due."""
        self._table[who, self._next[who]] = commands
        self._next[who] = (self._next[who] + 1) % self.length


class Recent:
    """Velocities of the last few commands."""

    def __init__(self, length: int) -> None:
        """Of the last ``length`` commands."""
        self.length = length
        self.reset(0)

    def reset(self, count: int, members: Sequence[int] | None = None) -> None:
        """Forget those of so many members, or of some ``members`` only."""
        if members is None:
            self._past = np.full((count, self.length, 3), np.nan)
        else:
            self._past[members] = np.nan

    def mean(self, who: IntArray, velocity: Array) -> Array:
        """Means (n, 3) with new velocities (n, 3) [m/s]; NaN until there are enough."""
        self._past[who] = np.concatenate([self._past[who, 1:], velocity[:, None]], axis=1)
        return np.asarray(self._past[who].mean(axis=1))
