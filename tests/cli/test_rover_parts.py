"""A rover from its parts."""

import threading

import numpy as np
import pytest

from sandlot.cli.rover_parts import BEAMS, LidarTurns, simulated_rover
from sandlot.errors import SettingError
from sandlot.recordings.scans import Scan


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
    turns = LidarTurns(lidar)
    assert lidar.started
    while len(taken) < 3:
        taken += turns.take()
    assert [each.time for each in taken] == [0.0, 1.0, 2.0]
    assert {len(each.ranges) for each in taken} == {BEAMS}
    assert list(turns.take()) == []


def test_a_simulated_rover_takes_settings_of_the_indoor_world():
    rover = simulated_rover("arena", 0, ["start=[5.0,5.0,0.0]", "robot.top_speed=0.2"])
    assert rover.chassis.top_speed == 0.2
    with pytest.raises(SettingError, match="no setting"):
        simulated_rover("arena", 0, ["wings=2"])
