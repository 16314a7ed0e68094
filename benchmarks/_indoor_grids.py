"""Grid maps and A* of the indoor world: updates of a large map with a scan, and paths over 2,000 x 2,000 cells.

Times are of the processor, the best of several runs. The peer of A* is a plain one in Python with a heap, the same
heuristic and the same costs; it must find paths of the same cost.
"""

import heapq
import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from _side_by_side import Comparison
from sandlot.control.navigation.astar import find_path
from sandlot.control.navigation.successors import DIAGONAL, STRAIGHT
from sandlot.control.navigation.weights import weigh
from sandlot.geometry.planar import rotate
from sandlot.mapping.grids.geometry import FREE, WALL, Grid
from sandlot.mapping.grids.occupancy import OccupancyGrid
from sandlot.mapping.grids.reputation import ReputationMap
from sandlot.mapping.matching.points import scan_points
from sandlot.places.plans import load_plan
from sandlot.recordings.scans import Pose, Scan
from sandlot.sensing.laser import Laser

Weights = NDArray[np.uint8]
Cell = tuple[int, int]
SIZE = 2000
"""Cells along each side of a map."""
PLACE = Pose(5.2, 4.2, 1.0)
"""Of the robot in the flat [m, rad]."""
MAX_UPDATE, MAX_PATH = 2.0, 50.0
"""Bars [ms]."""


def milliseconds(work: Callable[[], object], repetitions: int = 5) -> float:
    """Least processor time of a piece of work [ms]; it is done once before."""
    work()
    times = []
    for _ in range(repetitions):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return 1e3 * min(times)


def compare_updates() -> list[Comparison]:
    """Time updates of maps with a scan of 360 points."""
    laser, grid = Laser(beams=360, field_of_view=2.0 * math.pi), Grid((-50.0, -50.0), 0.05, (SIZE, SIZE))
    ranges = laser.scan(load_plan("flat"), [PLACE], np.random.default_rng(0))[0].astype(np.float32)
    scan = Scan(0.0, ranges, laser.bearings, PLACE)
    open_field = Scan(0.0, np.full(360, 15.9, np.float32), laser.bearings, PLACE)
    odds, reputation = OccupancyGrid(grid), ReputationMap(grid)
    centre = grid.to_cells(PLACE[:2])
    ends = grid.to_cells(rotate(scan_points(scan), PLACE.yaw) + PLACE[:2])
    features = reputation.find(centre, ends)
    hits = np.ones(len(ends), np.bool_)
    update = "update of a 2,000 x 2,000 map with a scan of 360 points"
    works: dict[str, Callable[[], object]] = {
        f"{update}: log-odds, all ranges 15.9 m": lambda: odds.update(open_field),
        f"{update}: log-odds, in a flat": lambda: odds.update(scan),
        f"{update}: reputations, with finding walls and obstacles": lambda: reputation.update(scan),
    }
    rows = [Comparison(name, milliseconds(work, 50), "ms", at_most=MAX_UPDATE) for name, work in works.items()]
    part = milliseconds(lambda: reputation.add_features(centre, ends, hits, features), 50)
    return [*rows, Comparison(f"{update}: of that, once walls and obstacles are found", part, "ms")]


def maze(corridor: int, wall: int, seed: int = 0) -> tuple[Weights, Cell, Cell]:
    """A maze without loops, from one corner to the other; width of corridors and walls [cell]."""
    rng, step = np.random.default_rng(seed), corridor + wall
    count = (SIZE - wall) // step
    weights, seen = np.zeros((SIZE, SIZE), np.uint8), np.zeros((count, count), np.bool_)
    stack, seen[0, 0] = [(0, 0)], True
    while stack:
        row, column = stack[-1]
        near = [(row + a, column + b) for a, b in ((0, 1), (1, 0), (0, -1), (-1, 0))]
        near = [(i, j) for i, j in near if 0 <= i < count and 0 <= j < count and not seen[i, j]]
        if not near:
            stack.pop()
            continue
        i, j = near[rng.integers(len(near))]
        seen[i, j] = True
        low, left = wall + min(row, i) * step, wall + min(column, j) * step
        high, right = wall + max(row, i) * step + corridor, wall + max(column, j) * step + corridor
        weights[low:high, left:right] = 1
        stack.append((i, j))
    last = wall + (count - 1) * step
    return weights, (wall, wall), (last, last)


def office(seed: int = 0) -> tuple[Weights, Cell, Cell]:
    """400 rooms of 5 x 5 m with furniture and doors of 1 m, for a robot of radius 0.2 m, with soft boundaries."""
    rng, side = np.random.default_rng(seed), 100
    kinds = np.full((SIZE, SIZE), FREE, np.uint8)
    for at in range(0, SIZE, side):
        kinds[at : at + 3] = kinds[:, at : at + 3] = WALL
    for row in range(0, SIZE, side):
        for column in range(0, SIZE, side):
            for _ in range(4):
                i, j = row + rng.integers(25, 75), column + rng.integers(25, 75)
                kinds[i : i + rng.integers(6, 20), j : j + rng.integers(6, 20)] = WALL
            doors = rng.random(2) < 0.75
            door, other = rng.integers(8, 18, 2)
            if row and (doors[0] or column % (3 * side) == 0):
                kinds[row : row + 3, column + door : column + door + 20] = FREE
            if column and (doors[1] or row % (3 * side) == 0):
                kinds[row + other : row + other + 20, column : column + 3] = FREE
    kinds[:3] = kinds[:, :3] = kinds[-3:] = kinds[:, -3:] = WALL
    return weigh(kinds, 0.05, 0.2, 0.3), (13, 13), (SIZE - 12, SIZE - 12)


def trap() -> tuple[Weights, Cell, Cell]:
    """An empty map with a wall around the start on three sides, so that almost all cells are expanded."""
    weights = np.ones((SIZE, SIZE), np.uint8)
    weights[100:-100, -100] = weights[-100, 100:-100] = weights[100, 100:-100] = 0
    return weights, (SIZE // 2, SIZE // 2 + 400), (SIZE // 2, SIZE - 1)


def plain(weights: Weights, start: Cell, goal: Cell) -> float:
    """A plain A* with a heap; returns the cost of the path [cell]."""
    padded = np.pad(weights, 1).tolist()
    start, goal = (start[0] + 1, start[1] + 1), (goal[0] + 1, goal[1] + 1)

    def rest(cell: Cell) -> int:
        down, across = abs(cell[0] - goal[0]), abs(cell[1] - goal[1])
        return STRAIGHT * max(down, across) + (DIAGONAL - STRAIGHT) * min(down, across)

    costs, queue, done = {start: 0}, [(rest(start), start)], set()
    while queue:
        _, cell = heapq.heappop(queue)
        if cell == goal:
            return costs[cell] / STRAIGHT
        if cell in done:
            continue
        done.add(cell)
        i, j = cell
        for di, dj in ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)):
            a, b = i + di, j + dj
            weight = padded[a][b]
            if not weight or (di and dj and not (padded[i][b] and padded[a][j])):
                continue
            reached = costs[cell] + (DIAGONAL if di and dj else STRAIGHT) * weight
            if reached < costs.get((a, b), 2**60):
                costs[a, b] = reached
                heapq.heappush(queue, (reached + rest((a, b)), (a, b)))
    return math.inf


def compare_paths() -> list[Comparison]:
    """Time A* on maps from the worst to the usual, and beside a plain one."""
    empty = np.ones((SIZE, SIZE), np.uint8)
    maps: dict[str, tuple[Weights, Cell, Cell]] = {
        "a maze with corridors of 10 cells": maze(10, 2),
        "a maze with corridors of 1 cell": maze(1, 1),
        "a trap: 3.8 million cells are expanded": trap(),
        "a maze with corridors of 40 cells": maze(40, 4),
        "an office of 400 rooms with soft walls": office(),
        "nothing in the way": (empty, (0, 0), (SIZE - 1, SIZE // 2)),
    }
    rows = []
    for name, (weights, start, goal) in maps.items():
        if find_path(weights, start, goal) is None:
            raise SystemExit(f"there is no path: {name}")
        took = milliseconds(partial(find_path, weights, start, goal))
        rows.append(Comparison(f"A* over 2,000 x 2,000 cells: {name}", took, "ms", at_most=MAX_PATH))
    weights, start, goal = maps["an office of 400 rooms with soft walls"]
    begin = time.process_time()
    cost = plain(weights, start, goal)
    peer = 1e3 * (time.process_time() - begin)
    found = find_path(weights, start, goal)
    if found is None or not math.isclose(found.cost, cost, rel_tol=1e-9):
        raise SystemExit("A* and the plain one do not find paths of the same cost")
    ours = milliseconds(lambda: find_path(weights, start, goal))
    return [*rows, Comparison("the office, beside a plain A* in Python", ours, "ms", peer)]


def compare_grids() -> list[Comparison]:
    """All comparisons of grids."""
    return [*compare_updates(), *compare_paths()]
