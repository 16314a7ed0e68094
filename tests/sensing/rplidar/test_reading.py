"""Turns of a lidar that a thread of its own reads."""

import threading

import numpy as np

from sandlot.errors import DeviceError
from sandlot.recordings.scans import Scan
from sandlot.sensing.rplidar.reading import BEAMS, LidarTurns


class FakeLidar:
    """Makes three turns, and then waits for ever, as a device without power."""

    def __init__(self):
        self.started = False

    def start(self):
        self.started = True

    def turns(self):
        for k in range(3):
            yield type("Turn", (), {"even_scan": lambda self, beams, k=k: scan(k, beams)})()
        threading.Event().wait()


def scan(k, beams):
    return Scan(float(k), np.full(beams, 1.0, np.float32), np.linspace(-3.0, 3.0, beams))


def test_turns_are_taken_once_and_in_order():
    lidar, taken = FakeLidar(), []
    turns = LidarTurns(lambda: lidar)
    assert lidar.started
    while len(taken) < 3:
        taken += turns.take()
    assert [each.time for each in taken] == [0.0, 1.0, 2.0]
    assert {len(each.ranges) for each in taken} == {BEAMS}
    assert list(turns.take()) == []


class CutLidar(FakeLidar):
    """Loses its power after a turn."""

    closed = False

    def turns(self):
        yield type("Turn", (), {"even_scan": lambda self, beams: scan(0, beams)})()
        raise DeviceError("no answer")

    def close(self):
        self.closed = True


def test_a_lidar_is_opened_again_after_its_power_was_off(monkeypatch):
    monkeypatch.setattr("sandlot.sensing.rplidar.reading.AGAIN", 0.01)
    opened, taken = [], []

    def open_lidar():
        if len(opened) == 1:
            opened.append(None)
            raise DeviceError("it is still off")
        opened.append(CutLidar())
        return opened[-1]

    turns = LidarTurns(open_lidar)
    while len(taken) < 3:
        taken += turns.take()
    turns.close()
    assert len(opened) >= 4
    assert all(lidar.closed for lidar in opened if lidar is not None)
