"""The terrain net: what it sees, and a step of its training."""

import numpy as np
import pytest

from sandlot.surrogates.published.terrain_net import SIDE, Ridge, Views, crop, grey_values, train


def test_a_window_continues_at_the_opposite_edge():
    grey, window = np.arange(20, dtype=np.uint8).reshape(4, 5), np.zeros((3, 3), np.int16)
    crop(grey, -1, 3, window)
    assert window.tolist() == [[18, 19, 15], [3, 4, 0], [8, 9, 5]]


def test_grey_values():
    assert grey_values(np.array([-1.0, 0.0, 0.1, 0.25, 0.5, 9.0]), 0.0, 0.5).tolist() == [0, 0, 51, 128, 255, 255]


def test_pairs_are_of_successive_frames():
    views = Views(np.arange(3, dtype=np.int16)[:, None, None] * np.ones((1, SIDE, SIDE), np.int16), np.eye(3, 4))
    inputs, targets = views.pairs(np.array([1, 2]))
    assert inputs.shape == (2, 4 + SIDE**2)
    assert inputs[:, 4].tolist() == [0.0, 1.0]
    assert targets[:, 0].tolist() == [1.0, 2.0]
    assert np.array_equal(inputs[:, :4], np.eye(3, 4)[1:])


def test_a_linear_map_finds_a_linear_law():
    """A change decays by half, and its pattern has few dimensions."""
    rng = np.random.default_rng(0)
    pattern = rng.integers(-100, 100, (3, SIDE, SIDE))
    changes = [np.tensordot(rng.normal(size=3), pattern, 1)]
    for _ in range(30):
        fresh = np.tensordot(rng.normal(size=3), pattern, 1) if len(changes) % 5 == 0 else 0.0
        changes.append(0.5 * changes[-1] + fresh)
    views = Views(np.rint(changes).astype(np.int16), np.zeros((31, 4)))
    inputs, targets = views.pairs(np.array([1, 2, 3, 4, 6, 7, 8]))
    found = Ridge([Views(views.changes[:5], views.inputs[:5])]).predict(inputs[:3], 1e-6)
    assert np.abs(found - targets[:3]).max() < 2.0
    stiff = Ridge([views]).predict(inputs, 1e9)
    assert np.abs(stiff - stiff[0]).max() < 0.1, "an infinite penalty gives the mean"


@pytest.mark.slow
def test_the_same_seed_gives_the_same_net():
    rng = np.random.default_rng(0)
    views = Views(rng.integers(-2, 3, (33, SIDE, SIDE)).astype(np.int16), rng.uniform(-1.0, 1.0, (33, 4)))
    one, other = (train([views], 1, 5) for _ in range(2))
    inputs, _ = views.pairs(np.array([1, 2]))
    assert one.errors[0] > 0.0
    assert np.array_equal(one.predict(inputs), other.predict(inputs))
