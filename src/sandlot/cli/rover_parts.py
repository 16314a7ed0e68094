"""Puts a rover together for ``rover serve``: simulated, or from its wiring and its lidar."""

import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sandlot.recordings.scans import Scan
from sandlot.robots.driver import Driver
from sandlot.robots.hardware.board import Board

TCP = "tcp://"
BEAMS = 720
"""Of a turn of the lidar; maneuvers compare turns beam by beam."""
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
    turns = LidarTurns(open_lidar(port=None if tcp else lidar, tcp=tcp))
    guard.start([pin for track in (wiring.left, wiring.right) for pin in (track.forward, track.backward)])
    rover = HardwareRover(wiring, turns)
    return rover, rover.board


class LidarTurns:
    """Reads the turns of a lidar in a thread of its own."""

    def __init__(self, lidar: Any) -> None:
        """Begin to scan with a lidar (`sandlot.sensing.rplidar.driver.Lidar`)."""
        self._turns: deque[Scan] = deque(maxlen=KEPT)
        lidar.start()
        threading.Thread(target=self._read, args=(lidar,), name="lidar", daemon=True).start()

    def take(self) -> Sequence[Scan]:
        """The turns that were completed since the last call, oldest first."""
        return [self._turns.popleft() for _ in range(len(self._turns))]

    def _read(self, lidar: Any) -> None:
        for turn in lidar.turns():
            self._turns.append(turn.even_scan(BEAMS))
