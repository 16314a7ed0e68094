"""Circles fitted to paths, and which paths are circles."""

import numpy as np
import pytest

from sandlot.studies.water.circles import fit_circle


def around(turns, points=60, radius=7.0):
    angles = np.linspace(0.3, 0.3 + 2.0 * np.pi * turns, points)
    return np.array([3.0, -4.0]) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


@pytest.mark.parametrize("turns", [1.5, -3.2, 0.4])
def test_a_circle_is_found(turns):
    circle = fit_circle(around(turns))
    np.testing.assert_allclose(circle.middle, [3.0, -4.0], atol=1e-9)
    assert circle.radius == pytest.approx(7.0)
    assert circle.turns == pytest.approx(abs(turns))
    assert circle.spread < 1e-9
    assert circle.swum is (abs(turns) >= 1.0)


def test_small_waves_do_not_matter_but_a_spiral_is_no_circle():
    rng = np.random.default_rng(0)
    assert fit_circle(around(2.0) + rng.normal(0.0, 0.3, (60, 2))).swum
    assert not fit_circle(around(2.0, radius=np.linspace(3.0, 9.0, 60)[:, None])).swum


def test_a_straight_path_is_no_circle():
    assert not fit_circle(np.linspace([0.0, 0.0], [50.0, 1.0], 40)).swum
