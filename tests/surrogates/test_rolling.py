"""Predictions one step ahead, several steps ahead and in a free run, against their definition."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lagged_systems import layout, system
from sandlot.surrogates.rolling import FREE, roll
from sandlot.surrogates.terms import Variable
from twins import narmax as twin


@given(
    st.integers(1, 2),
    st.sampled_from([FREE, 1, 2, 3, 7, 50]),
    st.sampled_from([(0, 30), (0, 12, 30), (0, 2, 5, 9, 30)]),
    st.integers(0, 2**32 - 1),
)
def test_roll_equals_its_twin_in_every_segment(inputs, steps, bounds, seed):
    x, y, found, factors, coefficients = system(inputs, seed)
    parts = [slice(*each) for each in itertools.pairwise(bounds)]
    expected = [
        twin.roll(x[part], y[part], found, 3, factors, coefficients, steps)[: part.stop - part.start] for part in parts
    ]
    ours = roll(x, y, layout(found), np.array(bounds), 3, factors, coefficients, steps)
    np.testing.assert_allclose(ours, np.concatenate(expected), rtol=0, atol=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_as_many_steps_as_samples_are_a_free_run(seed):
    x, y, found, factors, coefficients = system(1, seed)
    runs = [roll(x, y, layout(found), np.array([0, 30]), 3, factors, coefficients, steps) for steps in (FREE, 30)]
    np.testing.assert_array_equal(*runs)


def test_a_free_run_uses_only_the_first_outputs():
    x, y, found, factors, coefficients = system(1, 0)
    other = np.where(np.arange(len(y)) < 3, y, np.nan)
    runs = [roll(x, start, layout(found), np.array([0, 30]), 3, factors, coefficients, FREE) for start in (y, other)]
    np.testing.assert_array_equal(*runs)
    assert np.isfinite(runs[0]).all()


def test_one_step_ahead_the_residual_is_measured_minus_predicted():
    found = [Variable("e", "noise", 0, 1)]
    y = np.array([1.0, 2.0, 3.0, 4.0])
    factors, coefficients = np.array([[0]]), np.array([0.5])
    result = roll(np.zeros((4, 1)), y, layout(found), np.array([0, 4]), 1, factors, coefficients, 1)
    assert result.tolist() == [1.0, 0.0, 0.5 * 2.0, 0.5 * (3.0 - 1.0)]
