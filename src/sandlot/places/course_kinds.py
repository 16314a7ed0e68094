"""The kinds of courses, each with its settings: boxes, stairs, ramps, steps, trenches, rubble and a random mix.

Each makes its `Course` with ``draw(rng)``; only rubble and the mix use the random numbers.
"""

import math
from abc import abstractmethod
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from sandlot.places.courses import Course, make_course
from sandlot.settings import Settings

CEILING = 3.0
"""Height of the world: no face of an obstacle may be higher [m]."""
SLAB = 0.04
"""Thickness of a tread without risers [m]."""
Height = Annotated[float, Field(gt=0.0, le=CEILING)]
Length = Annotated[float, Field(ge=0.01, le=20.0)]
Range = tuple[float, float]


class Kind(Settings):
    """What all courses have.

    Attributes:
        distance: From the start to the obstacle [m]; 2 m in the source's test of stairs.
    """

    distance: float = Field(2.0, ge=0.0, le=20.0)

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Course:
        """Make the course; ``rng`` is used only if the kind is random."""


class Flat(Kind):
    """Level ground.

    Attributes:
        length: To drive beyond the distance [m].
    """

    kind: Literal["flat"] = "flat"
    length: Length = 1.0

    def draw(self, rng: np.random.Generator) -> Course:
        """Make the course."""
        return make_course([(self.distance, 0.0)], self.distance, self.distance + self.length)


class Box(Kind):
    """A box (figure 30).

    Attributes:
        height: [m]
        depth: Along the path [m].
    """

    kind: Literal["box"] = "box"
    height: Height = 0.2
    depth: Length = 0.5

    def draw(self, rng: np.random.Generator) -> Course:
        """Make the course."""
        x, far, z = self.distance, self.distance + self.depth, self.height
        return make_course([(x, 0.0), (x, z), (far, z), (far, 0.0)], x, far)


class Step(Kind):
    """One step, up if the height is positive and down if it is negative.

    Attributes:
        height: [m]
    """

    kind: Literal["step"] = "step"
    height: float = Field(0.2, ge=-CEILING, le=CEILING)

    def draw(self, rng: np.random.Generator) -> Course:
        """Make the course."""
        return make_course([(self.distance, 0.0), (self.distance, self.height)], self.distance, self.distance)


class Ramp(Kind):
    """A ramp up, a level part and a ramp down.

    Attributes:
        height: [m]
        slope: [rad]
        length: Of the level part [m].
    """

    kind: Literal["ramp"] = "ramp"
    height: Height = 0.5
    slope: float = Field(0.4, ge=0.01, le=1.5)
    length: Length = 1.0

    def draw(self, rng: np.random.Generator) -> Course:
        """Make the course."""
        run = self.height / math.tan(self.slope)
        x = self.distance + np.array([0.0, run, run + self.length, 2.0 * run + self.length])
        return make_course(zip(x, (0.0, self.height, self.height, 0.0), strict=True), x[0], x[3])


class Trench(Kind):
    """A trench with vertical walls.

    Attributes:
        width: Along the path [m].
        depth: [m]
    """

    kind: Literal["trench"] = "trench"
    width: Length = 0.3
    depth: Height = 0.5

    def draw(self, rng: np.random.Generator) -> Course:
        """Make the course."""
        x, far, z = self.distance, self.distance + self.width, -self.depth
        return make_course([(x, 0.0), (x, z), (far, z), (far, 0.0)], x, far)


class Stairs(Kind):
    """Stairs (figure 33): steps up, a landing, steps down.

    Attributes:
        riser: Height of a step [m].
        tread: Depth of a step [m].
        angle: Inclination, in place of the riser [rad]: its tangent is riser over tread.
        steps: Number of steps each way; 6 in the source.
        landing: Length of the level part between up and down [m]; 1 m in the source.
        way: ``both``, or only ``up`` or ``down``.
        risers: Whether the steps are closed. If not, treads are slabs with open gaps between them.
    """

    kind: Literal["stairs"] = "stairs"
    riser: Height | None = None
    tread: Length = 0.28
    angle: float | None = Field(None, ge=0.01, le=1.5)
    steps: int = Field(6, ge=1, le=50)
    landing: Length = 1.0
    way: Literal["both", "up", "down"] = "both"
    risers: bool = True

    @model_validator(mode="after")
    def _one_height(self) -> Self:
        if self.riser is not None and self.angle is not None:
            raise ValueError("stairs have a riser or an angle; give one of them")
        if self.rise > CEILING:
            raise ValueError(f"a riser of {self.rise:.2f} m is higher than the world; allowed: at most {CEILING:g} m")
        if not self.risers and self.rise <= SLAB:
            raise ValueError(f"without risers, a step must be higher than its tread's {SLAB:g} m")
        return self

    @property
    def rise(self) -> float:
        """Height of a step [m]."""
        if self.angle is not None:
            return self.tread * math.tan(self.angle)
        return 0.19 if self.riser is None else self.riser

    def draw(self, rng: np.random.Generator) -> Course:
        """Make the course."""
        n, h, t, x = self.steps, self.rise, self.tread, self.distance
        levels: list[tuple[float, float, float]] = []  # of each level part x of both ends and z
        lengths = {"up": [t] * (n - 1), "down": [t] * (n - 1), "both": [t] * (n - 1) + [self.landing] + [t] * (n - 1)}
        heights = {"up": range(1, n), "down": range(n - 1, 0, -1), "both": [*range(1, n), *range(n, 0, -1)]}
        for length, k in zip(lengths[self.way], heights[self.way], strict=True):
            levels.append((x, x + length, k * h))
            x += length
        first, last = (n * h if self.way == way else 0.0 for way in ("down", "up"))
        if self.risers:
            inner = [point for low, high, z in levels for point in ((low, z), (high, z))]
            return make_course([(self.distance, first), *inner, (x, last)], self.distance, x)
        edge = self.distance if self.way == "down" else x
        slabs = [np.array([[low, z - SLAB], [low, z], [high, z], [high, z - SLAB]]) for low, high, z in levels]
        return make_course([(edge, first), (edge, last)], self.distance, x, slabs)


class Rubble(Kind):
    """Random blocks side by side, some of them slanted.

    Attributes:
        height: Of the highest block [m].
        length: Of the field [m].
        block: Shortest and longest block along the path [m].
        slanted: Share of blocks with a slanted top.
        seed: Of the field; drawn anew at each reset if left out.
    """

    kind: Literal["rubble"] = "rubble"
    height: Height = 0.2
    length: Length = 3.0
    block: tuple[Length, Length] = (0.1, 0.4)
    slanted: float = Field(0.3, ge=0.0, le=1.0)
    seed: int | None = Field(None, ge=0)

    @model_validator(mode="after")
    def _blocks_in_order(self) -> Self:
        if self.block[0] > self.block[1]:
            raise ValueError(f"block={list(self.block)}: the shortest block is longer than the longest")
        return self

    def draw(self, rng: np.random.Generator) -> Course:
        """Draw the blocks."""
        if self.seed is not None:
            rng = np.random.default_rng(self.seed)
        x, end = self.distance, self.distance + self.length
        points = [(x, 0.0)]
        while x < end:
            far = min(x + rng.uniform(*self.block), end)
            one, other = rng.uniform(0.0, self.height, 2)
            points += [(x, one), (far, other if rng.uniform() < self.slanted else one)]
            x = far
        return make_course([*points, (end, 0.0)], self.distance, end)


class Mixed(Kind):
    """At each reset a box, stairs or rubble at random, each of random size.

    Attributes:
        box_height: Range of the height of boxes [m].
        box_depth: Range of their depth [m].
        tread: Range of the tread of stairs [m].
        riser: Range of their riser [m].
        rubble_height: Range of the height of rubble [m].
        steps: Of stairs.
    """

    kind: Literal["mixed"] = "mixed"
    distance: float = Field(1.0, ge=0.0, le=20.0)
    box_height: Range = (0.05, 0.45)
    box_depth: Range = (0.1, 1.0)
    tread: Range = (0.2, 0.4)
    riser: Range = (0.1, 0.22)
    rubble_height: Range = (0.05, 0.25)
    steps: int = Field(6, ge=1, le=50)

    @model_validator(mode="after")
    def _sizes_are_possible(self) -> Self:
        for name in ("box_height", "box_depth", "tread", "riser", "rubble_height"):
            low, high = getattr(self, name)
            if not 0.01 <= low <= high <= CEILING:
                raise ValueError(f"{name}={[low, high]}: allowed are two numbers from 0.01 to {CEILING:g}, ascending")
        return self

    def draw(self, rng: np.random.Generator) -> Course:
        """Draw a kind, then its size."""
        which = rng.integers(3)
        if which == 0:
            height, depth = rng.uniform(*self.box_height), rng.uniform(*self.box_depth)
            return Box(distance=self.distance, height=height, depth=depth).draw(rng)
        if which == 1:
            riser, tread = rng.uniform(*self.riser), rng.uniform(*self.tread)
            return Stairs(distance=self.distance, riser=riser, tread=tread, steps=self.steps).draw(rng)
        return Rubble(distance=self.distance, height=rng.uniform(*self.rubble_height)).draw(rng)


CourseKind = Annotated[Flat | Box | Step | Ramp | Trench | Stairs | Rubble | Mixed, Field(discriminator="kind")]
"""Settings of a course of any kind; ``kind`` says which."""
