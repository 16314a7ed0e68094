"""A scene on the axes of a figure."""

import numpy as np

from sandlot.studies.plots import canvas, show
from sandlot.worlds.picture import from_above
from sandlot.worlds.scene import Scene, Shape, upright


def test_a_scene_is_shown_in_metres_as_its_world_draws_it():
    ball = Shape("ball", "sphere", (0.5,), *upright(2.0, 1.0), (200, 0, 0))
    scene = Scene((ball,), np.array([-1.0, 0.0]), np.array([3.0, 2.0]), 100)
    _, (axes,) = canvas()
    show(axes, scene)
    (image,) = axes.images
    assert image.get_extent() == [-1.0, 3.0, 0.0, 2.0]
    np.testing.assert_array_equal(image.get_array(), from_above(scene))
    assert (axes.get_xlim(), axes.get_ylim(), axes.get_aspect()) == ((-1.0, 3.0), (0.0, 2.0), 1.0)
