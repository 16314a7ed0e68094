"""Random situations in which a rover has to get around an obstacle: where it starts, its goal, walls and obstacles.

They follow Huete 2020. Its training has three difficulties (6.10.2): ``easy`` has an obstacle, ``medium`` an obstacle
in the way and a wall along the way, ``hard`` a wall across the way. Its tests have two scenarios (7.2.3): ``obstacle``,
in front of the rover, and ``wall``, an obstacle beside a wall, with a gap between them. The source shows both as
pictures; all sizes and distances were chosen here.

The rover starts at the origin, and its goal is on the x axis.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from sandlot.geometry.walls import Walls, nearest
from sandlot.kernels import kernel
from sandlot.kernels.randomness import uniform
from sandlot.typing import Array, IntArray

KINDS = ("easy", "medium", "hard", "obstacle", "wall")
EASY, MEDIUM, HARD, OBSTACLE, WALL = range(5)
MAX_WALLS = MAX_OBSTACLES = 2
"""Of a situation."""
FAR = 1e6
"""Where walls and obstacles are that a situation does not have [m]."""
START_ROOM, GOAL_ROOM = 0.12, 0.15
"""Least distance from the body of the rover at its start, and at its goal, to walls and obstacles [m]."""
PASSAGE = 0.2
"""A wall and an obstacle are further apart than the rover is wide by at least this [m], or touch."""
TRIES = 1000
"""How often a situation is drawn before the last one is taken as it is."""


class Situations(NamedTuple):
    """Situations of n rovers.

    Attributes:
        starts: (n, 3) x, y [m], yaw [rad].
        goals: (n, 2) x, y [m].
        segments: (n, `MAX_WALLS`, 4) ends of walls [m].
        circles: (n, `MAX_OBSTACLES`, 3) x, y, radius of obstacles [m].
        counts: (n, 2) number of walls and of obstacles; the others are `FAR` away.
    """

    starts: Array
    goals: Array
    segments: Array
    circles: Array
    counts: IntArray


def make_situations(n: int) -> Situations:
    """Room for n situations."""
    segments, circles = np.full((n, MAX_WALLS, 4), FAR), np.full((n, MAX_OBSTACLES, 3), FAR)
    return Situations(np.zeros((n, 3)), np.zeros((n, 2)), segments, circles, np.zeros((n, 2), np.int64))


@kernel(inline="always")
def between(owner: Any, low: float, high: float) -> float:
    """Draw from low to high with the owner's stream."""
    return low + (high - low) * uniform(owner)


@kernel(error_model="numpy", allocates=False)
def draw(owner: Any, kind: int, radius: float, into: Situations, k: int) -> None:
    """Draw a situation in which the start and the goal are free.

    Args:
        owner: Record with a ``stream`` of random numbers, which is advanced.
        kind: Index into `KINDS`.
        radius: Of the rover [m].
        into: Where it is written.
        k: Index of the rover.
    """
    for _ in range(TRIES):
        propose(owner, kind, radius, into, k)
        walls = Walls(into.segments[k], into.circles[k])
        start = nearest(0.0, 0.0, walls)[0]
        goal = nearest(into.goals[k, 0], into.goals[k, 1], walls)[0]
        free = start >= radius + START_ROOM and goal >= radius + GOAL_ROOM
        for n in range(into.counts[k, 1]):
            x, y, size = into.circles[k, n]
            lines = Walls(into.segments[k], into.circles[k, :0])
            gap = nearest(x, y, lines)[0] - size
            free = free and (gap <= 0.0 or gap >= 2.0 * radius + PASSAGE)
        if free:
            return


@kernel(error_model="numpy", allocates=False)
def propose(owner: Any, kind: int, radius: float, into: Situations, k: int) -> None:
    """Draw a situation of a kind; see `draw`."""
    segments, circles, counts = into.segments[k], into.circles[k], into.counts[k]
    for n in range(MAX_WALLS):
        for i in range(4):
            segments[n, i] = FAR
        segments[n, 2] = FAR + 1.0
    for n in range(MAX_OBSTACLES):
        circles[n, 0], circles[n, 1], circles[n, 2] = FAR, FAR, 1.0
    side = 1.0 if uniform(owner) < 0.5 else -1.0
    shortest, turned = 0.8, math.pi
    if kind in (MEDIUM, HARD):
        shortest = 1.2
    elif kind in (OBSTACLE, WALL):
        shortest, turned = 1.8, 0.2
    away = between(owner, shortest, 2.4)
    into.goals[k, 0], into.goals[k, 1] = away, 0.0
    into.starts[k, 0], into.starts[k, 1] = 0.0, 0.0
    into.starts[k, 2] = between(owner, -turned, turned)
    counts[0], counts[1] = 0, 1
    size = between(owner, 0.05, 0.2)
    if kind == EASY:
        set_circle(circles[0], between(owner, 0.2, 0.9) * away, between(owner, -0.6, 0.6), size)
    elif kind == MEDIUM:
        set_circle(circles[0], between(owner, 0.3, 0.7) * away, between(owner, -0.25, 0.25), size)
        middle, length = between(owner, 0.0, 1.0) * away, between(owner, 1.5, 4.0)
        set_wall(segments[0], middle, side * between(owner, 0.3, 1.2), between(owner, -0.3, 0.3), length)
        counts[0] = 1
    elif kind == HARD:
        middle, length = between(owner, 0.4, 0.6) * away, between(owner, 0.6, 1.4)
        angle = 0.5 * math.pi + between(owner, -0.6, 0.6)
        set_wall(segments[0], middle, between(owner, -0.3, 0.3), angle, length)
        set_circle(circles[0], between(owner, 0.2, 0.9) * away, between(owner, -1.0, 1.0), size)
        counts[0] = 1
        if uniform(owner) < 0.5:  # a corner at one end of the wall
            length, angle = between(owner, 0.4, 1.0), between(owner, -0.4, 0.4) + (math.pi if side < 0.0 else 0.0)
            x, y = segments[0, 2], segments[0, 3]
            segments[1, 0], segments[1, 1] = x, y
            segments[1, 2], segments[1, 3] = x + length * math.cos(angle), y + length * math.sin(angle)
            counts[0] = 2
    elif kind == OBSTACLE:
        set_circle(circles[0], between(owner, 0.4, 0.6) * away, between(owner, -0.1, 0.1), between(owner, 0.1, 0.25))
    else:
        near, gap, size = between(owner, 0.35, 0.5), between(owner, 0.6, 0.9), between(owner, 0.1, 0.2)
        set_circle(circles[0], between(owner, 0.4, 0.6) * away, side * (near - gap - size), size)
        set_wall(segments[0], 0.5 * away, side * near, 0.0, away + 3.0)
        counts[0] = 1


@kernel(error_model="numpy", allocates=False)
def set_circle(circle: Array, x: float, y: float, radius: float) -> None:
    """Write an obstacle (3,)."""
    circle[0], circle[1], circle[2] = x, y, radius


@kernel(error_model="numpy", allocates=False)
def set_wall(segment: Array, x: float, y: float, angle: float, length: float) -> None:
    """Write a wall (4,) with its middle at (x, y)."""
    dx, dy = 0.5 * length * math.cos(angle), 0.5 * length * math.sin(angle)
    segment[0], segment[1], segment[2], segment[3] = x - dx, y - dy, x + dx, y + dy
