"""A* against Dijkstra's algorithm in plain Python, on random and on special maps."""

import heapq
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.control.navigation.astar import find_path, travel_costs
from sandlot.control.navigation.bounds import FAR, bound, lighten, search_corners
from sandlot.control.navigation.successors import DIAGONAL, STRAIGHT
from sandlot.control.navigation.weights import weigh
from sandlot.mapping.grids.geometry import FREE, WALL


def twin(weights, start, backwards=False):
    """Cost of the cheapest path to every cell by Dijkstra's algorithm; or ``backwards``, from every cell."""
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
                entered = weights[i, j] if backwards else weights[a, b]
                reached = cost + (DIAGONAL if di and dj else STRAIGHT) * int(entered)
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


def rooms(rng, shape=(70, 90)):
    """Rooms with thin walls, doors and furniture, weighed for a robot: walls block whole squares of cells."""
    kinds = np.full(shape, FREE, np.uint8)
    kinds[rng.integers(20, 50)] = kinds[:, rng.integers(20, 40)] = kinds[:, rng.integers(50, 70)] = WALL
    for _ in range(3):
        i, j = rng.integers(0, shape[0] - 14), rng.integers(0, shape[1] - 14)
        kinds[i : i + 14, j : j + 14] = FREE
    for _ in range(3):
        i, j = rng.integers(0, shape[0]), rng.integers(0, shape[1])
        kinds[i : i + 6, j : j + 6] = WALL
    return weigh(kinds, 0.05, 0.2, 0.3)


@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_never_above_the_cost_and_paths_between_rooms_are_the_cheapest(seed):
    rng = np.random.default_rng(seed)
    weights = rooms(rng)
    if seed == 3:
        weights = np.where(weights > 0, rng.integers(1, 256, weights.shape), 0).astype(np.uint8)
    free = np.argwhere(weights > 0)
    start, goal = (tuple(map(int, free[k])) for k in rng.choice(len(free), 2, replace=False))
    expected = twin(weights, goal, backwards=True)
    padded = np.pad(weights, 1)
    light, heavy = lighten(padded)
    assert heavy * 16 > light.size
    far = search_corners(light, goal[0] + 1, goal[1] + 1, start[0] + 1, start[1] + 1)
    bounds = [bound(i + 1, j + 1, goal[0] + 1, goal[1] + 1, True, far, light) for i, j in free]
    costs = STRAIGHT * expected[weights > 0]
    assert (np.array(bounds) <= costs + 1e-6).all()
    octile = [bound(i + 1, j + 1, goal[0] + 1, goal[1] + 1, False, far, light) for i, j in free]
    reached = np.isfinite(costs)
    assert np.mean(np.array(bounds)[reached]) > np.mean(np.array(octile)[reached])
    assert (np.array(bounds)[~reached] <= FAR).all()
    near = np.flatnonzero(np.abs(free - goal).max(axis=1) < 4)
    for k in [*rng.choice(len(free), 10), *near]:
        path = find_path(weights, tuple(free[k]), goal)
        if np.isinf(expected[tuple(free[k])]):
            assert path is None
        else:
            assert path.cost == pytest.approx(expected[tuple(free[k])])
            check_path(path, weights, tuple(free[k]), goal)


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
