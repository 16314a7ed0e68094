import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sandlot.surrogates.orthogonal import bic, coefficients, errors, forward, solve, take
from sandlot.surrogates.terms import wide
from twins import narmax as twin

SEEDS = st.integers(0, 2**32 - 1)


def problem(seed, terms=8, samples=40, noise=0.3):
    """Correlated terms, and an output that some of them explain."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(terms, samples)) * rng.uniform(0.1, 10.0, (terms, 1))
    rows[1:] += 0.5 * rows[:-1]
    return rows, rng.normal(size=terms) * (rng.random(terms) < 0.5) @ rows + noise * rng.normal(size=samples)


def solved(rows, output):
    """Least squares by NumPy: coefficients and residual energy."""
    found = np.linalg.lstsq(rows.T, output, rcond=None)[0]
    return found, ((output - found @ rows) ** 2).sum()


@given(SEEDS, st.integers(1, 8), st.integers(0, 3))
def test_order_and_error_reduction_equal_the_gram_schmidt_twin(seed, max_terms, forced):
    rows, output = problem(seed)
    order, err = twin.forward(rows, output, max_terms, min(forced, max_terms))
    path = forward(rows, output, max_terms, forced)
    assert path.order.tolist() == order
    np.testing.assert_allclose(path.err, err, rtol=1e-9, atol=1e-13)


@given(SEEDS, st.integers(1, 8))
def test_error_reduction_ratios_add_up_to_the_explained_share_of_least_squares(seed, max_terms):
    rows, output = problem(seed)
    path = forward(rows, output, max_terms)
    _, left = solved(rows[path.order], output)
    assert 1.0 - path.err.sum() == pytest.approx(left / (output @ output), rel=1e-9, abs=1e-13)
    assert path.energy == pytest.approx(output @ output)


@given(SEEDS, st.integers(1, 8))
def test_coefficients_and_standard_errors_equal_the_textbook_formulas(seed, count):
    rows, output = problem(seed)
    path = forward(rows, output, 8)
    taken = rows[path.order[:count]]
    found, left = solved(taken, output)
    np.testing.assert_allclose(coefficients(path, count), found, rtol=1e-8, atol=1e-12)
    variance = left / (output.size - count) * np.linalg.inv(taken @ taken.T)
    np.testing.assert_allclose(errors(path, count, output.size), np.sqrt(np.diag(variance)), rtol=1e-6)


@given(SEEDS, st.integers(1, 8), st.integers(33, 48))
def test_rows_are_made_orthogonal_in_place_and_give_residuals(seed, count, samples):
    rows, output = problem(seed, samples=samples)
    work = np.zeros((8, wide(samples)))
    work[:, :samples] = rows
    path = take(work, output, 8, 0)
    basis = work[path.order] / np.sqrt(path.norms)[:, None]
    np.testing.assert_allclose(basis @ basis.T, np.eye(8), atol=1e-13)
    found, wrong, rest = solve(path, work, count)
    np.testing.assert_array_equal(found, coefficients(path, count))
    np.testing.assert_array_equal(wrong, errors(path, count, samples))
    np.testing.assert_allclose(rest, output - found @ rows[path.order[:count]], rtol=0, atol=1e-10)


def test_standard_errors_equal_the_scatter_of_coefficients():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3, 50))
    rows[1] += rows[0]
    repeats = [forward(rows, np.ones(3) @ rows + rng.normal(size=50), 3, 3) for _ in range(400)]
    scatter = np.std([coefficients(path, 3) for path in repeats], axis=0)
    told = np.mean([errors(path, 3, 50) for path in repeats], axis=0)
    np.testing.assert_allclose(told, scatter, rtol=0.15)


def test_forced_terms_are_selected_before_better_ones():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(4, 60))
    output = 3.0 * rows[3] + 0.1 * rng.normal(size=60)
    assert forward(rows, output, 3).order[0] == 3
    assert forward(rows, output, 3, 2).order.tolist() == [0, 1, 3]


@given(SEEDS)
def test_collinear_terms_are_left_out(seed):
    rows, output = problem(seed, 5)
    rows = np.vstack([rows, rows[0] - 2.0 * rows[1], np.zeros_like(output)])
    path = forward(rows, output, 7)
    assert path.order.size == 5
    assert path.collinear == 2
    assert 6 not in path.order
    assert np.abs(coefficients(path, 5)).max() < 1e3


def test_a_collinear_forced_term_is_left_out():
    rows, output = problem(0, 4)
    rows[1] = 3.0 * rows[0]
    path = forward(rows, output, 4, 3)
    assert path.order.tolist() == [0, 2, 3]
    assert path.collinear == 1


def test_no_more_terms_than_samples():
    rows, output = problem(0, 8, 5)
    path = forward(rows, output, 8)
    assert path.order.size == 5
    assert path.err.sum() == pytest.approx(1.0)


def test_a_zero_output_has_no_energy_to_explain():
    rows, output = problem(0)
    path = forward(rows, 0.0 * output, 3)
    assert path.err.tolist() == [0.0, 0.0, 0.0]
    assert coefficients(path, 3).tolist() == [0.0, 0.0, 0.0]


def test_arguments_are_not_changed():
    rows, output = problem(0)
    before = rows.copy(), output.copy()
    forward(rows, output, 8)
    np.testing.assert_array_equal(rows, before[0])
    np.testing.assert_array_equal(output, before[1])


@given(SEEDS)
def test_bic_equals_its_formula(seed):
    rows, output = problem(seed)
    path = forward(rows, output, 8)
    samples = output.size
    assume(path.err.sum() < 1.0 - 1e-6)
    for k, value in enumerate(bic(path, samples), 1):
        _, left = solved(rows[path.order[:k]], output)
        assert value == pytest.approx(samples * np.log(left / path.energy) + k * np.log(samples), abs=1e-5)
