"""The encoder of a track (6.3): counts both edges of channel A; the level of channel B gives the direction.

Forward, A leads B: when A rises, B is low. (`sandlot.sensing.track_encoders` simulates the same.)
"""

import threading
from typing import Any


class Quadrature:
    """Counts the edges of an encoder; gpiozero calls it from threads of its own.

    Attributes:
        count: Edges forward minus edges backward.
    """

    def __init__(self, channel_a: Any, channel_b: Any) -> None:
        """Take two inputs, as ``gpiozero.DigitalInputDevice``."""
        self._a, self._b = channel_a, channel_b
        self._lock = threading.Lock()
        self.count = 0
        channel_a.when_activated = lambda: self._edge(True)
        channel_a.when_deactivated = lambda: self._edge(False)

    def close(self) -> None:
        """Free the pins."""
        for each in (self._a, self._b):
            each.close()

    def _edge(self, rising: bool) -> None:
        step = 1 if rising != bool(self._b.value) else -1
        with self._lock:
            self.count += step
