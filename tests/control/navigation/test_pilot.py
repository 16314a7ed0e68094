"""A simulated rover with slipping tracks that explores a room by its own estimate."""

import math
from dataclasses import replace

import numpy as np
import pytest

from sandlot.control.navigation.driving import STOP, Mobility
from sandlot.control.navigation.navigator import Navigator
from sandlot.control.navigation.pilot import BLIND, CARRIED, LOST, Pilot
from sandlot.mapping.grids.geometry import UNKNOWN, Grid
from sandlot.mapping.grids.occupancy import OccupancyGrid
from sandlot.recordings.scans import Scan
from sandlot.worlds.indoor.rover import simulate
from sandlot.worlds.indoor.settings import IndoorSettings

pytest.importorskip("cv2")
ROOM = """
[[walls]]
rectangle = [0.0, 0.0, 4.0, 3.0]
[[boxes]]
centre = [2.2, 1.6]
size = [0.4, 0.5]
"""


@pytest.fixture
def rover(tmp_path):
    path = tmp_path / "room.toml"
    path.write_text(ROOM)
    return simulate(IndoorSettings(plan=path, robot="tracked", start=(0.8, 0.8, 0.4)), 3)


def make_pilot(driver, mode):
    grid = Grid((-5.0, -5.0), 0.05, (200, 200))
    return Pilot(driver, Navigator(OccupancyGrid(grid), Mobility(interval=1.0 / 5.5), mode))


def test_it_explores_a_room_without_touching_anything(rover):
    driver, truth = rover
    pilot = make_pilot(driver, "autonomous")
    steps = list(pilot.run(120.0))
    assert pilot.navigator.state == "explored", pilot.navigator.report
    assert truth.bumps == 0
    assert steps[-1].command == STOP
    wrong = np.array(steps[-1].pose) - truth.moved
    assert math.hypot(*wrong[:2]) < 0.05
    kinds = pilot.navigator.cells.kinds
    assert (kinds != UNKNOWN).sum() * 0.05**2 == pytest.approx(12.0, rel=0.1)


class Blinded:
    """A rover whose lidar fails after some time."""

    def __init__(self, driver, seconds):
        self.driver, self.seconds, self.last = driver, seconds, 0.0

    def __getattr__(self, name):
        return getattr(self.driver, name)

    def drive(self, left, right, seconds):
        sensed = self.driver.drive(left, right, seconds)
        self.last = sensed.time
        return sensed if sensed.time < self.seconds else replace(sensed, scans=())


def test_it_stops_if_the_lidar_fails(rover):
    driver, truth = rover
    blinded = Blinded(driver, 3.0)
    pilot = make_pilot(blinded, "autonomous")
    list(pilot.run(60.0))
    assert pilot.navigator.report == "the lidar has sent nothing for 1 s"
    assert blinded.last < 3.0 + BLIND + 0.5
    assert truth.bumps == 0


def test_it_stops_in_time_and_goes_on_later(rover):
    driver, truth = rover
    pilot = make_pilot(driver, "semi-autonomous")
    pilot.navigator.go_to(2.0, 1.0)
    assert len(list(pilot.run(2.0))) <= 13
    assert pilot.navigator.state == "driving"
    list(pilot.run(60.0))
    assert pilot.navigator.state == "arrived", pilot.navigator.report
    assert math.dist(truth.moved[:2], (2.0, 1.0)) < 0.15


def test_it_halts_if_the_caller_takes_no_more_steps(rover):
    driver, truth = rover
    steps = make_pilot(driver, "autonomous").run(60.0)
    for step in steps:
        if step.command.speed > 0.1:
            break
    next(steps)
    steps.close()
    place = truth.moved
    driver.scan()
    assert np.array_equal(truth.moved, place)


def test_a_lost_rover_stops(rover):
    driver, _ = rover
    pilot = make_pilot(driver, "autonomous")
    good = driver.scan().scans[0]
    pilot.take(good)
    for k in range(LOST):
        blind = Scan(good.time + 0.2 * (k + 1), np.full_like(good.ranges, np.nan), good.bearings, ages=good.ages)
        assert pilot.take(blind).command == STOP
    assert pilot.navigator.state == "stopped"
    assert "returned" in pilot.navigator.report


TWO_ROOMS = """
[[walls]]
rectangle = [0.0, 0.0, 9.0, 4.0]
[[walls]]
points = [[4.5, 0], [4.5, 2.6]]
thickness = 0.1
[[walls]]
points = [[4.5, 3.6], [4.5, 4]]
thickness = 0.1
[[boxes]]
centre = [2.2, 1.6]
size = [0.4, 0.5]
[[boxes]]
centre = [1.0, 3.3]
size = [0.9, 0.5]
angle = 0.5
[[boxes]]
centre = [3.6, 0.6]
size = [0.7, 0.4]
[[circles]]
centre = [7.0, 2.0]
radius = 0.5
[[boxes]]
centre = [8.4, 3.2]
size = [0.5, 1.2]
"""


def test_a_rover_that_is_carried_to_another_room_stays_there_and_says_so(tmp_path):
    path = tmp_path / "rooms.toml"
    path.write_text(TWO_ROOMS)
    driver, truth = simulate(IndoorSettings(plan=path, robot="tracked", start=(0.8, 0.8, 0.4)), 3)
    pilot = make_pilot(driver, "autonomous")
    for step in pilot.run(60.0):
        if step.time > 8.0:
            break
    assert pilot.mapper.restarts == 0
    state = driver._state
    state.x[0], state.y[0], state.yaw[0] = 6.0, 3.3, 2.5
    driver._trace = [np.array([6.0, 3.3, 2.5])]
    steps = list(pilot.run(30.0))
    assert pilot.mapper.restarts > 0
    # It may use the scans that are refused to find out, but it does not drive by poses of the new part of the map.
    assert all(step.command == STOP for step in steps)
    assert math.dist(truth.pose[:2], (6.0, 3.3)) < 0.02
    assert pilot.navigator.state == "stopped"
    assert pilot.navigator.report == CARRIED
