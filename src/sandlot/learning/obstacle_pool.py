"""Obstacles to train a climber on: many courses of every kind at several levels, made once.

A higher level has higher, steeper or wider obstacles. Sizes go beyond those that the climber must master.
"""

import math
from collections.abc import Callable

import numpy as np

from sandlot.physics.climbing.ground import Ground, empty_ground, set_ground
from sandlot.places.course_kinds import Box, Kind, Ramp, Rubble, Stairs, Step, Trench
from sandlot.places.courses import Course
from sandlot.typing import Array, IntArray

LEVELS = 10
DISTANCE = 0.7
"""From x = 0 to the obstacle [m]."""
Draw = Callable[[float, np.random.Generator], Kind]


def _box(level: float, rng: np.random.Generator) -> Kind:
    return Box(distance=DISTANCE, height=_size(0.08, 0.6, level, rng), depth=rng.uniform(0.1, 1.0))


def _step(level: float, rng: np.random.Generator) -> Kind:
    return Step(distance=DISTANCE, height=_size(0.08, 0.5, level, rng) * rng.choice([-1.0, 1.0]))


def _stairs(level: float, rng: np.random.Generator) -> Kind:
    """Up to 52 degrees, and up to risers of 0.42 m; the shortest treads are a quarter of a track's length."""
    tread = rng.uniform(0.1, 0.75) if rng.uniform() < 0.65 else rng.uniform(0.24, 0.32)
    riser = _size(0.06, min(0.42, 1.28 * tread), level, rng)
    return Stairs(
        distance=DISTANCE,
        riser=riser,
        tread=tread,
        steps=int(rng.integers(2, 7 if tread < 0.4 else 5)),
        landing=rng.uniform(0.6, 1.0),
        way=rng.choice(["both", "up", "down"], p=[0.5, 0.3, 0.2]),
        risers=riser < 0.1 or rng.uniform() > 0.15,
    )


def _steep(level: float, rng: np.random.Generator) -> Kind:
    """From 32 to 54 degrees: belts that lie along the edges begin to slip at 42, there a robot must step."""
    tread = rng.uniform(0.12, 0.5)
    return Stairs(
        distance=DISTANCE,
        angle=math.radians((34.0 + 20.0 * level) * rng.uniform(0.93, 1.0)),
        tread=tread,
        steps=int(rng.integers(2, 7 if tread < 0.4 else 5)),
        landing=rng.uniform(0.6, 1.0),
        way=rng.choice(["both", "up"], p=[0.5, 0.5]),
    )


def _ramp(level: float, rng: np.random.Generator) -> Kind:
    slope = _size(0.1, 0.65, level, rng)
    height = rng.uniform(0.3, 1.5) * np.tan(slope)
    return Ramp(distance=DISTANCE, height=height, slope=slope, length=rng.uniform(0.2, 1.0))


def _trench(level: float, rng: np.random.Generator) -> Kind:
    return Trench(distance=DISTANCE, width=_size(0.1, 0.55, level, rng), depth=rng.uniform(0.1, 0.5))


def _rubble(level: float, rng: np.random.Generator) -> Kind:
    return Rubble(distance=DISTANCE, height=_size(0.05, 0.35, level, rng), length=rng.uniform(1.5, 3.0))


def _size(low: float, high: float, level: float, rng: np.random.Generator) -> float:
    """Up to 15% below the size of a level, which grows from ``low`` to ``high``."""
    return (low + (high - low) * level) * rng.uniform(0.85, 1.0)


STEEP = "steep stairs"
KINDS: dict[str, tuple[Draw, float]] = {
    "box": (_box, 0.24),
    "step": (_step, 0.06),
    "stairs": (_stairs, 0.46),
    "ramp": (_ramp, 0.03),
    "trench": (_trench, 0.05),
    "rubble": (_rubble, 0.16),
    STEEP: (_steep, 0.0),
}
"""How each kind is drawn at a level from 0 to 1, and its share of the robots that are not on steep stairs."""


class Pool:
    """Courses of each kind and level.

    Attributes:
        courses: All of them.
        ground: Their outlines.
        shares: (kinds,) of the robots.
    """

    def __init__(self, each: int, rng: np.random.Generator, steep: float = 0.0) -> None:
        """Draw so many courses ``each`` of every kind and level; a share ``steep`` of the robots is on steep stairs."""
        self._each = each
        self.shares: Array = np.array([steep if name == STEEP else (1.0 - steep) * KINDS[name][1] for name in KINDS])
        self.courses: list[Course] = [
            draw(level / (LEVELS - 1), rng).draw(rng)
            for (draw, _), share in zip(KINDS.values(), self.shares, strict=True)
            if share > 0.0
            for level in range(LEVELS)
            for _ in range(each)
        ]
        self.ground: Ground = empty_ground(len(self.courses))
        for k, course in enumerate(self.courses):
            self.ground = set_ground(self.ground, k, course.outlines(), course.near, course.end)

    def pick(self, kinds: IntArray, levels: IntArray, rng: np.random.Generator) -> IntArray:
        """Indices of random courses of these kinds and levels: (n,) each."""
        return (kinds * LEVELS + levels) * self._each + rng.integers(self._each, size=len(kinds))
