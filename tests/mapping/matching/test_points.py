"""Points of scans, corrected for motion during the scan."""

import math

import numpy as np
import pytest

from sandlot.geometry.planar import compose
from sandlot.mapping.matching.points import fill, sample, scan_points, thin
from sandlot.recordings.scans import Scan
from scan_drives import LASER, cluttered_room


def moved(velocity, seconds):
    """Pose after so long at a velocity, by small steps; a step turns by the middle yaw."""
    pose = np.zeros(3)
    for _ in range(50):
        pose = compose(pose, np.array(velocity) * seconds / 50)
    return pose


@pytest.mark.parametrize("velocity", [(0.5, 0.0, 0.0), (0.0, 0.0, 1.5), (0.4, 0.1, -1.0)])
def test_a_skewed_scan_is_straightened(velocity):
    plan, exact = cluttered_room(2), LASER.exact().model_copy(update={"beams": 60})
    ages = np.linspace(0.18, 0.0, exact.beams)
    poses = np.array([moved(velocity, -age) for age in ages])
    skewed = np.array([exact.cast(plan, pose).ranges[0, k] for k, pose in enumerate(poses)], np.float32)
    scan = Scan(0.0, skewed, exact.bearings, ages=ages)
    # Points that were measured from where each beam began, in the frame at the end.
    ends = np.column_stack([skewed * np.cos(exact.bearings), skewed * np.sin(exact.bearings), np.zeros(len(ages))])
    truth = compose(poses, ends)[:, :2]
    np.testing.assert_allclose(scan_points(scan, velocity=velocity), truth, atol=5e-3)
    assert np.abs(scan_points(scan) - truth).max() > 0.05  # without the correction


def test_beams_without_return_and_long_ones_are_left_out():
    scan = Scan(0.0, np.array([1.0, np.nan, 9.0], np.float32), np.array([0.0, 0.5, math.pi / 2]))
    np.testing.assert_allclose(scan_points(scan, (0.2, 0.1), max_range=5.0), [[1.2, 0.1]])


def test_thinned_points_are_apart():
    points = np.column_stack([np.arange(0.0, 1.0, 0.01), np.zeros(100)])
    kept = thin(points, 0.045)
    assert np.diff(kept[:, 0]).min() > 0.045
    assert len(kept) == 20


def test_one_point_of_each_square_stays():
    points = np.random.default_rng(0).uniform(0.0, 1.0, (500, 2))
    kept = sample(points, 0.25)
    assert len(kept) == 16
    assert len({tuple(cell) for cell in np.floor(kept / 0.25).tolist()}) == 16


def test_walls_seen_by_few_beams_are_filled_and_gaps_stay():
    wall = np.column_stack([np.arange(6) * 0.5, np.zeros(6)])
    filled = fill(wall)
    inner = filled[(filled[:, 0] >= 0.5) & (filled[:, 0] <= 2.0)]  # ends have no neighbours on both sides
    assert np.diff(inner[:, 0]).max() <= 0.05 + 1e-9
    assert (filled[:, 1] == 0.0).all()
    stairs = np.column_stack([np.arange(6) * 0.5, np.arange(6) % 2 * 0.4])
    np.testing.assert_array_equal(fill(stairs), stairs)
    apart = np.column_stack([np.arange(6) * 2.0, np.zeros(6)])
    assert len(fill(apart)) == 0
