"""Preprocessing as the source prints it, and as it must be meant."""

import numpy as np
import pytest

from sandlot.surrogates.published.motion import INPUTS, TARGETS, Motion
from sandlot.surrogates.published.preprocessing import (
    SMOOTHING,
    Scale,
    Steps,
    inliers,
    moving_average,
    prepare,
    quantise,
    smooth_exponentially,
)


def some_motion(frames=1000, seed=0):
    rng = np.random.default_rng(seed)
    return Motion(rng.normal(0.0, 0.1, (frames, len(INPUTS) + len(TARGETS))), np.ones(frames))


def set_column(motion, name, frame, value):
    motion.values[frame, (*INPUTS, *TARGETS).index(name)] = value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *[(-1.0, -0.8), (-0.9, -0.8), (-0.8, -0.8), (-0.79, -0.6), (-0.6, -0.6), (-0.3, -0.2), (-0.2, -0.2)],
        *[(-0.19, 0.0), (0.0, 0.0), (0.19, 0.0), (0.2, 0.2), (0.39, 0.2), (0.4, 0.4), (0.6, 0.6), (0.79, 0.6)],
        *[(0.8, 0.8), (0.99, 0.8), (1.0, 0.8)],
    ],
)
def test_quantisation_is_that_of_the_printed_table(value, expected):
    assert quantise(np.array([value]))[0] == pytest.approx(expected)


def test_normalisation_maps_to_minus_one_and_one_wherever_the_range_lies():
    values = np.column_stack([np.linspace(low, low + 4.0, 5) for low in (-4.0, -1.0, 0.0, 7.0, 1.0, 2.0, 3.0, 0.0)])
    scale = Scale.of(values)
    assert scale.apply(values)[[0, 2, 4]] == pytest.approx(np.repeat([[-1.0], [0.0], [1.0]], 8, axis=1))
    assert scale.restore(scale.apply(values)[:, 4], "speed") == pytest.approx(values[:, 4])


def test_a_constant_column_becomes_zero():
    values = np.ones((5, 8))
    assert not Scale.of(values).apply(values).any()


@pytest.mark.parametrize(
    ("name", "value"), [("dyaw", 0.26), ("dyaw", -0.26), ("pitch", 1.23), ("roll", -1.23), ("speed", 5.0)]
)
def test_version_1_removes_outliers(name, value):
    motion = some_motion()
    motion.values[:] *= 0.1
    set_column(motion, "speed", slice(None), 0.5)
    assert inliers(motion, 1).all()
    set_column(motion, name, 7, value)
    assert np.flatnonzero(~inliers(motion, 1)).tolist() == [7]


def test_version_1_keeps_slow_frames():
    motion = some_motion()
    set_column(motion, "speed", slice(None), 0.5)
    set_column(motion, "speed", 7, -5.0)
    assert inliers(motion, 1)[7]


@pytest.mark.parametrize("name", ["dx", "dy"])
def test_version_2_removes_what_is_three_deviations_off(name):
    motion = some_motion()
    set_column(motion, "dx", slice(None), np.tile([-1.0, 1.0], 500))
    set_column(motion, "dy", slice(None), np.tile([-1.0, 1.0], 500))
    assert inliers(motion, 2).all()
    set_column(motion, name, 7, -4.0)
    assert np.flatnonzero(~inliers(motion, 2)).tolist() == [7]


def test_smoothing():
    step = np.repeat([[0.0], [1.0]], 500, axis=0)
    slow = smooth_exponentially(step)
    assert slow[:500].max() == 0.0
    assert slow[500:503, 0] == pytest.approx([SMOOTHING, 1 - 0.9**2, 1 - 0.9**3])
    wide = moving_average(step)
    assert wide[300:375].max() == pytest.approx(0.0, abs=1e-12)
    assert wide[625:800].min() == pytest.approx(1.0)
    assert np.diff(wide[380:620, 0]) == pytest.approx(np.full(239, 1.0 / 250))


def test_steps_come_in_the_order_of_their_version():
    motion = some_motion()
    (one,), _, scale = prepare([motion], Steps(1, outliers=False))
    (two,), _, _ = prepare([motion], Steps(2, outliers=False))
    scaled = scale.apply(motion.values)
    assert np.array_equal(one, smooth_exponentially(quantise(scaled)))
    assert np.array_equal(two, quantise(moving_average(scaled)))


@pytest.mark.parametrize("version", [1, 2])
def test_each_step_can_be_switched_off(version):
    motion = some_motion()
    (everything,), (kept,), _ = prepare([motion], Steps(version))
    assert len(everything) == kept.sum() < len(motion.values)
    assert len(prepare([motion], Steps(version).without("outliers"))[0][0]) == len(motion.values)
    for step in ("quantise", "smooth"):
        assert not np.array_equal(prepare([motion], Steps(version).without(step))[0][0], everything)
    none = Steps(version).without("outliers").without("quantise").without("smooth")
    (plain,), _, scale = prepare([motion], none)
    assert np.array_equal(plain, scale.apply(motion.values))


def test_the_testing_set_has_the_scale_of_the_training_set():
    first, second = some_motion(), some_motion(seed=1)
    _, _, scale = prepare([first], Steps(2))
    (found,), _, same = prepare([second], Steps(2).without("smooth").without("quantise").without("outliers"), scale)
    assert same is scale
    assert np.array_equal(found, scale.apply(second.values))
