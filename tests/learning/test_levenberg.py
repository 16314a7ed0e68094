"""Levenberg-Marquardt training: its steps, its space, and what it fits."""

import numpy as np
import pytest

from sandlot.learning.levenberg import FIRST, _normal, levenberg_marquardt
from sandlot.learning.shallow_net import pose, span


def train(x, y, nodes, epochs, rng):
    problem = pose(x, y, nodes)
    return problem.net(*levenberg_marquardt(problem, problem.draw(rng), epochs))


def samples(count=200, inputs=6, rank=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (count, rank)) @ rng.standard_normal((rank, inputs))
    return x, np.sin(2.0 * x[:, 0]) + 0.3 * x[:, 1] ** 2


def test_a_step_is_that_of_the_damped_normal_equations_of_all_weights():
    """Though it is computed in the space of the inputs; with a numerical Jacobian."""
    x, y = samples()
    first, second = (train(x, y, 2, epochs, np.random.default_rng(1)) for epochs in (0, 1))
    assert first.rank == 3

    def errors(weights):
        hidden, output = weights[:14].reshape(2, 7), weights[14:]
        return np.tanh(x @ hidden[:, :-1].T + hidden[:, -1]) @ output[:-1] + output[-1] - y

    flat = np.concatenate([first.hidden.ravel(), first.output])
    jacobian = np.array([(errors(flat + h) - errors(flat - h)) / 2e-6 for h in 1e-6 * np.eye(len(flat))]).T
    damping = FIRST
    while True:
        new = flat - np.linalg.solve(jacobian.T @ jacobian + damping * np.eye(len(flat)), jacobian.T @ errors(flat))
        if np.mean(errors(new) ** 2) < np.mean(errors(flat) ** 2):
            break
        damping *= 10.0
    np.testing.assert_allclose(np.concatenate([second.hidden.ravel(), second.output]), new, atol=1e-5)
    assert second.errors[-1] == pytest.approx(np.mean(errors(new) ** 2), rel=1e-5)


def test_it_recovers_a_function_that_a_net_can_be():
    x, _ = samples()
    y = np.tanh(x[:, 0]) - 0.5 * np.tanh(2.0 * x[:, 1] - 0.3)
    made = train(x, y, 4, 100, np.random.default_rng(0))
    assert (np.diff(made.errors) < 0.0).all()
    assert np.mean((made(x) - y) ** 2) == pytest.approx(made.errors[-1], rel=1e-9)
    assert made.errors[-1] < 1e-6 * made.errors[0]


def test_it_ends_when_nothing_lowers_the_error():
    x = np.linspace(-1, 1, 20)[:, None]
    made = train(x, np.zeros(20), 2, 500, np.random.default_rng(0))
    assert made.errors[-1] < 1e-12
    assert len(made.errors) < 500


def test_the_space_of_repeated_inputs_is_small():
    x, _ = samples(inputs=3)
    basis = span(np.concatenate([x, x, np.zeros((200, 4))], axis=1))
    assert basis.shape == (10, 3)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-12)


def test_blocks_of_samples_add_up():
    x, y = samples()
    weights, nodes, error = np.random.default_rng(0).standard_normal(2 * 7 + 3), np.ones((200, 3)), y
    nodes[:, :2] = np.tanh(x[:, :2])
    ones = np.column_stack([x, np.ones(200)])
    for one, other in zip(_normal(weights, ones, nodes, error, 64), _normal(weights, ones, nodes, error), strict=True):
        np.testing.assert_allclose(one, other)
