"""Yaw by an inertial unit in a bag: read, interpolated, and used by the mapper."""

import math

import numpy as np
import pytest

from sandlot.geometry.planar import wrap
from sandlot.mapping.mapper import Mapper
from sandlot.recordings.logs import read_scans
from scan_drives import LASER, cluttered_room, errors, scans_along

pytest.importorskip("rosbags")
from bag_files import write


def turning(robot, oriented=True, roll=0.0, until=0.6, topics=("/imu",)):
    """Scans at 10 Hz, and an inertial unit at 100 Hz from 0.1 s on."""
    yield 0.0, "/tf_static", robot.transform(0.0, "base_link", "imu_link", roll=roll)
    for tick in range(80):
        time = 0.01 * tick
        for topic in topics:
            if 0.1 <= time <= until:
                yield time, topic, robot.inertial(time + 0.003, oriented, roll)
        if tick % 10 == 0:
            yield time, "/scan", robot.scan(time)


@pytest.mark.parametrize("kind", ["ros1", "mcap"])
@pytest.mark.parametrize("oriented", [True, False])
@pytest.mark.parametrize("roll", [0.0, math.pi])
def test_yaws_are_those_of_the_moment_of_the_scan(tmp_path, kind, oriented, roll):
    log = read_scans(write(tmp_path, kind, lambda robot: turning(robot, oriented, roll)))
    yaws = np.array([scan.inertial_yaw for scan in log.scans])
    np.testing.assert_array_equal(np.isfinite(yaws), [False, False, True, True, True, True, True, False])
    np.testing.assert_allclose(wrap(np.diff(yaws[2:7])), 0.05, atol=1e-6)
    assert "turns are also measured by the inertial unit on /imu" in log.notes


def test_a_message_without_orientation_is_skipped_and_a_second_unit_left_out(tmp_path):
    def drive(robot):
        yield from turning(robot, topics=("/imu", "/imu_2"))
        zero = robot.make("geometry_msgs/msg/Quaternion", x=0.0, y=0.0, z=0.0, w=0.0)
        yield 0.9, "/imu", robot.inertial(0.9, orientation=zero)

    log = read_scans(write(tmp_path, "mcap", drive))
    assert "other inertial units left out: /imu_2" in log.notes
    assert "1 Imu messages skipped, whose orientation or turn rate is not finite" in log.notes


def test_a_bag_with_scans_and_an_inertial_unit_becomes_a_map(tmp_path):
    """The robot turns by 34 degrees from scan to scan, without odometry."""
    poses = np.linspace((0.0, 0.0, 0.0), (0.5, 0.2, 12.0), 21)
    scans = scans_along(cluttered_room(2), poses, odometry=False)

    def drive(robot):
        for scan, pose in zip(scans, poses, strict=True):
            for moment in (-0.02, 0.02):
                yaw = float(pose[2]) + moment * 3.0 + 0.5
                yield scan.time + moment, "/imu", robot.inertial(scan.time + moment, orientation=robot.turned(yaw))
            layout = {"first": float(LASER.bearings[0]), "angle_increment": float(np.diff(LASER.bearings[:2])[0])}
            yield scan.time, "/scan", robot.scan(scan.time, ranges=scan.ranges, **layout)

    log, mapper = read_scans(write(tmp_path, "mcap", drive)), Mapper()
    for scan in log.scans:
        mapper.add(scan)
    distances, turns = errors(mapper.trajectory().poses, poses)
    assert all(math.isfinite(scan.inertial_yaw) for scan in log.scans)
    assert not mapper.refused
    assert distances.max() < 0.05
    assert turns.max() < 0.02
