"""Notices that a robot is blocked, and sends it back the way it came: that way is known to be free."""

import math
from collections import deque

import numpy as np

from sandlot.typing import Array

PATIENCE, PROGRESS = 6.0, 0.1
"""A robot that has not moved by the second [m] in the first [s] is blocked."""
BACK, LONGEST = 0.4, 6.0
"""It goes back by this distance [m], for at most this time [s]."""
CLOSE = 0.08
"""It has gone back when it is this near to the place [m]."""
TRIES = 3
"""It goes back so often on the way to one goal, before it is stuck."""
TRAIL = 200
"""Places that it remembers."""


class Retreat:
    """The trail of a robot, and whether it follows it back.

    Attributes:
        stuck: Whether it is blocked, and going back does not help or is not possible.
    """

    def __init__(self) -> None:
        """Begin."""
        self._trail: deque[Array] = deque(maxlen=TRAIL)
        self.restart()

    @property
    def trail(self) -> Array:
        """Places where the robot has been lately, the latest last: (n, 2) [m]."""
        return np.array(self._trail).reshape(-1, 2)

    def restart(self) -> None:
        """Take a new goal; the trail is kept."""
        self._anchor, self._since = np.zeros(2), -math.inf
        self._back: Array | None = None
        self._end = math.inf
        self._tries, self.stuck = 0, False

    def forget(self) -> None:
        """Take a new goal, and forget the trail: poses have been corrected."""
        self._trail.clear()
        self.restart()

    def update(self, place: Array, time: float) -> Array | None:
        """Where to go back to (2,) [m]; None if the robot shall go on, or is stuck.

        Args:
            place: (2,) where the robot is [m].
            time: Now [s].
        """
        if not self._trail or math.dist(self._trail[-1], place) > 0.5 * PROGRESS:
            self._trail.append(place)
        if self._since == -math.inf or math.dist(place, self._anchor) > PROGRESS:
            self._anchor, self._since = place, time
        if self._back is not None and (math.dist(self._back, place) <= CLOSE or time > self._end):
            self._back, self._anchor, self._since = None, place, time
        if time - self._since > PATIENCE:
            before = [each for each in self._trail if math.dist(each, place) > BACK]
            self._tries += 1
            self.stuck = self._back is not None or not before or self._tries > TRIES
            self._back, self._end = (None if self.stuck else before[-1]), time + LONGEST
            self._since = time
        return self._back
