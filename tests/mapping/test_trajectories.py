"""Trajectories: interpolated, in TUM files, and judged by relations."""

import numpy as np
import pytest

from sandlot.geometry.planar import between, compose
from sandlot.mapping.trajectories import Trajectory, position_error, relation_errors

TIMES = np.array([0.0, 1.0, 2.0, 4.0])
POSES = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 3.0), (3.0, 1.0, -3.0)])
DRIVEN = Trajectory(TIMES, POSES)


def test_poses_between_two_scans_are_interpolated():
    x, y, yaw = DRIVEN.at(np.array([3.0]))[0]
    assert (x, y) == (2.0, 1.0)
    assert abs(yaw) == pytest.approx(np.pi)  # the short way from 3 to -3
    np.testing.assert_array_equal(DRIVEN.at(np.array([-5.0, 9.0])), POSES[[0, -1]])


def test_errors_at_relations_do_not_depend_on_where_the_map_lies():
    relations = np.array(
        [(a, b, *between(DRIVEN.at(np.array(a)), DRIVEN.at(np.array(b)))) for a, b in ((0, 1.5), (1, 4))]
    )
    relations[1, 2] += 0.1
    outside = np.array([(3.0, 5.0, 0.0, 0.0, 0.0)])
    found = relation_errors(DRIVEN, np.vstack([relations, outside]))
    np.testing.assert_allclose(found.distances, [0.0, 0.1], atol=1e-12)
    np.testing.assert_allclose(found.turns, 0.0, atol=1e-12)


def test_evo_reads_what_is_written(tmp_path):
    DRIVEN.write_tum(tmp_path / "driven.tum", start=100.0)
    rows = np.loadtxt(tmp_path / "driven.tum")
    np.testing.assert_allclose(rows[:, 0], TIMES + 100.0)
    np.testing.assert_allclose(rows[:, 1:3], POSES[:, :2])
    np.testing.assert_allclose(2.0 * np.arctan2(rows[:, 6], rows[:, 7]), POSES[:, 2])
    file_interface = pytest.importorskip("evo.tools.file_interface")
    found = file_interface.read_tum_trajectory_file(tmp_path / "driven.tum")
    np.testing.assert_allclose(found.positions_xyz[:, :2], POSES[:, :2])


def test_the_position_error_is_that_of_evo():
    rng = np.random.default_rng(0)
    poses = np.column_stack([np.cumsum(rng.normal(0.3, 0.2, (50, 2)), axis=0), rng.uniform(-3.0, 3.0, 50)])
    moved = compose(np.array([3.0, -2.0, 2.1]), poses)
    assert position_error(moved, poses) == pytest.approx(0.0, abs=1e-9)
    noisy = moved + rng.normal(0.0, 0.1, moved.shape)
    metrics, trajectory = pytest.importorskip("evo.core.metrics"), pytest.importorskip("evo.core.trajectory")
    paths = [
        trajectory.PoseTrajectory3D(
            np.column_stack([each[:, :2], np.zeros(50)]), np.tile([1.0, 0.0, 0.0, 0.0], (50, 1)), np.arange(50.0)
        )
        for each in (poses, noisy)
    ]
    paths[1].align(paths[0])
    metric = metrics.APE(metrics.PoseRelation.translation_part)
    metric.process_data(paths)
    assert position_error(noisy, poses) == pytest.approx(metric.get_statistic(metrics.StatisticsType.rmse), rel=1e-3)
