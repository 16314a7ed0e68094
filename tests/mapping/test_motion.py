"""Predicted motions: velocities for any rate of scans, after gaps, and where time does not advance."""

from dataclasses import replace

import numpy as np
import pytest

from sandlot.mapping.motion import Motion
from sandlot.recordings.scans import UNKNOWN_POSE, Pose, Scan


def scan(time, x=None):
    return Scan(
        time, np.ones(4, np.float32), np.zeros(4), UNKNOWN_POSE, UNKNOWN_POSE if x is None else Pose(x, 0.0, 0.0)
    )


def drive(motion, times, speed=0.5, odometry=True):
    """Drive straight ahead; returns the last prediction."""
    before, moved = times[0], None
    for time in times:
        each = scan(time, speed * time if odometry else None)
        moved = motion.predict(each)
        motion.update(each, np.nan, np.array([speed * (time - before), 0.0, 0.0]))
        before = time
    return moved


@pytest.mark.parametrize("odometry", [True, False])
@pytest.mark.parametrize("interval", [0.01, 0.025, 0.2, 1.0, 5.0])
def test_the_velocity_is_right_at_any_rate_of_scans(interval, odometry):
    moved = drive(Motion(), interval * np.arange(12.0), odometry=odometry)
    assert moved.velocity[0] == pytest.approx(0.5)
    assert moved.pose[0] == pytest.approx(0.5 * interval)
    assert moved.measured == odometry


@pytest.mark.parametrize("odometry", [True, False])
def test_the_velocity_is_right_after_a_gap(odometry):
    gap = np.array([0.0, 0.2, 0.4, 8.4, 8.6, 8.8])
    for count in (4, 5, 6):
        assert drive(Motion(), gap[:count], odometry=odometry).velocity[0] == pytest.approx(0.5)


def test_where_time_does_not_advance_the_usual_interval_counts():
    motion = Motion()
    drive(motion, 0.2 * np.arange(5.0))
    moved = motion.predict(scan(0.8, 0.5))
    assert moved.velocity[0] == pytest.approx(0.5)
    assert drive(Motion(), np.zeros(3)).velocity.tolist() == [0.0, 0.0, 0.0]


def test_the_turn_rate_is_that_of_an_inertial_unit():
    motion = Motion()
    for k in range(3):
        moved = motion.predict(scan(0.025 * k), 0.1 * k)
        motion.update(scan(0.025 * k), 0.1 * k, np.array([0.0, 0.0, 0.1 * (k > 0)]))
    assert moved.velocity[2] == pytest.approx(4.0)
    assert moved.pose[2] == pytest.approx(0.1)


def test_the_yaw_that_a_scan_has_is_used_unless_scans_alone_are_wanted():
    found = []
    for motion in (Motion(), Motion(odometry=False)):
        for k in range(3):
            each = replace(scan(0.2 * k), inertial_yaw=0.3 * k)
            moved = motion.predict(each)
            motion.update(each, np.nan, np.zeros(3))
        found.append(moved.pose[2])
    assert found == pytest.approx([0.3, 0.0])
