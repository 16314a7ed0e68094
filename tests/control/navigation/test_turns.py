"""Weights around walls, and paths turned into a few straight moves."""

from itertools import pairwise

import numpy as np
import pytest

from sandlot.control.navigation.astar import find_path
from sandlot.control.navigation.turns import cluster_turns, find_turns, shorten, straight
from sandlot.control.navigation.weights import ESCAPE, STEEPEST, UNSEEN, clearance, open_trail, weigh
from sandlot.mapping.grids.geometry import FREE, UNKNOWN, WALL

pytest.importorskip("cv2")
pytest.importorskip("sklearn")


def two_rooms(door):
    """Two rooms with a door of so many cells; walls around."""
    kinds = np.full((60, 80), FREE, np.uint8)
    kinds[[0, -1]] = kinds[:, [0, -1]] = kinds[:, 40] = WALL
    kinds[30 - door // 2 : 30 - door // 2 + door, 40] = FREE
    return kinds


def test_the_boundary_is_soft_outside_of_the_radius_and_hard_within():
    kinds = two_rooms(0)
    weights = weigh(kinds, 0.1, radius=0.3, margin=0.5)
    row = weights[30, :40].astype(int)  # distances from the left wall: 0, 0.1, ... m
    assert row[:3].tolist() == [0, 0, 0]
    assert row[3] == 1 + STEEPEST
    assert (np.diff(row[3:9]) < 0).all()
    assert row[9:31].tolist() == [1] * 22
    assert clearance(kinds, 0.1)[30, 7] == pytest.approx(0.7)
    assert np.isinf(clearance(np.full((3, 3), FREE, np.uint8), 0.1)).all()


def test_a_narrow_door_is_passed_if_the_robot_fits():
    """The source's boundary of one fixed width makes this problem impossible."""
    start, goal = (10, 10), (10, 70)
    assert find_path(weigh(two_rooms(7), 0.1, 0.3, margin=1.0), start, goal) is not None
    assert find_path(weigh(two_rooms(7), 0.1, 0.3 + 1.0, margin=0.0), start, goal) is None
    assert find_path(weigh(two_rooms(5), 0.1, 0.35, margin=0.0), start, goal) is None


def test_unknown_cells_cost_more_or_are_blocked():
    kinds = np.full((9, 9), UNKNOWN, np.uint8)
    assert (weigh(kinds, 0.1, 0.2) == UNSEEN).all()
    assert (weigh(kinds, 0.1, 0.2, through_unknown=False) == 0).all()


def test_a_robot_too_near_to_a_wall_may_leave_but_not_through_it():
    kinds = two_rooms(0)
    weights = weigh(kinds, 0.1, 0.3, start=(30, 38))
    assert weights[30, 38] == ESCAPE
    assert (weights[:, 40] == 0).all()
    assert find_path(weights, (30, 38), (30, 10)) is not None
    assert find_path(weights, (30, 38), (30, 70)) is None


def test_an_enclosed_robot_may_go_back_the_way_it_came_but_not_through_a_new_wall():
    kinds = two_rooms(0)
    kinds[20:26, 20:40] = kinds[31:40, 20:40] = WALL  # an alley too narrow for the radius and some room
    start, room = (28, 38), (28, 5)
    trail = np.array([(28, column) for column in range(10, 90, 2)])  # partly outside of the map
    weights = weigh(kinds, 0.1, 0.35, start=start)
    assert find_path(weights, start, room) is None
    open_trail(weights, kinds, trail)
    assert find_path(weights, start, room) is not None
    assert (weights[kinds == WALL] == 0).all()
    kinds[26:31, 30] = WALL
    weights = weigh(kinds, 0.1, 0.35, start=start)
    open_trail(weights, kinds, trail)
    assert find_path(weights, start, room) is None


def test_turns_are_where_the_direction_changes():
    path = np.array([(0, 0), (0, 1), (0, 2), (1, 3), (2, 4), (3, 4)])
    assert find_turns(path).tolist() == [[0, 0], [0, 2], [2, 4], [3, 4]]
    assert find_turns(path[:2]).tolist() == path[:2].tolist()


def test_a_clump_of_turns_becomes_its_first_and_last():
    turns = np.array([(0, 0), (20, 20), (21, 22), (23, 23), (24, 25), (60, 25)])
    assert cluster_turns(turns, 6.0).tolist() == [[0, 0], [20, 20], [24, 25], [60, 25]]
    back = np.array([(0, 0), (20, 20), (40, 0), (20, 21), (0, 40)])  # passes a place twice
    assert len(cluster_turns(back, 6.0)) == 5


def test_maneuvers_become_fewer_as_in_the_source():
    """A path that rounds a corner in small steps has a clump of turns there; figure 50 has 22 turns, then 8."""
    corner = [(1, 1), (1, 0), (1, 1), (1, 0)]
    cells = np.cumsum([(5, 5), *[(0, 1)] * 20, *corner, *[(1, 0)] * 20, *corner[::-1], *[(0, 1)] * 15], axis=0)
    assert [len(find_turns(cells)), len(cluster_turns(find_turns(cells)))] == [10, 6]
    assert len(shorten(cells, np.ones((60, 80), np.uint8))) == 2


def test_a_path_among_obstacles_becomes_a_few_moves():
    kinds = two_rooms(9)
    for row, column in [(12, 16), (22, 24), (24, 33), (38, 48), (40, 58), (46, 64)]:
        kinds[row, column] = WALL
    weights = weigh(kinds, 0.1, 0.3, margin=0.5)
    cells = find_path(weights, (8, 8), (50, 70)).cells
    turns = find_turns(cells)
    few = cluster_turns(turns)
    short = shorten(cells, weights)
    assert len(short) < len(turns) < len(cells)
    assert len(few) <= len(turns)
    for each in (turns, few, short):
        assert (each[0] == cells[0]).all()
        assert (each[-1] == cells[-1]).all()
    assert all(straight(*a, *b, weights) < np.inf for a, b in pairwise(short))


def test_shortening_does_not_give_up_distance_to_walls():
    weights = weigh(two_rooms(9), 0.1, 0.3, margin=1.0)
    path = find_path(weights, (8, 8), (8, 70))
    short = shorten(path.cells, weights)
    cost = sum(straight(*a, *b, weights) for a, b in pairwise(short))
    assert cost <= 1.02 * path.cost + len(short)
    assert straight(8, 8, 8, 70, weights) == np.inf
