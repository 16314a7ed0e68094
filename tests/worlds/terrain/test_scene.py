"""Colours of the ground."""

import numpy as np

from sandlot.worlds.scene import RUT, SOIL_HIGH, SOIL_LOW, blend
from sandlot.worlds.terrain.scene import DEEP, TINTS, extremes, shade


def plain_colours(heights, initial):
    """The twin of the kernel, with whole arrays."""
    relief = blend(SOIL_LOW, SOIL_HIGH, (heights - heights.min()) / np.ptp(heights))
    rut = np.clip((initial - heights) / DEEP, 0.0, 0.7)[..., None]
    return (relief * (1.0 - rut) + np.array(RUT) * rut).astype(np.uint8)


def test_the_kernel_colours_as_its_twin():
    rng = np.random.default_rng(0)
    heights = 0.1 * rng.normal(size=(40, 30))
    initial = heights + 0.01 * rng.normal(size=heights.shape)
    colours = np.empty((40, 30, 3), np.uint8)
    shade(heights, initial, float(heights.min()), float(np.ptp(heights)), TINTS, colours)
    np.testing.assert_array_equal(colours, plain_colours(heights, initial))


def test_extremes_of_heights_and_ruts():
    rng = np.random.default_rng(1)
    heights, initial = rng.normal(size=(2, 40, 30))
    expected = heights.min(), heights.max(), (initial - heights).max()
    np.testing.assert_array_equal(extremes(heights, initial), expected)
