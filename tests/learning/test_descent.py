"""Training by first-order methods."""

import numpy as np
import pytest

from sandlot.learning import descent
from sandlot.learning.shallow_net import pose

METHODS = (
    descent.fletcher_reeves,
    descent.polak_ribiere,
    descent.powell_beale,
    descent.one_step_secant,
    descent.scaled_conjugate,
    descent.resilient,
    descent.descend_variably,
    descent.descend,
)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (200, 3))
    return pose(x, np.tanh(x[:, 0]) - 0.5 * np.tanh(2.0 * x[:, 1] - 0.3), 4)


def first(problem):
    return problem.draw(np.random.default_rng(1))


def test_the_gradient_is_that_of_the_error(problem):
    weights = first(problem)
    steps = 1e-6 * np.eye(len(weights))
    expected = [(problem.error(weights + h) - problem.error(weights - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(problem.gradient(weights), expected, atol=1e-8)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_every_method_lowers_the_error(problem, method):
    weights, errors = method(problem, first(problem), 60)
    assert len(errors) <= 61
    assert errors[0] == pytest.approx(problem.error(first(problem)))
    assert errors[-1] == pytest.approx(problem.error(weights))
    share = 0.9 if method is descent.descend else 0.5 if method is descent.descend_variably else 0.02
    assert errors[-1] < share * errors[0]


@pytest.mark.parametrize(
    "method", [descent.fletcher_reeves, descent.polak_ribiere, descent.powell_beale], ids=lambda method: method.__name__
)
def test_conjugate_gradients_solve_a_quadratic_in_as_many_searches_as_it_has_weights(method):
    """With exact line searches, which those of a parabola nearly are, all these methods are the same."""
    rng = np.random.default_rng(2)
    root = rng.standard_normal((5, 5))
    matrix, wanted = root @ root.T + np.eye(5), rng.standard_normal(5)

    class Parabola:
        def error(self, w):
            return float(0.5 * (w - wanted) @ matrix @ (w - wanted))

        def gradient(self, w):
            return matrix @ (w - wanted)

    _, errors = method(Parabola(), np.zeros(5), 15)
    assert errors[-1] < 1e-6 * errors[0]


def test_scaled_conjugate_gradients_solve_a_quadratic_too():
    class Parabola:
        def error(self, w):
            return float(0.5 * w @ (w * (1.0, 4.0, 9.0)))

        def gradient(self, w):
            return w * (1.0, 4.0, 9.0)

    _, errors = descent.scaled_conjugate(Parabola(), np.array([3.0, -1.0, 2.0]), 20)
    assert errors[-1] < 1e-6 * errors[0]


def test_momentum_adds_up_steps(problem):
    """Two steps by hand."""
    start = first(problem)
    one = -0.1 * descent.RATE * problem.gradient(start)
    two = 0.9 * one - 0.1 * descent.RATE * problem.gradient(start + one)
    found, _ = descent.descend(problem, start, 2, momentum=0.9)
    np.testing.assert_allclose(found, start + one + two)


def test_a_step_that_raises_the_error_much_is_taken_back(monkeypatch, problem):
    monkeypatch.setattr(descent, "RATE", 1e3)
    weights, errors = descent.descend_variably(problem, first(problem), 1)
    np.testing.assert_array_equal(weights, first(problem))
    assert errors[0] == errors[1]


def test_line_searches_end_where_nothing_leads_down():
    class Flat:
        def error(self, w):
            return 1.0

        def gradient(self, w):
            return np.ones(2)

    _, errors = descent.polak_ribiere(Flat(), np.zeros(2), 50)
    assert errors == [1.0]
