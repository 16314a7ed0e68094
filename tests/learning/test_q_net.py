"""Nets that learn, against the same in NumPy."""

import numpy as np
import pytest

from sandlot.learning.q_net import adam, as_dense, backward, descend, draw_parameters, forward, layers_of, make_work
from sandlot.models.dense import forward as forward_dense

SIZES = np.array([5, 7, 6, 4])


def twin(parameters, rows):
    """Values of every layer, in float64."""
    values = [rows]
    layers = layers_of(parameters, SIZES)
    for k, (weights, biases) in enumerate(layers):
        sums = values[-1] @ weights + biases
        values.append(np.maximum(sums, 0.0) if k < len(layers) - 1 else sums)
    return values


def gradient(parameters, rows, errors):
    """Of the loss whose derivative by the outputs is given."""
    values, layers = twin(parameters, rows), layers_of(parameters, SIZES)
    found = []
    for k in reversed(range(len(layers))):
        found = [(values[k].T @ errors).ravel(), errors.sum(axis=0), *found]
        errors = (errors @ layers[k][0].T) * (values[k] > 0.0)
    return np.concatenate(found)


@pytest.fixture
def net():
    rng = np.random.default_rng(0)
    parameters = draw_parameters(SIZES, rng)
    parameters += rng.normal(0.0, 0.1, len(parameters)).astype(np.float32)
    work = make_work(SIZES, 9)
    work.values[0, :, :5] = rng.normal(size=(9, 5))
    forward(parameters, SIZES, 9, work.values)
    return parameters, work, rng


def test_forward(net):
    parameters, work, _ = net
    expected = twin(parameters, work.values[0, :, :5].astype(np.float64))
    for k, values in enumerate(expected):
        np.testing.assert_allclose(work.values[k, :, : SIZES[k]], values, rtol=1e-4, atol=1e-5)


def test_backward(net):
    parameters, work, rng = net
    errors = rng.normal(size=(9, 4)).astype(np.float32)
    work.errors[0, :, :4] = errors
    backward(parameters, SIZES, 9, work)
    expected = gradient(parameters, work.values[0, :, :5].astype(np.float64), errors.astype(np.float64))
    np.testing.assert_allclose(work.gradient, expected, rtol=1e-3, atol=1e-4)


def test_steps_of_descent_and_adam(net):
    parameters, _, rng = net
    slope = rng.normal(size=len(parameters)).astype(np.float32)
    went = parameters.copy()
    descend(went, slope, 0.1)
    np.testing.assert_allclose(went, parameters - 0.1 * slope, rtol=1e-5, atol=1e-6)
    went, moments, mean, square = parameters.copy(), np.zeros((2, len(slope)), np.float32), 0.0, 0.0
    expected = parameters.astype(np.float64)
    for number in (1, 2, 3):
        adam(went, slope, moments, number, 0.01)
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope.astype(np.float64) ** 2
        expected -= 0.01 * (mean / (1 - 0.9**number)) / (np.sqrt(square / (1 - 0.999**number)) + 1e-8)
    np.testing.assert_allclose(went, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("dueling", [False, True])
def test_a_net_to_be_kept_gives_the_same_values(net, dueling):
    parameters, work, _ = net
    rows, outputs = work.values[0, :, :5].astype(np.float64), work.values[3, :, :4].astype(np.float64)
    expected = outputs[:, :1] + outputs[:, 1:] - outputs[:, 1:].mean(axis=1, keepdims=True) if dueling else outputs
    np.testing.assert_allclose(forward_dense(as_dense(parameters, SIZES, dueling), rows), expected, atol=1e-5)
