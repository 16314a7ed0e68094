"""Puts a rover together for ``rover serve``: simulated, or from its wiring and its lidar."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sandlot.errors import SandlotError
from sandlot.recordings.scans import Scan
from sandlot.robots.driver import Driver
from sandlot.robots.hardware.board import Board

TCP = "tcp://"
BEAMS = 720
"""Of a turn of the lidar; maneuvers compare turns beam by beam."""
AGAIN, CLOSING = 1.0, 3.0
"""Between attempts to open a lidar again, and to wait for its end [s]."""
KEPT = 64
"""Turns of the lidar that wait for the rover."""


def simulated_rover(plan: str, seed: int, assignments: Sequence[str]) -> Driver:
    """A tracked rover in a floor plan.

    Args:
        plan: Its name or path.
        seed: Of its start, slip and noise.
        assignments: Further settings of the indoor world.
    """
    from sandlot.settings import build, read_settings
    from sandlot.worlds.indoor.rover import simulate
    from sandlot.worlds.indoor.settings import IndoorSettings

    values = {"plan": plan, **read_settings(None, ["robot.kind=tracked", *assignments])}
    return simulate(build(IndoorSettings, values), seed)[0]


def real_rover(pins: Path, lidar: str) -> tuple[Driver, Board]:
    """The rover of a wiring.

    Args:
        pins: File of the wiring.
        lidar: Serial port of the lidar, or tcp://HOST:PORT.
    """
    from sandlot.robots.hardware import guard
    from sandlot.robots.hardware.rover import HardwareRover
    from sandlot.robots.hardware.wiring import read_wiring
    from sandlot.sensing.rplidar.driver import open_lidar

    wiring = read_wiring(pins)
    tcp = lidar.removeprefix(TCP) if lidar.startswith(TCP) else None
    turns = LidarTurns(lambda: open_lidar(port=None if tcp else lidar, tcp=tcp))
    guard.start([pin for track in (wiring.left, wiring.right) for pin in (track.forward, track.backward)])
    rover = HardwareRover(wiring, turns)
    return rover, rover.board


class LidarTurns:
    """Reads the turns of a lidar in a thread of its own, and opens it again after its power was off."""

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
                    lidar.start()
                    break
                except (SandlotError, OSError):
                    continue
