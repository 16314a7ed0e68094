"""The scale has the right length; caption and legend are below the picture."""

import numpy as np
import pytest

from sandlot.worlds.labels import MARGIN, PAPER, add_scale, label
from sandlot.worlds.scene import EDGE

PLAIN = np.full((101, 201, 3), 200, np.uint8)


def test_caption_and_legend_are_below_the_picture():
    red = (255, 0, 0)
    whole = label(PLAIN, "12.0 s", (("robot", red),))
    assert whole.shape[0] % 2 == whole.shape[1] % 2 == 0
    np.testing.assert_array_equal(whole[:101, :201], PLAIN)
    assert (whole[101:] == red).all(axis=2).any()
    assert (whole[101:] == PAPER).all(axis=2).any()


def test_a_long_legend_is_broken_into_lines():
    legend = tuple((f"something {k}", (10 * k, 0, 0)) for k in range(8))
    assert label(PLAIN, "", legend).shape[0] > label(PLAIN, "", legend[:1]).shape[0] + 40


def test_without_text_only_the_sides_become_even():
    assert label(PLAIN, "", ()).shape == (102, 202, 3)


@pytest.mark.parametrize(("per_metre", "length"), [(20.0, 2.0), (3.0, 10.0), (410.0, 0.05)])
def test_the_scale_is_a_round_length(per_metre, length):
    picture = add_scale(PLAIN, per_metre)
    (columns,) = np.nonzero((picture[101 - MARGIN] == EDGE).all(axis=1))
    assert columns.max() - columns.min() == pytest.approx(length * per_metre, abs=2.0)
