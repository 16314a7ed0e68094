"""The avoider in the navigating rover."""

import math

import numpy as np
import pytest

from sandlot.control.navigation.avoiding import Avoider, Straight, load_avoider
from sandlot.control.navigation.driving import Command
from sandlot.control.navigation.near import Avoidance, Near, observe
from sandlot.errors import ModelError
from sandlot.models.card import Card
from sandlot.models.dense import make_dense, save_dense

WALL = np.column_stack([np.linspace(-2.0, 2.0, 161), np.full(161, -0.5)])
TARGET = np.array([1.2, 0.0])


def pillar(x, y, radius=0.1):
    """The side of a pillar that the robot sees, with points 1 cm apart."""
    away = math.atan2(-y, -x)
    angles = away + np.linspace(-1.2, 1.2, 24)
    return np.column_stack([x + radius * np.cos(angles), y + radius * np.sin(angles)])


def constant(move):
    """An avoider that always makes one move."""
    return Avoider(make_dense([np.zeros((9, 4))], [np.eye(4)[move]], ["linear"]), 5)


def test_it_observes_what_the_avoid_world_would():
    seen = observe(TARGET, np.concatenate([WALL, pillar(0.6, 0.6)]), Near(), 5)
    away = math.hypot(0.6, 0.6) - 0.1
    np.testing.assert_allclose(seen[:4], [away / 1.5, math.pi / 4, 0.8, 0.0], atol=0.02)
    expected = [0.5 / 1.5, 0.5 * math.sqrt(2.0) / 1.5, 1.0, 1.0, 1.0]
    np.testing.assert_allclose(seen[4:], expected, atol=0.03)


def test_the_planner_goes_on_without_an_obstacle_or_with_one_that_is_far():
    assert observe(TARGET, WALL, Near(), 5) is None
    points = np.concatenate([WALL, pillar(1.0, 0.8)])
    assert observe(TARGET, points, Near(threshold=1.0), 5) is None
    assert observe(TARGET, points, Near(threshold=1.5), 5) is not None
    assert observe(TARGET, np.empty((0, 2)), Near(), 5) is None


@pytest.mark.parametrize(
    ("move", "expected"), [(0, (0.25, 0.0)), (1, (-0.25, 0.0)), (2, (0.0, -0.6545)), (3, (0.0, 0.6545))]
)
def test_a_move_is_finished_before_the_next_is_chosen(move, expected):
    avoidance, points = Avoidance(constant(move)), np.concatenate([WALL, pillar(0.6, 0.6)])
    command = avoidance.steer(TARGET, points, 10.0)
    assert isinstance(command, Command)
    np.testing.assert_allclose(command, expected, atol=1e-4)
    assert avoidance.steer(TARGET, WALL, 10.6) == command  # the obstacle has gone, but not the move
    assert avoidance.steer(TARGET, WALL, 10.8) is None
    assert avoidance.decisions == 1


def test_straight_turns_to_the_goal_and_drives():
    rows = np.zeros((3, 9))
    rows[:, 3] = 0.1, 1.0, -1.0
    assert Straight().act(rows).tolist() == [0, 3, 2]


def test_a_file_that_is_no_avoider_is_refused(tmp_path):
    save_dense(tmp_path / "a", make_dense([np.zeros((3, 2))], [np.zeros(2)], ["linear"]), Card(kind="dense"))
    with pytest.raises(ModelError, match=r"a net with 3 inputs and 2 outputs is not an avoider with 5 lines"):
        load_avoider(tmp_path / "a")
