"""Room between points and walls."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sandlot.geometry.walls import Walls, block, clearances
from sandlot.physics.walls import slide
from twins import walls as twin


@given(st.integers(0, 2**32), st.integers(1, 20), st.integers(0, 5))
def test_agrees_with_its_twin(seed, lines, discs):
    rng = np.random.default_rng(seed)
    segments = rng.uniform(-5.0, 5.0, (lines, 4))
    circles = np.column_stack([rng.uniform(-5.0, 5.0, (discs, 2)), rng.uniform(0.1, 2.0, discs)])
    points, room = rng.uniform(-6.0, 6.0, (30, 2)), np.empty(30)
    clearances(points, Walls(segments, circles), room)
    np.testing.assert_allclose(room, twin.clearance(points, segments, circles), atol=1e-12)


@given(st.integers(0, 2**32), st.floats(0.05, 1.0), st.floats(0.1, 0.5))
def test_squares_near_walls_are_not_free(seed, radius, spacing):
    rng = np.random.default_rng(seed)
    segments = rng.uniform(-2.0, 6.0, (5, 4))
    circles = np.column_stack([rng.uniform(-2.0, 6.0, (3, 2)), rng.uniform(0.1, 1.0, 3)])
    free, corner = np.ones((20, 30), np.bool_), np.array([-0.3, 0.2])
    block(Walls(segments, circles), radius, corner, spacing, free)
    y, x = np.indices(free.shape)
    middles = corner + (np.stack([x, y], axis=-1).reshape(-1, 2) + 0.5) * spacing
    assert np.array_equal(free.ravel(), twin.clearance(middles, segments, circles) > radius)


def test_a_disc_slides_along_a_wall_and_stops_in_a_wedge():
    none = np.zeros((0, 3))
    wall = Walls(np.array([(-9.0, 0.0, 9.0, 0.0)]), none)
    x, y, touched = slide(0.0, 1.0, 0.1, -0.1, 1.0, wall)
    assert touched
    assert np.allclose([x, y], [0.1, 1.0])
    assert slide(0.0, 1.2, 0.1, 0.1, 1.0, wall) == (0.1, 1.2 + 0.1, False)
    wedge = Walls(np.array([(0.0, 0.0, 9.0, 1.0), (0.0, 0.0, 9.0, -1.0)]), none)
    start = np.hypot(9.0, 1.0) * 1.0001
    x, y, touched = slide(start, 0.0, -0.2, 0.0, 1.0, wedge)
    assert touched
    assert x >= np.hypot(9.0, 1.0) - 1e-6
