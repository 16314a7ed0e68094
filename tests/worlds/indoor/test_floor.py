"""The floor of a plan: what robots cover of it."""

import numpy as np

from sandlot.places.plans import load_plan
from sandlot.worlds.indoor.floor import Floor


def test_the_kernel_covers_as_its_twin():
    """Every square of the floor, whether its middle is under the robot."""
    floor = Floor(load_plan("office"), 0.3, robots=3)
    ny, nx = floor.reachable.shape
    y, x = np.mgrid[:ny, :nx]
    low = load_plan("office").bounds[:2] - floor.spacing
    rng, known = np.random.default_rng(0), np.zeros((3, ny, nx), bool)
    which = np.array([2, 0, 1])
    for _ in range(30):
        places = low + floor.spacing * rng.uniform(-9.0, (nx + 9.0, ny + 9.0), (3, 2))
        new = floor.cover(which, places)
        for k, place in zip(which, places, strict=True):
            away = np.hypot(
                low[0] + (x + 0.5) * floor.spacing - place[0], low[1] + (y + 0.5) * floor.spacing - place[1]
            )
            under = (away <= 0.3) & floor.reachable & ~known[k]
            known[k] |= under
            assert new[list(which).index(k)] == under.sum() * floor.spacing**2
        np.testing.assert_array_equal(floor.covered, known)
    assert known.any(axis=(1, 2)).all()
    floor.forget(np.array([1]))
    assert floor.covered.any(axis=(1, 2)).tolist() == [True, False, True]
