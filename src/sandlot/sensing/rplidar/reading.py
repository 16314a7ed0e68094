"""Reads the turns of a lidar in a thread of its own, for a rover that does other things meanwhile."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from sandlot.errors import SandlotError
from sandlot.recordings.scans import Scan

BEAMS = 720
"""Of a turn of the lidar; maneuvers compare turns beam by beam."""
AGAIN, CLOSING = 1.0, 3.0
"""Between attempts to open a lidar again, and to wait for its end [s]."""
KEPT = 64
"""Turns of the lidar that wait for the rover."""


class LidarTurns:
    """Turns of a lidar as they come; opens it again after its power was off."""

    def __init__(self, open_lidar: Callable[[], Any]) -> None:
        """Begin to scan with the `sandlot.sensing.rplidar.driver.Lidar` that the function opens."""
        self._turns: deque[Scan] = deque(maxlen=KEPT)
        self._open, self._closed = open_lidar, threading.Event()
        lidar = open_lidar()
        lidar.start()
        self._thread = threading.Thread(target=self._read, args=(lidar,), name="lidar", daemon=True)
        self._thread.start()

    def take(self) -> Sequence[Scan]:
        """The turns that were completed since the last call, oldest first."""
        return [self._turns.popleft() for _ in range(len(self._turns))]

    def close(self) -> None:
        """Stop the lidar's motor."""
        self._closed.set()
        self._thread.join(timeout=CLOSING)

    def _read(self, lidar: Any) -> None:
        while not self._closed.is_set():
            try:
                for turn in lidar.turns():
                    self._turns.append(turn.even_scan(BEAMS))
                    if self._closed.is_set():
                        break
            except (SandlotError, OSError):
                pass  # it has lost its power or its cable; the rover notices that no scan comes
            with suppress(SandlotError, OSError):
                lidar.close()
            while not self._closed.wait(AGAIN):
                try:
                    lidar = self._open()
                except (SandlotError, OSError):
                    continue
                try:
                    lidar.start()
                    break
                except (SandlotError, OSError):
                    with suppress(SandlotError, OSError):
                        lidar.close()  # its port could not be opened again
