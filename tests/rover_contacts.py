"""Learned rovers above ground, for tests of what carries them."""

import numpy as np

from sandlot.physics.soil import PRESETS
from sandlot.surrogates.terrain.contact import (
    FAR,
    SEEN,
    give_of,
    look,
)
from sandlot.surrogates.terrain.feet import make_ground
from sandlot.surrogates.terrain.inputs import soil_inputs
from sandlot.surrogates.terrain.shape import shape_of
from sandlot.surrogates.terrain.springs import (
    BLOCK,
    DEPTH,
    DRAG,
    GAP,
    LANES,
    SIZE,
    SUMS,
    X,
    Y,
    gather,
    make_springs,
    resist,
)

WHEELED, TRACKED = shape_of("wheeled"), shape_of("tracked")
CLEARANCE = 0.051
"""Height of the middle of the rover's box above the lowest point of its wheels [m]."""


class Scene:
    """A rover above ground of nodes 1 cm apart, whose middle is at 0, 0."""

    def __init__(self, heights, initial=None, shape=WHEELED, soil="mid", wrap=False):
        self.heights = np.asarray(heights, float)
        self.ground = make_ground(self.heights, tuple(-0.005 * (n - 1) for n in self.heights.shape[::-1]), 0.01, wrap)
        self.ground.initial[:] = self.heights if initial is None else initial
        self.shape, self.springs = shape, make_springs(shape.feet, 0.01)
        self.body = shape.body
        self.inputs = soil_inputs(PRESETS[soil], shape)
        self.give = give_of(self.inputs, shape)
        self.wheels = np.zeros(2)

    def look(self, place=(0.0, 0.0), yaw=0.0, higher=0.0, looks=4):
        """What is seen where the rover comes to rest; the search begins as much higher [m]."""
        seen, self.at = np.zeros(SEEN), (np.array(place, float), yaw)
        self.springs.rest[:] = self.heights.mean() + CLEARANCE + higher, 0.0, 0.0
        for _ in range(looks):
            look(self.body, self.ground, *self.at, self.wheels, self.give, self.springs, seen)
        return seen

    def seen_again(self):
        """What is seen at a second look, which begins where the first one ended."""
        seen = np.zeros(SEEN)
        look(self.body, self.ground, *self.at, self.wheels, self.give, self.springs, seen)
        return seen

    def gather(self, place, yaw):
        return gather(self.body, self.ground, place, yaw, self.wheels, self.give.damping, FAR, self.springs)

    def gathered(self, place, yaw, rest):
        """The springs of a rover that rests so: how many are below wheels, and (5, springs) rows."""
        self.springs.rest[:] = rest
        wheels, count = self.gather(np.array(place), yaw)
        blocks = self.springs.blocks.reshape(-1, BLOCK // LANES, LANES)[:, : SUMS // LANES]
        return wheels, blocks.transpose(1, 0, 2).reshape(SUMS // LANES, -1)[:, :count]

    def unbalanced(self):
        """Force less the weight, and moments about the centre of mass, as shares of the weight and of it on a wheel."""
        _, count = self.gather(*self.at)
        self.springs.shift[:] = 0.0
        resist(self.springs, count, self.give)
        forces = self.springs.sums[:3] * self.give.stiffness * 1e-4 / self.shape.weight
        return np.abs(forces - (1.0, 0.0, 0.0)) / (1.0, self.shape.corner[0], self.shape.corner[0])


def values_of(found):
    """Gaps, depths, drags, sizes, x and y of springs, from rows as `Scene.gathered` gives them."""
    return (found[row // LANES] for row in (GAP, DEPTH, DRAG, SIZE, X, Y))


def stress_at(give, depth):
    """Where soil yields, over the stiffness; a plain twin of `yielding`."""
    deep = np.maximum(depth, 0.0)
    return deep * (give.first + give.second * deep) / (1.0 + give.third * deep)


def hills(seed, relief=0.02, shape=(60, 70)):
    y, x = np.indices(shape) * 0.01
    a, b, c, d = np.random.default_rng(seed).uniform(0.0, 6.0, 4)
    return 0.5 * relief * np.sin((8.0 + a) * x + b) * np.cos((8.0 + c) * y + d)
