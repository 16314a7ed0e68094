"""Puts a rover together for ``rover serve``: simulated, or from its wiring and its lidar."""

from collections.abc import Sequence
from pathlib import Path

from sandlot.robots.driver import Driver
from sandlot.robots.hardware.board import Board

TCP = "tcp://"


def simulated_rover(plan: str, seed: int, assignments: Sequence[str], emulated: bool = False) -> Driver:
    """A tracked rover in a floor plan.

    Args:
        plan: Its name or path.
        seed: Of its start, slip and noise.
        assignments: Further settings of the indoor world.
        emulated: Whether its scans come through the bytes of an emulated lidar, in real time.
    """
    from sandlot.settings import build, read_settings
    from sandlot.worlds.indoor.rover import simulate
    from sandlot.worlds.indoor.settings import IndoorSettings

    values = {"plan": plan, **read_settings(None, ["robot.kind=tracked", *assignments])}
    settings = build(IndoorSettings, values)
    if emulated:
        from sandlot.link.lidar_rover import LidarRover

        return LidarRover(settings, seed)
    return simulate(settings, seed)[0]


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
    from sandlot.sensing.rplidar.reading import LidarTurns

    wiring = read_wiring(pins)
    tcp = lidar.removeprefix(TCP) if lidar.startswith(TCP) else None
    turns = LidarTurns(lambda: open_lidar(port=None if tcp else lidar, tcp=tcp))
    guard.start([pin for track in (wiring.left, wiring.right) for pin in (track.forward, track.backward)])
    rover = HardwareRover(wiring, turns)
    return rover, rover.board
