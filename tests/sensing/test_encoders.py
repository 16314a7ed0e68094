"""Wheel encoders: counts, angles and speeds, and noise and bias of the size that is set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.sensing.encoders import Encoders


def read(encoders, angles, speeds=None):
    rng, angles = np.random.default_rng(0), np.atleast_2d(angles)
    speeds = np.zeros(angles.shape) if speeds is None else np.atleast_2d(speeds)
    return encoders.read(angles, speeds, encoders.draw_bias(len(angles), rng), rng)


def test_three_turns_are_a_thousand_counts():
    angle = 6.0 * np.pi
    reading = read(Encoders(), [[angle + 1e-6, -angle + 1e-6]] * 2, [[3.0, -2.0]] * 2)
    assert reading.counts.tolist() == [[1000, -1000]] * 2
    assert reading.angles == pytest.approx(np.array([[angle, -angle]] * 2))
    assert np.array_equal(reading.speeds, [[3.0, -2.0]] * 2)


@given(st.floats(-100.0, 100.0))
def test_angles_are_whole_counts(angle):
    reading = read(Encoders(resolution=12.0), [angle, 0.0])
    assert -1e-9 <= angle - reading.angles[0, 0] <= 2.0 * np.pi / 12.0 + 1e-9
    assert reading.angles[0, 0] == pytest.approx(reading.counts[0, 0] * np.pi / 6.0)


def test_noise_and_bias():
    encoders, rng = Encoders(speed_noise=0.1, speed_bias=0.5), np.random.default_rng(5)
    bias, still = encoders.draw_bias(1, rng), np.zeros((1, 2))
    speeds = np.array([encoders.read(still, still, bias, rng).speeds for _ in range(2000)])
    assert speeds.std(axis=0) == pytest.approx(0.1, rel=0.08)
    assert speeds.mean(axis=0) == pytest.approx(bias, abs=0.02)
    assert np.std([encoders.draw_bias(1, rng) for _ in range(500)]) == pytest.approx(0.5, rel=0.1)
