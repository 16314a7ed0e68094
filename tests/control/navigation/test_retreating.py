"""Going back the way it came, and what a robot remembers of its scans."""

import numpy as np

from sandlot.control.navigation.memory import AGO, MOST, SAME, Memory
from sandlot.control.navigation.retreating import BACK, PATIENCE, TRIES, Retreat
from sandlot.mapping.grids.geometry import Grid
from sandlot.mapping.grids.occupancy import OccupancyGrid
from sandlot.mapping.trajectories import Trajectory
from sandlot.recordings.scans import Pose, Scan


def drive_along(retreat, seconds=5.0):
    """Along x at 0.3 m/s; returns place and time at the end."""
    time = 0.0
    while time < seconds:
        assert retreat.update(np.array([0.3 * time, 0.0]), time) is None
        time += 0.2
    return np.array([0.3 * (time - 0.2), 0.0]), time


def test_a_blocked_robot_goes_back_and_then_on():
    retreat = Retreat()
    place, time = drive_along(retreat)
    found = [retreat.update(place, time + 0.2 * k) for k in range(round(PATIENCE / 0.2) + 2)]
    assert found[0] is None
    assert found[-1] is not None
    assert BACK < place[0] - found[-1][0] < BACK + 0.15
    assert not retreat.stuck
    assert retreat.update(found[-1], time + PATIENCE + 3.0) is None, "it is there, and may go on"


def test_a_robot_that_is_blocked_again_and_again_is_stuck():
    retreat = Retreat()
    place, time = drive_along(retreat)
    backs = 0
    while not retreat.stuck:
        time += 0.2
        back = retreat.update(place, time)
        if back is not None:
            backs += 1
            retreat.update(back, time)
    assert backs == TRIES
    caged = Retreat()
    for k in range(round(PATIENCE / 0.2) + 2):
        assert caged.update(np.zeros(2), 0.2 * k) is None
    assert caged.stuck, "it has nowhere to go back to"


def scan_at(time):
    return Scan(time, np.full(8, 2.0, np.float32), np.linspace(-3.0, 3.0, 8))


def test_scans_are_kept_where_the_robot_moves_and_their_number_is_bounded():
    memory = Memory()
    for k in range(50):
        memory.add(scan_at(0.2 * k), Pose(0.0, 0.0, 0.0))
    assert len(memory) == SAME
    for k in range(2 * MOST):
        memory.add(scan_at(20.0 + 0.2 * k), Pose(0.1 * k, 0.0, 0.0))
        assert len(memory) <= MOST


def test_a_map_is_built_again_only_if_poses_have_changed():
    memory, cells = Memory(), OccupancyGrid(Grid((-4.0, -4.0), 0.05, (160, 160)))
    poses = np.array([(0.1 * k, 0.0, 0.0) for k in range(10)])
    for k, pose in enumerate(poses.tolist()):
        memory.add(scan_at(float(k)), Pose(*pose))
    times = np.arange(10.0)
    assert memory.correct(cells, Trajectory(times, np.add(poses, (0.01, 0.0, 0.0)))) is None
    before, after = memory.correct(cells, Trajectory(times, np.add(poses, (0.1, 0.0, 0.0))))
    assert np.allclose(after - before, (0.1, 0.0, 0.0))
    assert memory.correct(cells, Trajectory(times, np.add(poses, (0.1, 0.0, 0.0)))) is None, (
        "these are the poses in use"
    )


def test_points_that_were_there_a_moment_ago_do_not_move():
    memory, pose = Memory(), Pose(1.0, 2.0, 0.5)
    for k in range(AGO + 2):
        person = np.array([[0.9 - 0.14 * k, 0.0]])  # 0.7 m/s, a scan every 0.2 s
        frame = np.array([[0.0, 0.8]])
        moving = memory.add_points(np.vstack([person, frame]), np.ones(2, np.bool_), pose)
    assert moving.tolist() == [True, False]
    assert len(memory.points(pose)) == 0, "the map knows none of them"
    memory.add_points(frame, np.zeros(1, np.bool_), pose)
    assert np.allclose(memory.points(pose), frame)
