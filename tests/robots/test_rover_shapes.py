"""The shapes that a rover is drawn with."""

import numpy as np
import pytest

from rover_scenes import BOTH
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_layout import find_layout
from sandlot.robots.rover_shapes import drawn_shapes


@BOTH
def test_drawn_shapes_have_the_size_and_place_of_the_rover(name):
    """The body is 168 x 89 mm; wheels of 60 x 36 mm are 191 mm apart, axles 190 mm: 250 x 227 mm in all."""
    shapes = drawn_shapes(find_layout(load_rover(name)))
    corners = np.concatenate([drawn.shape.box_corners() for drawn in shapes])
    assert np.ptp(corners[:, :2], axis=0) == pytest.approx([0.25, 0.227])
    assert corners[:, 2].min() == pytest.approx(-0.051)
    roles = [drawn.role for drawn in shapes]
    assert roles.count("wheel") == 4
    assert roles.count("belt") == (2 if name == "tracked" else 0)
    (body,) = (drawn.shape for drawn in shapes if drawn.shape.size == (0.168, 0.089, 0.049))
    assert body.position == pytest.approx(np.zeros(3))
