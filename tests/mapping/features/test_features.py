"""Walls and obstacles in scans of rooms whose walls are known."""

import math

import numpy as np
import pytest

from sandlot.mapping.features.hough import cluster_lines, discretise, find_walls, join, polar
from sandlot.mapping.features.obstacles import NOISE, WALL, cluster_points, find_features

pytest.importorskip("cv2")
pytest.importorskip("sklearn")
METHODS = ("standard", "probabilistic")


def along(start, end, count):
    return np.linspace(start, end, count)


def room(turn=0.0):
    """A room of 4 x 3 m with the sensor at (0.3, -0.2) of its centre, seen 720 times, and its walls."""
    corners = np.array([(2.0, 1.5), (-2.0, 1.5), (-2.0, -1.5), (2.0, -1.5)]) - (0.3, -0.2)
    c, s = math.cos(turn), math.sin(turn)
    corners = corners @ np.array([(c, s), (-s, c)])
    walls = np.column_stack([corners, np.roll(corners, -1, axis=0)])
    return np.concatenate([along(wall[:2], wall[2:], 180) for wall in walls]), walls


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("turn", [0.0, 0.4, 1.2, 3.1])
def test_the_walls_of_a_room_are_found_once_each(method, turn):
    points, walls = room(turn)
    rng = np.random.default_rng(0)
    found = find_walls(points + 0.005 * rng.standard_normal(points.shape), 0.05, method)
    assert len(found) == 4
    r, normal = polar(found)
    true_r, true_normal = polar(walls)
    nearest = np.argmax(normal @ true_normal.T, axis=1)
    assert sorted(nearest) == [0, 1, 2, 3]
    assert np.abs(r - true_r[nearest]).max() < (0.05 if method == "standard" else 0.01)
    assert np.sum(normal * true_normal[nearest], axis=1).min() > math.cos(
        math.radians(2.0 if method == "standard" else 0.5)
    )
    lengths = np.hypot(*(found[:, 2:] - found[:, :2]).T)
    longer = lengths - np.array([4.0, 3.0, 4.0, 3.0])[nearest]
    assert longer.min() > -0.1
    assert method == "standard" or longer.max() < 0.1  # standard lines end at the border of the scan


def test_only_the_probabilistic_transform_sees_a_door():
    wall = np.concatenate([along((-2.0, 1.0), (-0.5, 1.0), 80), along((0.5, 1.0), (2.0, 1.0), 80)])
    assert len(find_walls(wall, method="probabilistic")) == 2
    found = find_walls(wall, method="standard")
    lengths = np.hypot(*(found[:, 2:] - found[:, :2]).T)
    assert lengths.max() > 4.0
    assert np.abs(found[lengths.argmax(), 1::2] - 1.0).max() < 0.1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("points", [np.empty((0, 2)), [(1.0, 2.0)], [(1.0, 2.0)] * 5])
def test_few_points_are_no_wall(method, points):
    assert find_walls(points, method=method).shape[1] == 4
    assert len(find_features(points, method=method).labels) == len(points)


def test_a_line_needs_votes_of_a_tenth_of_all_cells():
    rng = np.random.default_rng(1)
    clutter, wall = rng.uniform(-4.0, 4.0, (1500, 2)), along((-1.0, 2.5), (1.0, 2.5), 200)
    cells = np.count_nonzero(discretise(np.vstack([clutter, wall]), 0.05)[0])
    assert len(find_walls(wall)) == 1
    assert 40 / cells < 0.1  # the wall covers 40 cells
    assert len(find_walls(np.vstack([clutter, wall]))) == 0


def test_lines_are_clustered_by_distance_and_angle():
    """Walls given by two points; a cell of 0.05 m, 2 cells or 0.1 rad are near."""
    lines = np.array([(-1, 2, 1, 2), (-1, 2.09, 1, 2.09), (-1, 2, 1, 2.15), (-1, 2.4, 1, 2.4), (2, -1, 2, 1)], float)
    assert cluster_lines(lines, 0.05).tolist() == [0, 0, 0, 1, 2]
    behind = np.array([(-2, -1, -2.05, 1), (-2, -1, -1.95, 1)])  # normals at both ends of the turn, pi and -pi
    assert cluster_lines(behind, 0.05).tolist() == [0, 0]
    assert join(lines[:2]) == pytest.approx(np.array([(1, 2.045, -1, 2.045)]))


def test_obstacles_have_more_than_two_points_within_20_mm():
    leg = along((1.0, 0.0), (1.0, 0.05), 4)
    pair = np.array([(2.0, 0.0), (2.0, 0.015)])
    labels = cluster_points(np.vstack([leg, pair, np.add(leg, (0.0, 0.5)), [(3.0, 3.0)]]))
    assert labels.tolist() == [0, 0, 0, 0, NOISE, NOISE, 1, 1, 1, 1, NOISE]
    far = along((4.0, 0.0), (4.0, 0.3), 5)
    assert (cluster_points(far) == NOISE).all()
    assert (cluster_points(far, spacing=math.radians(1.0)) == 0).all()


def test_points_are_of_a_wall_an_obstacle_or_noise():
    points, _ = room()
    leg, stray = along((0.6, 0.4), (0.6, 0.45), 5), np.array([(-1.0, 0.5)])
    found = find_features(np.vstack([points, leg, stray]))
    assert (found.labels[: len(points)] == WALL).mean() > 0.99
    assert found.labels[len(points) : -1].tolist() == [0] * 5
    assert found.labels[-1] == NOISE
