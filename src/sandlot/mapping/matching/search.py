"""Joint search over x, y and yaw for the pose at which a scan fits best, by branch and bound.

After Hess et al., "Real-time loop closure in 2D lidar SLAM" (2016): a node is a square of poses of one yaw; the maxima
of the likelihoods around each point bound the score of all its poses, so squares that cannot hold the best are left
out.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.mapping.matching.field import CELL, Field
from sandlot.typing import Array

MIN_TURN = 0.003
"""Smallest step of the yaw [rad]."""
FAR_SHARE = 0.9
"""A step of the yaw moves this share of the points by less than a cell."""


class Window(NamedTuple):
    """Where to search, around a guess.

    Attributes:
        reach: Largest distance along x and along y [m].
        turn: Largest turn [rad].
        distance_deviation: Expected distance from the guess [m].
        turn_deviation: Expected turn from the guess [rad].
        penalty: On the score: this times log(1 + d**2 / 2), d the distance from the guess in deviations. The logarithm
            allows for rare large errors of the guess.
    """

    reach: float
    turn: float
    distance_deviation: float
    turn_deviation: float
    penalty: float


class Found(NamedTuple):
    """The best pose.

    Attributes:
        x: [m].
        y: [m].
        yaw: [rad].
        score: Mean likelihood of the points, 0 to 1, less the penalty; at most ``minimum`` if nothing was found.
    """

    x: float
    y: float
    yaw: float
    score: float


def search(field: Field, points: Array, guess: Array, window: Window, minimum: float) -> Found:
    """Find the pose of a scan with the highest score.

    Args:
        field: The map.
        points: (n, 2) of the scan in the robot's frame [m].
        guess: (3,) pose in the frame of the map [m, rad].
        window: Where to search.
        minimum: Scores have to be higher than this.
    """
    far = np.quantile(np.hypot(points[:, 0], points[:, 1]), FAR_SHARE) if len(points) else 1.0
    step = max(CELL / max(float(far), CELL), MIN_TURN)
    turns = math.ceil(window.turn / step) if window.turn > 0.0 else 0
    yaws = step * np.arange(-turns, turns + 1, dtype=np.float64)
    corners = rotated_cells(points, np.asarray(guess, np.float64), yaws, field.half)
    reach = math.ceil(window.reach / CELL)
    column, row, turned, score = branch_and_bound(field.likelihood, corners, yaws, reach, window, minimum)
    return Found(guess[0] + CELL * column, guess[1] + CELL * row, guess[2] + yaws[turned], score)


@kernel(error_model="numpy")
def rotated_cells(points: Array, guess: Array, yaws: Array, half: float) -> NDArray[np.int32]:
    """Column and row of each point at the guess, turned by each of ``yaws``: (yaws, n, 2)."""
    found = np.empty((yaws.size, points.shape[0], 2), np.int32)
    for t in range(yaws.size):
        c, s = math.cos(guess[2] + yaws[t]), math.sin(guess[2] + yaws[t])
        for k in range(points.shape[0]):
            found[t, k, 0] = math.floor((c * points[k, 0] - s * points[k, 1] + guess[0] + half) / CELL)
            found[t, k, 1] = math.floor((s * points[k, 0] + c * points[k, 1] + guess[1] + half) / CELL)
    return found


@kernel(error_model="numpy", allocates=False)
def bound(level: NDArray[np.uint8], width: int, cells: NDArray[np.int32], column: int, row: int) -> float:
    """Mean likelihood that no pose of a square exceeds: offsets from ``column`` and ``row`` on, ``width`` cells."""
    size = level.shape[0]
    total = 0
    for k in range(cells.shape[0]):
        c, r = cells[k, 0] + column, cells[k, 1] + row
        if -width < c < size and -width < r < size:
            total += int(level[max(r, 0), max(c, 0)])
    return total / (255.0 * cells.shape[0])


@kernel(error_model="numpy", allocates=False)
def cost(column: int, row: int, width: int, turn: float, window: Window) -> float:
    """Least penalty of the poses of a square."""
    dx = CELL * max(column, 0, -(column + width - 1))
    dy = CELL * max(row, 0, -(row + width - 1))
    away = (dx * dx + dy * dy) / window.distance_deviation**2 + (turn / window.turn_deviation) ** 2
    return window.penalty * math.log(1.0 + 0.5 * away)


@kernel(error_model="numpy")
def branch_and_bound(
    likelihood: NDArray[np.uint8], cells: NDArray[np.int32], yaws: Array, reach: int, window: Window, minimum: float
) -> tuple[int, int, int, float]:
    """Column and row offset, index of the yaw, and score of the best pose.

    Args:
        likelihood: (levels, cells, cells) of the map.
        cells: (yaws, n, 2) columns and rows of the points at no offset.
        yaws: (yaws,) turns from the guess [rad].
        reach: Offsets go from minus this to this [cells].
        window: Its penalty.
        minimum: Scores have to be higher than this.
    """
    top = likelihood.shape[0] - 1
    width = 1 << top
    across = (2 * reach) // width + 1
    count = yaws.size * across * across
    nodes = np.empty((count, 3), np.int32)
    bounds = np.empty(count)
    n = 0
    for t in range(yaws.size):
        for a in range(across):
            for b in range(across):
                column, row = a * width - reach, b * width - reach
                nodes[n, 0], nodes[n, 1], nodes[n, 2] = column, row, t
                bounds[n] = -cost(column, row, width, yaws[t], window)
                if bounds[n] + 1.0 > minimum:
                    bounds[n] += bound(likelihood[top], width, cells[t], column, row)
                n += 1
    order = np.argsort(-bounds)
    best, best_column, best_row, best_yaw = minimum, 0, 0, yaws.size // 2
    stack = np.empty((3 * top + 4, 4), np.int32)
    stack_bounds = np.empty(3 * top + 4)
    children, child_bounds = np.empty((4, 2), np.int32), np.empty(4)
    for first in order:
        if bounds[first] <= best:
            break
        t = nodes[first, 2]
        stack[0, 0], stack[0, 1], stack[0, 2] = nodes[first, 0], nodes[first, 1], top
        stack_bounds[0] = bounds[first]
        depth = 1
        while depth > 0:
            depth -= 1
            column, row, level = stack[depth, 0], stack[depth, 1], stack[depth, 2]
            if stack_bounds[depth] <= best:
                continue
            if level == 0:
                best, best_column, best_row, best_yaw = stack_bounds[depth], column, row, t
                continue
            half = 1 << (level - 1)
            many = 0
            for k in range(4):
                c, r = column + half * (k % 2), row + half * (k // 2)
                if c > reach or r > reach:
                    continue
                score = bound(likelihood[level - 1], half, cells[t], c, r) - cost(c, r, half, yaws[t], window)
                if score > best:
                    place = many
                    while place > 0 and child_bounds[place - 1] > score:
                        child_bounds[place] = child_bounds[place - 1]
                        children[place, 0], children[place, 1] = children[place - 1, 0], children[place - 1, 1]
                        place -= 1
                    child_bounds[place], children[place, 0], children[place, 1] = score, c, r
                    many += 1
            for k in range(many):
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = children[k, 0], children[k, 1], level - 1
                stack_bounds[depth] = child_bounds[k]
                depth += 1
    return best_column, best_row, best_yaw, best
