import itertools
import math
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lagged_systems import layout, system
from sandlot.surrogates.terms import (
    NONE,
    Variable,
    design,
    evaluate,
    extent,
    finite,
    lagged,
    monomials,
    prepare,
    variables,
    wide,
)
from twins import narmax as twin

SEEDS = st.integers(0, 2**32 - 1)
CASES = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 2**32 - 1))


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_the_number_of_monomials_is_binomial(count, degree):
    found = monomials(count, degree)
    assert found.shape == (comb(count + degree, degree), degree)
    powers = {tuple(int((term == v).sum()) for v in range(count)) for term in found}
    assert powers == twin.exponents(count, degree)
    assert (found[0] == NONE).all()


def test_variables_come_outputs_first_and_residuals_last():
    assert variables(["a", "b"], [(0, 1), (0,)], (2,), (1,)) == [
        Variable("y", "output", 0, 2),
        Variable("a", "input", 0, 0),
        Variable("a", "input", 0, 1),
        Variable("b", "input", 1, 0),
        Variable("e", "noise", 0, 1),
    ]


@given(CASES)
def test_design_is_the_product_of_factors(case):
    count, degree, seed = case
    values, factors = np.random.default_rng(seed).normal(size=(7, count)), monomials(count, degree)
    found = design(np.ascontiguousarray(values.T), factors)
    assert found.shape[1] == wide(7) == 8
    np.testing.assert_allclose(found[:, :7], twin.products(values, factors), rtol=1e-14)
    assert not found[:, 7:].any()


@given(CASES)
def test_a_polynomial_is_the_sum_of_its_terms(case):
    count, degree, seed = case
    rng = np.random.default_rng(seed)
    values, factors = rng.normal(size=(7, count)), monomials(count, degree)
    coefficients = rng.normal(size=len(factors))
    expected = coefficients @ twin.products(values, factors)
    np.testing.assert_allclose(evaluate(values, factors, coefficients), expected, rtol=1e-12, atol=1e-13)


@given(st.integers(1, 2), st.sampled_from([(0, 30), (0, 12, 30), (0, 2, 5, 9, 30)]), st.integers(0, 2**32 - 1))
def test_lagged_variables_are_shifted_series_within_each_segment(inputs, bounds, seed):
    x, y, found, *_ = system(inputs, seed)
    e = np.random.default_rng(seed).normal(size=len(y))
    parts = [slice(*each) for each in itertools.pairwise(bounds) if each[1] - each[0] > 3]
    expected = np.concatenate([twin.lagged(x[part], y[part], e[part], found, 3) for part in parts])
    series, edges = np.ascontiguousarray(x.T), np.array(bounds)
    np.testing.assert_array_equal(lagged(series, y, e, layout(found), edges, 3), expected.T)
    factors = monomials(len(found), 2)
    rows, most = prepare(series, y, e, layout(found), edges, 3, factors)
    np.testing.assert_array_equal(rows, design(np.ascontiguousarray(expected.T), factors))
    assert np.abs(rows).max() <= most == max(np.abs(expected).max(), 1.0) ** 2


@given(st.integers(1, 40), st.sampled_from([0.0, 1e308, -1e308, math.inf, -math.inf, math.nan]), SEEDS)
def test_finite_finds_nan_and_infinity(count, value, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=count)
    values[rng.integers(count)] = value
    assert finite(values) == np.isfinite(values).all()
    if finite(values):
        assert extent(values) == (values.min(), values.max())
