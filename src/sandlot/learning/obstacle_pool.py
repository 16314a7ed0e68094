"""Obstacles to train a climber on: many courses of every kind at several levels, made once.

A higher level has higher, steeper or wider obstacles. Sizes go beyond those that the climber must master.
"""

import math
from collections.abc import Callable
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from sandlot.physics.climbing.ground import Ground, empty_ground, set_ground
from sandlot.places.course_kinds import Box, Kind, Ramp, Rubble, Stairs, Step, Trench
from sandlot.places.courses import Course
from sandlot.settings import Settings
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


KINDS: dict[str, tuple[Draw, float]] = {
    "box": (_box, 0.24),
    "step": (_step, 0.06),
    "stairs": (_stairs, 0.46),
    "ramp": (_ramp, 0.03),
    "trench": (_trench, 0.05),
    "rubble": (_rubble, 0.16),
}
"""How each kind is drawn at a level from 0 to 1, and its share of the robots that are not on steep stairs."""
NAMES = (*KINDS, "steep stairs")
"""Of all kinds."""


class SteepStairs(Settings):
    """Stairs on which belts that lie along the edges slip, so that a robot must step from tread to tread.

    Attributes:
        share: Of the robots that is on them.
        treads: Ranges of the depth of treads [m], each after the share of the stairs that is in it, of those that are
            in no range before.
        slopes: Steepest inclination at the lowest and at the highest level [deg].
        least: Least inclination of a level, as share of its steepest.
        both: Share that also leads down.
    """

    share: float = Field(0.0, ge=0.0, le=1.0)
    treads: tuple[tuple[float, float, float], ...] = Field(((1.0, 0.12, 0.5),), min_length=1)
    slopes: tuple[float, float] = (34.0, 54.0)
    least: float = Field(0.93, gt=0.0, le=1.0)
    both: float = Field(0.5, ge=0.0, le=1.0)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for share, low, high in self.treads:
            if not (0.0 <= share <= 1.0 and 0.02 <= low <= high <= 2.0):
                raise ValueError(
                    f"treads={[share, low, high]}: allowed are a share from 0 to 1, and a range within 0.02 and 2 m"
                )
        if not 1.0 <= self.slopes[0] <= self.slopes[1] <= 80.0:
            raise ValueError(f"slopes={list(self.slopes)}: allowed are two ascending numbers from 1 to 80")
        return self

    def draw(self, level: float, rng: np.random.Generator) -> Kind:
        """Stairs of a level from 0 to 1."""
        which = 0
        while which < len(self.treads) - 1 and rng.uniform() >= self.treads[which][0]:
            which += 1
        tread = rng.uniform(*self.treads[which][1:])
        flat, steep = self.slopes
        return Stairs(
            distance=DISTANCE,
            tread=tread,
            angle=math.radians((flat + (steep - flat) * level) * rng.uniform(self.least, 1.0)),
            steps=int(rng.integers(2, 7 if tread < 0.4 else 5)),
            landing=rng.uniform(0.6, 1.0),
            way=rng.choice(["both", "up"], p=[self.both, 1.0 - self.both]),
        )


class Pool:
    """Courses of each kind and level.

    Attributes:
        courses: All of them.
        ground: Their outlines.
        shares: (kinds,) of the robots.
    """

    def __init__(self, each: int, rng: np.random.Generator, steep: SteepStairs) -> None:
        """Draw so many courses ``each`` of every kind and level; steep stairs only if they have a share."""
        self._each = each
        kinds = [*KINDS.values(), (steep.draw, 1.0)]
        self.shares: Array = np.array([(1.0 - steep.share) * share for _, share in kinds[:-1]] + [steep.share])
        self.courses: list[Course] = [
            draw(level / (LEVELS - 1), rng).draw(rng)
            for (draw, _), share in zip(kinds, self.shares, strict=True)
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
