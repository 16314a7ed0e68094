"""The rectangle around the low part of a shape: all of that part is in it, and little else."""

import numpy as np
import pytest

from sandlot.physics import shapes
from sandlot.physics.soil.search.bounds import around_low_part
from soil_patches import SLOW, shape_at
from twins import soil as twin

SHAPES = {
    "sphere": (shapes.SPHERE, (0.06, 0.0, 0.0)),
    "capsule": (shapes.CAPSULE, (0.02, 0.15, 0.0)),
    "cylinder": (shapes.CYLINDER, (0.02, 0.15, 0.0)),
    "ellipsoid": (shapes.ELLIPSOID, (0.03, 0.05, 0.08)),
    "box": (shapes.BOX, (0.02, 0.03, 0.15)),
}
TIGHT = {"sphere": 1e-2, "box": 1e-2, "capsule": 0.045, "cylinder": 0.045}
"""How much larger the rectangle may be than the points that were found [m]; that of an ellipsoid is around all of it."""


def points_inside(kind, size, rng, count):
    """Points in a shape and on its surface, in its own frame."""
    reach = np.array(size if kind in (shapes.BOX, shapes.ELLIPSOID) else (size[0], size[0], size[0] + size[1]))
    points = rng.uniform(-1.0, 1.0, (count, 3))
    if kind == shapes.BOX:
        flat = rng.integers(0, 3, (count, 2))
        for row in flat.T:  # onto edges
            points[np.arange(count), row] = np.sign(points[np.arange(count), row])
        return points * reach
    points *= reach
    x, y, z = points.T
    if kind == shapes.ELLIPSOID:
        inside = ((points / reach) ** 2).sum(axis=1) <= 1.0
    elif kind == shapes.CYLINDER:
        inside = (x**2 + y**2 <= size[0] ** 2) & (np.abs(z) <= size[1])
    else:
        inside = x**2 + y**2 + np.maximum(np.abs(z) - size[1], 0.0) ** 2 <= size[0] ** 2
    return points[inside]


@pytest.mark.parametrize("name", SHAPES)
def test_the_low_part_of_a_shape_is_in_its_rectangle(name):
    kind, size = SHAPES[name]
    for seed in range(5 if SLOW else 50):
        rng = np.random.default_rng([seed, kind])
        rotation, position = twin.turned(rng), rng.uniform(-0.1, 0.1, 3)
        shape, highest = shape_at(kind, size, position, rotation), float(rng.uniform(-0.15, 0.15))
        points = points_inside(kind, size, rng, 20_000) @ rotation.T + position
        low = points[points[:, 2] < highest]
        x0, x1, y0, y1 = around_low_part(shape, highest)
        if len(low) == 0:
            continue
        assert x0 - 1e-9 <= low[:, 0].min()
        assert low[:, 0].max() <= x1 + 1e-9
        assert y0 - 1e-9 <= low[:, 1].min()
        assert low[:, 1].max() <= y1 + 1e-9
        if name in TIGHT and len(low) > 1000:
            spare = [low[:, 0].min() - x0, x1 - low[:, 0].max(), low[:, 1].min() - y0, y1 - low[:, 1].max()]
            assert max(spare) < TIGHT[name]


def test_nothing_of_a_box_above_the_ground_is_low():
    shape = shape_at(shapes.BOX, (0.02, 0.03, 0.15), (0.0, 0.0, 0.4), np.eye(3))
    x0, x1, _, _ = around_low_part(shape, 0.0)
    assert x0 > x1
