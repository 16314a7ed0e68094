"""A* against Dijkstra's algorithm in plain Python, on random and on special maps."""

import heapq
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.control.navigation.astar import DIAGONAL, STRAIGHT, find_path, travel_costs


def twin(weights, start):
    """Cost of the cheapest way to every cell, by Dijkstra."""
    rows, columns = weights.shape
    costs = np.full(weights.shape, np.inf)
    costs[start] = 0
    queue = [(0, start)]
    while queue:
        cost, (i, j) = heapq.heappop(queue)
        if cost > costs[i, j]:
            continue
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                a, b = i + di, j + dj
                if (di, dj) == (0, 0) or not (0 <= a < rows and 0 <= b < columns) or weights[a, b] == 0:
                    continue
                if di and dj and (weights[i, b] == 0 or weights[a, j] == 0):
                    continue
                reached = cost + (DIAGONAL if di and dj else STRAIGHT) * int(weights[a, b])
                if reached < costs[a, b]:
                    costs[a, b] = reached
                    heapq.heappush(queue, (reached, (a, b)))
    return costs / STRAIGHT


def check_path(path, weights, start, goal):
    """It is a path, and costs what it says."""
    cells = path.cells
    assert tuple(cells[0]) == start
    assert tuple(cells[-1]) == goal
    cost = 0
    for (i, j), (a, b) in pairwise(cells):
        assert max(abs(a - i), abs(b - j)) == 1
        assert weights[a, b]
        assert weights[i, b]
        assert weights[a, j]
        cost += (DIAGONAL if a != i and b != j else STRAIGHT) * int(weights[a, b])
    assert cost / STRAIGHT == pytest.approx(path.cost)


def blocks(rng, shape, heaviest):
    """Large areas of equal weights, some blocked: where neighbours are left out, and where they are not."""
    weights = np.ones(shape, np.uint8)
    for _ in range(rng.integers(0, 14)):
        i, j = rng.integers(0, shape[0]), rng.integers(0, shape[1])
        weights[i : i + rng.integers(1, 9), j : j + rng.integers(1, 9)] = rng.integers(0, heaviest + 1)
    return weights


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 3, 255]), st.sampled_from(["blocks", "cells"]))
def test_costs_are_those_of_dijkstra(seed, heaviest, kind):
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 24)), int(rng.integers(1, 24)))
    weights = blocks(rng, shape, heaviest)
    if kind == "cells":
        weights = np.where(rng.random(shape) < 0.25, 0, rng.integers(1, heaviest + 1, shape)).astype(np.uint8)
    start = (int(rng.integers(shape[0])), int(rng.integers(shape[1])))
    weights[start] = max(weights[start], 1)
    expected = twin(weights, start)
    found = travel_costs(weights, start)
    assert found == pytest.approx(expected, rel=1e-6)
    for _ in range(4):
        goal = (int(rng.integers(shape[0])), int(rng.integers(shape[1])))
        path = find_path(weights, start, goal)
        if np.isinf(expected[goal]) or weights[goal] == 0:
            assert path is None
        else:
            assert path.cost == pytest.approx(expected[goal])
            check_path(path, weights, start, goal)


def test_a_path_over_an_empty_map_is_the_shortest():
    weights = np.ones((2000, 2000), np.uint8)
    path = find_path(weights, (3, 5), (1990, 900))
    assert path.cost == pytest.approx(895 * math.sqrt(2.0) + (1987 - 895), rel=1e-4)
    assert len(path.cells) == 1988


def test_a_large_spiral_is_followed_to_its_end():
    weights = np.ones((401, 401), np.uint8)
    for k in range(4, 190, 8):
        weights[k, k:-k] = weights[-k - 1, k:-k] = 0
        weights[k : 401 - k, k] = weights[k : 401 - k, -k - 1] = 0
        weights[(k + 3) if k % 16 == 4 else (397 - k), k] = 1
    path = find_path(weights, (0, 0), (200, 200))
    check_path(path, weights, (0, 0), (200, 200))
    assert path.cost == pytest.approx(travel_costs(weights, (0, 0))[200, 200])


@pytest.mark.parametrize(("start", "goal"), [((0, 0), (4, 9)), ((0, 0), (9, 0)), ((-1, 0), (0, 0)), ((0, 0), (10, 0))])
def test_there_is_no_path_into_or_through_a_wall_or_outside(start, goal):
    weights = np.ones((10, 10), np.uint8)
    weights[4] = 0
    assert find_path(weights, start, goal) is None


def test_diagonal_steps_need_room_on_both_sides():
    weights = np.array([(1, 0), (1, 1)], np.uint8)
    assert find_path(weights, (0, 0), (1, 1)).cells.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert find_path(np.array([(1, 0), (0, 1)], np.uint8), (0, 0), (1, 1)) is None


def test_the_way_to_itself_is_one_cell():
    path = find_path(np.ones((3, 3), np.uint8), (1, 1), (1, 1))
    assert path.cells.tolist() == [[1, 1]]
    assert path.cost == 0.0
