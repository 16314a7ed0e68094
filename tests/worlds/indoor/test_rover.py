"""A simulated rover takes orders as a real one does, and its truth is kept apart."""

import math

import numpy as np
import pytest

from sandlot.errors import SandlotError
from sandlot.geometry.planar import compose
from sandlot.sensing.spinning_lidar import along
from sandlot.worlds.indoor.rover import simulate
from sandlot.worlds.indoor.settings import IndoorSettings

EXACT = {"beams": 90, **dict.fromkeys(("noise", "noise_growth", "missing", "specular", "mixed"), 0.0)}
START = {"plan": "apartment", "start": (2.5, 2.5, 0.4)}
SURE = {"kind": "tracked", "slip": 0.0, "coasting_deviation": 0.0}


def make(seed=0, **given):
    return simulate(IndoorSettings(**{"robot": "tracked", "lidar": {"beams": 90}, **START, **given}), seed)


def test_orders_last_as_long_as_they_say_and_the_lidar_goes_on_turning():
    rover, _ = make()
    first = rover.drive(0.2, 0.2, 1.0)
    second = rover.drive(0.2, 0.1, 0.1)
    third = rover.drive(-0.2, 0.2, 1.0)
    assert first.time == pytest.approx(1.0, abs=rover.chassis.tick)
    times = [scan.time for sensed in (first, second, third) for scan in sensed.scans]
    np.testing.assert_allclose(times, np.arange(1, len(times) + 1) / 5.5)
    assert third.time - times[-1] < 1.0 / 5.5
    assert rover.halt().time > third.time


def test_halting_takes_the_way_that_it_coasts():
    rover, truth = make(robot=SURE)
    rover.drive(0.3, 0.3, 2.0)
    before = truth.moved[0]
    counts = rover.halt().counts
    assert truth.moved[0] - before == pytest.approx(0.045, rel=0.15)
    assert rover.halt().counts == counts
    assert rover.drive(0.0, 0.0, 1.0).counts == counts


def test_odometry_begins_at_zero_and_without_slip_agrees_with_the_truth():
    rover, truth = make(robot=SURE, encoders={"missed": 0.0})
    rover.drive(0.2, 0.3, 3.0)
    sensed = rover.halt()
    assert sensed.odometry == pytest.approx(truth.moved, abs=0.01)
    np.testing.assert_allclose(compose(truth.start, truth.moved), truth.pose)
    slipping, truth = make(3)
    slipping.drive(0.3, 0.3, 5.0)
    assert math.dist(slipping.halt().odometry[:2], truth.moved[:2]) > 0.03


def test_scans_at_rest_are_whole_turns_at_the_true_pose():
    rover, truth = make(lidar=EXACT)
    rover.drive(0.3, 0.1, 1.23)
    scans = rover.scan(3).scans
    assert len(scans) == 3
    for scan in scans:
        np.testing.assert_array_equal(scan.ranges, scans[0].ranges)
        yaws = truth.pose[2] + scan.bearings
        ends = truth.pose[:2] + scan.ranges[:, None] * np.column_stack([np.cos(yaws), np.sin(yaws)])
        assert np.nanmax(truth.plan.clearance(ends)) < 1e-5
        assert scan.odometry == scans[0].odometry


def test_the_ages_of_beams_undo_the_skew():
    rover, truth = make(lidar={**EXACT, "beams": 711}, robot=SURE)
    rover.drive(-0.2, 0.3, 1.0 - 1.0 / 5.5 * 0.5)  # not a whole number of turns
    rest = round((-rover.drive(-0.2, 0.3, rover.chassis.tick).time * 5.5 % 1.0) / 5.5 / rover.chassis.tick)
    if rest:
        rover.drive(-0.2, 0.3, rest * rover.chassis.tick)
    poses = [truth.pose]
    for _ in range(10):
        sensed = rover.drive(-0.2, 0.3, rover.chassis.tick)
        poses.append(truth.pose)
    (scan,) = sensed.scans
    at = along(np.array(poses), 1.0 - scan.ages * 5.5)
    yaws = at[:, 2] + scan.bearings
    ends = at[:, :2] + scan.ranges[:, None] * np.column_stack([np.cos(yaws), np.sin(yaws)])
    assert np.nanmax(truth.plan.clearance(ends)) < 0.01


def test_the_same_seed_gives_the_same_drive_and_people_walk():
    runs = []
    for seed in (4, 4, 5):
        rover, truth = make(seed, people=2)
        scan = rover.drive(0.3, 0.2, 2.0).scans[-1]
        runs.append((truth.pose.tolist(), scan.ranges.tolist()))
    assert str(runs[0]) == str(runs[1]) != str(runs[2])
    still, _ = make(4, people=5, lidar=EXACT, plan="arena")
    first, *_, last = still.scan(20).scans
    assert np.nanmax(np.abs(first.ranges - last.ranges)) > 0.1


def test_bumps_are_counted_only_in_the_truth():
    rover, truth = make(start=(0.5, 4.8, math.pi))
    rover.drive(0.3, 0.3, 5.0)
    assert truth.bumps > 3
    assert truth.plan.clearance(truth.pose[:2]) >= 0.17 - 1e-9


def test_impossible_orders_are_explained():
    rover, _ = make()
    with pytest.raises(SandlotError, match="seconds=0 is not possible; allowed: above 0"):
        rover.drive(0.1, 0.1, 0)
    with pytest.raises(SandlotError, match="finite"):
        rover.drive(math.nan, 0.1, 1.0)
    with pytest.raises(SandlotError, match="turns=0 is not possible"):
        rover.scan(0)
    with pytest.raises(SandlotError, match=r"robot\.kind=round has none; set robot\.kind=tracked"):
        simulate(IndoorSettings())
