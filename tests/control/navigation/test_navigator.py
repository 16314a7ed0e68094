"""The navigator: modes, waypoints, exploring and mistakes, with a robot that moves as commanded."""

import math

import numpy as np
import pytest

from sandlot.control.navigation.driving import STOP, Mobility, arc
from sandlot.control.navigation.exploring import Explorer, find_frontiers, frontier_cells, looked_at
from sandlot.control.navigation.local import Local
from sandlot.control.navigation.navigator import SURE, Navigator
from sandlot.control.navigation.planning import EXPLORED
from sandlot.control.navigation.weights import weigh
from sandlot.errors import SettingError
from sandlot.geometry.planar import compose
from sandlot.mapping.grids.geometry import FREE, UNKNOWN, WALL, Grid
from sandlot.mapping.grids.occupancy import OccupancyGrid
from sandlot.mapping.grids.reputation import ReputationMap
from sandlot.mapping.trajectories import Trajectory
from sandlot.places.plans import make_plan
from sandlot.recordings.scans import Pose, Scan
from sandlot.sensing.laser import Laser

pytest.importorskip("cv2")
pytest.importorskip("sklearn")
LASER = Laser(beams=240, field_of_view=2.0 * math.pi, noise=0.003, missing=0.0)
GRID = Grid((-1.0, -1.0), 0.05, (120, 160))
MOBILITY = Mobility(radius=0.17, interval=0.25)


def box(left, low, right, high):
    return [(left, low, right, low), (right, low, right, high), (right, high, left, high), (left, high, left, low)]


TWO_ROOMS = [*box(0, 0, 6, 4), (3, 0, 3, 1.5), (3, 2.4, 3, 4)]
"""With a door of 0.9 m."""


class Drive:
    """A robot without slip in a plan."""

    def __init__(self, walls, pose, cells=None, mode="semi-autonomous", mobility=MOBILITY):
        self.plan, self.pose, self.time = make_plan(walls), np.array(pose, float), 0.0
        self.navigator = Navigator(cells or OccupancyGrid(GRID), mobility, mode)
        self.rng, self.commands, self.least, self.speed = np.random.default_rng(0), [], math.inf, 0.0

    def scan(self):
        self.time += MOBILITY.interval
        ranges = LASER.scan(self.plan, [self.pose], self.rng)[0].astype(np.float32)
        return Scan(self.time, ranges, LASER.bearings, speed=self.speed)

    def step(self):
        command = self.navigator.step(self.scan(), Pose(*self.pose))
        moved = arc(command.speed * MOBILITY.interval, command.turn_rate * MOBILITY.interval)
        self.pose, self.speed = compose(self.pose, moved), command.speed
        self.least = min(self.least, float(self.plan.clearance(self.pose[:2])))
        self.commands.append(command)
        return command

    def run(self, steps):
        for _ in range(steps):
            self.step()
            if self.navigator.state != "driving":
                break
        return self.navigator


@pytest.mark.parametrize("kind", [OccupancyGrid, ReputationMap])
def test_it_drives_to_a_waypoint_in_an_unknown_room(kind):
    drive = Drive(TWO_ROOMS, (1.0, 3.0, 3.0), kind(GRID))
    drive.navigator.go_to(5.0, 3.2)
    navigator = drive.run(400)
    assert navigator.state == "arrived", navigator.report
    assert navigator.report == "arrived at (5, 3.2)"
    assert np.hypot(*(drive.pose[:2] - (5.0, 3.2))) < 0.1
    assert drive.least > MOBILITY.radius
    assert drive.commands[-1] == STOP
    navigator.go_to(1.0, 1.0)  # the map is kept, and the way back known
    assert drive.run(400).state == "arrived"


def test_it_plans_anew_when_a_wall_appears():
    drive = Drive([*TWO_ROOMS, (4.2, 1.0, 4.2, 4.0)], (1.0, 2.0, 0.0))
    drive.navigator.go_to(5.2, 2.0)
    drive.step()
    first = drive.navigator.path.copy()
    assert drive.run(400).state == "arrived", drive.navigator.report
    assert len(first) == 0 or first[:, 1].min() > 1.0
    assert drive.navigator.planner.detours >= 1
    assert drive.least > MOBILITY.radius


@pytest.mark.parametrize("kind", [OccupancyGrid, ReputationMap])
def test_it_explores_until_nothing_is_unknown(kind):
    drive = Drive(TWO_ROOMS, (1.0, 1.0, 0.0), kind(GRID), "autonomous")
    navigator = drive.run(600)
    assert navigator.state == "explored", navigator.report
    assert navigator.report == EXPLORED
    rows, columns = GRID.cells([(0.15, 0.15), (5.85, 3.85)])
    inside = navigator.cells.kinds[rows[0] : columns[0], rows[1] : columns[1]]
    assert (inside == UNKNOWN).mean() < 0.01
    assert drive.least > MOBILITY.radius
    assert drive.step() == STOP


def test_a_person_in_the_door_is_waited_for():
    drive = Drive(TWO_ROOMS, (1.5, 1.95, 0.0))
    for _ in range(6):
        drive.step()  # it knows the room
    drive.navigator.go_to(5.0, 1.95)
    drive.plan = make_plan(TWO_ROOMS, [(2.6, 1.95, 0.25)])
    for _ in range(12):
        drive.step()
    assert drive.pose[0] < 2.6 - 0.25 - MOBILITY.radius
    drive.plan = make_plan(TWO_ROOMS)
    assert drive.run(400).state == "arrived", drive.navigator.report
    assert drive.least > MOBILITY.radius


def test_halt_stops_at_any_moment_and_a_new_waypoint_goes_on():
    drive = Drive(TWO_ROOMS, (1.0, 2.0, 0.0))
    drive.navigator.go_to(5.0, 2.0)
    while drive.step().speed == 0.0:
        pass
    drive.navigator.halt()
    assert [drive.step() for _ in range(3)] == [STOP] * 3
    assert drive.navigator.report == "halted"
    drive.navigator.go_to(2.0, 3.0)
    assert drive.run(200).state == "arrived"


def test_manual_drives_take_two_seconds_at_most_and_do_not_map():
    drive = Drive(TWO_ROOMS, (1.0, 2.0, 0.0), mode="manual")
    drive.step()
    drive.navigator.drive(0.2, 0.5, 2.0)
    commands = [drive.step() for _ in range(12)]
    assert commands[:7] == [(0.2, 0.5)] * 7
    assert commands[8:] == [STOP] * 4
    assert (drive.navigator.cells.kinds == UNKNOWN).all()
    drive.navigator.drive(9.0, -9.0, 0.5)
    assert drive.step() == (MOBILITY.top_speed, -MOBILITY.top_turn)
    drive.navigator.halt()
    assert drive.step() == STOP
    for bad in [(0.1, 0.0, 2.5), (math.nan, 0.0, 1.0), (0.1, 0.0, 0.0)]:
        with pytest.raises(SettingError, match="at most 2 s"):
            drive.navigator.drive(*bad)


def test_a_manual_drive_may_be_the_first_order():
    drive = Drive(TWO_ROOMS, (1.0, 2.0, 0.0), mode="manual")
    drive.navigator.drive(0.2, 0.0, 1.0)
    assert drive.step() == (0.2, 0.0)


def test_orders_belong_to_modes():
    navigator = Drive(TWO_ROOMS, (1.0, 2.0, 0.0)).navigator
    with pytest.raises(SettingError, match="manual mode; the mode is semi-autonomous"):
        navigator.drive(0.1, 0.0, 1.0)
    navigator.set_mode("manual")
    with pytest.raises(SettingError, match="semi-autonomous mode; the mode is manual"):
        navigator.go_to(1.0, 1.0)
    navigator.set_mode("autonomous")
    assert navigator.state == "driving"


@pytest.mark.parametrize(
    ("waypoint", "said"),
    [
        ((3.0, 0.7), "inside a wall"),
        ((2.9, 0.7), "nearer to a wall than the radius"),
        ((5.5, 0.5), "no way to the waypoint"),
    ],
)
def test_impossible_waypoints_are_reported_and_the_robot_stops(waypoint, said):
    """Of a map that is known: a wall closes the second room."""
    drive = Drive([*TWO_ROOMS, (3, 1.5, 3, 2.4)], (1.5, 1.0, 0.0))
    known, cells = np.full(GRID.shape, FREE, np.uint8), OccupancyGrid(GRID)
    for wall in drive.plan.segments:
        along = np.linspace(wall[:2], wall[2:], 400)
        known[tuple(GRID.cells(along).T)] = WALL
    drive.navigator = Navigator(cells.known(GRID, known), MOBILITY)
    drive.navigator.go_to(*waypoint)
    navigator = drive.run(SURE + 2)
    assert navigator.state == "stopped"
    assert said in navigator.report
    assert drive.step() == STOP


def test_waypoints_outside_and_maps_too_coarse_are_refused():
    navigator = Drive(TWO_ROOMS, (1.0, 2.0, 0.0)).navigator
    for bad in [(100.0, 0.0), (math.nan, 0.0)]:
        with pytest.raises(SettingError, match="outside of the map"):
            navigator.go_to(*bad)
    with pytest.raises(SettingError, match=r"cells of 0.2 m; a robot of radius 0.17 m needs cells of at most 0.085 m"):
        Navigator(OccupancyGrid(Grid((0, 0), 0.2, (10, 10))), MOBILITY)


def test_bad_scans_stop_the_robot_until_a_good_one_comes():
    drive = Drive(TWO_ROOMS, (1.0, 2.0, 0.0))
    drive.navigator.go_to(5.0, 2.0)
    while drive.step().speed == 0.0:
        pass
    good, pose = drive.scan(), Pose(*drive.pose)
    blind = Scan(drive.time, np.full(240, np.nan, np.float32), LASER.bearings)
    late = Scan(drive.time - 10.0, good.ranges, LASER.bearings)
    for scan, where, said in [
        (blind, pose, "no returns"),
        (late, pose, "time went backwards"),
        (good, Pose(math.nan, 0.0, 0.0), "pose is unknown"),
        (good, Pose(50.0, 0.0, 0.0), "outside of the map"),
    ]:
        assert drive.navigator.step(scan, where) == STOP
        assert said in drive.navigator.report
    assert drive.navigator.step(good, pose).speed > 0.0


def test_a_robot_in_a_cage_gives_up():
    cage = box(0.7, 1.7, 1.3, 2.3)
    drive = Drive(cage, (1.0, 2.0, 0.0))
    drive.navigator.go_to(1.0, 3.0)
    navigator = drive.run(80)
    assert navigator.state == "stopped"
    assert navigator.report == "there is no way to the waypoint (1, 3)"


def test_frontiers_are_borders_to_the_unknown_that_can_be_looked_at():
    kinds = np.full((60, 60), UNKNOWN, np.uint8)
    kinds[10:40, 10:50] = FREE
    kinds[10, 10:50] = kinds[39, 10:50] = kinds[10:40, 10] = WALL  # open at the right
    kinds[20, 20] = UNKNOWN  # noise
    borders = frontier_cells(kinds)
    assert borders[11:39, 49].all()
    assert borders.sum() == 28
    nothing, weights = np.zeros(kinds.shape, np.bool_), weigh(kinds, 0.05, 0.17, through_unknown=False)
    (found,) = find_frontiers(kinds, 0.05, (25, 15), weights, nothing)
    assert len(found.cells) == 28
    assert found.views[:, 1].min() >= 44
    assert not find_frontiers(kinds, 0.05, (25, 15), weights, borders)
    assert len(looked_at(kinds, 0.05, (25, 15))) == 0  # too far
    assert len(looked_at(kinds, 0.05, (25, 45))) == 28
    kinds[11:39, 47] = WALL
    assert not find_frontiers(kinds, 0.05, (25, 15), weigh(kinds, 0.05, 0.17, through_unknown=False), nothing)


def test_a_rebuilt_map_is_where_the_corrected_poses_say():
    drive = Drive(TWO_ROOMS, (1.0, 2.0, 0.0))
    for _ in range(8):
        drive.step()
    before = drive.navigator.cells.kinds.copy()
    times = np.arange(1, 9) * MOBILITY.interval
    drive.navigator.rebuild(Trajectory(times, np.tile(np.add(drive.pose, (0.5, 0.0, 0.0)), (8, 1))))
    after = drive.navigator.cells.kinds
    assert (after[:, 10:] == before[:, :-10]).mean() > 0.98
    assert (after == before).mean() < 0.98


def test_a_frontier_that_comes_and_goes_is_given_up():
    kinds = np.full(GRID.shape, WALL, np.uint8)
    kinds[20:60, 20:100] = FREE
    kinds[30:50, 100:110] = kinds[30:50, 10:20] = UNKNOWN
    far, near = kinds.copy(), kinds.copy()
    far[:, 20] = near[:, 99] = WALL  # by turns, noise hides one of the two frontiers
    place, explorer, seen = np.array([2.0, 1.0]), Explorer(GRID.shape), []
    for k in range(12):
        now = far if k % 2 == 0 else near
        weights = weigh(now, 0.05, MOBILITY.radius, through_unknown=False)
        seen.append(explorer.next_view(Local(now, weights, np.zeros(2, np.int64), GRID), place))
    assert seen[0] is not None
    assert seen[10] is None
