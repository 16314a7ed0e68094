"""The published nets: gradients are right, training is that of the source, and both learn."""

import numpy as np
import pytest
from numba import config

from sandlot.models.dense import forward
from sandlot.surrogates.published import version1, version2
from sandlot.surrogates.published.version2 import BATCH, DECAY, EPSILON, MOMENTUM, RATE


def samples(count, seed=0):
    inputs = np.random.default_rng(seed).uniform(-1.0, 1.0, (count, 4))
    return inputs, 0.5 * np.tanh(inputs[:, 0] - inputs[:, 1] + 0.5 * inputs[:, 2] * inputs[:, 3])


def test_first_weights_of_version_1_are_normalised():
    hidden, output = version1.first_weights(np.random.default_rng(0), 4)
    assert hidden.shape == (5, 20)
    assert output.shape == (21, 1)
    assert 0.45 < np.abs(hidden).max() <= 0.5
    assert np.abs(output).max() <= np.sqrt(6.0 / 21.0)


def test_the_activation_is_the_printed_one():
    weights = np.zeros((5, 20)), np.zeros((21, 1))
    weights[0][-1], weights[1][-1] = 3.0, -2.0
    hidden, output = version1.run(weights, np.zeros((1, 4)))
    assert hidden[0] == pytest.approx((1.0 - np.exp(-1.5)) / (1.0 + np.exp(-1.5)))
    assert output[0] == pytest.approx((1.0 - np.exp(1.0)) / (1.0 + np.exp(1.0)))


def test_gradient_of_version_1_is_that_of_differences():
    weights, (inputs, targets) = version1.first_weights(np.random.default_rng(1), 4), samples(50)
    error, slopes = version1.gradient(weights, inputs, targets)
    assert error == pytest.approx(np.mean((version1.run(weights, inputs)[1] - targets) ** 2))
    for each, slope in zip(weights, slopes, strict=True):
        for place in [(0, 0), (each.shape[0] - 1, each.shape[1] - 1)]:
            each[place] += 1e-6
            above = version1.gradient(weights, inputs, targets)[0]
            each[place] -= 2e-6
            below = version1.gradient(weights, inputs, targets)[0]
            each[place] += 1e-6
            assert slope[place] == pytest.approx((above - below) / 2e-6, rel=1e-4, abs=1e-9)


def test_version_1_learns_and_keeps_the_epoch_that_tests_best():
    inputs, targets = samples(400)
    test_inputs, test_targets = samples(200, seed=1)
    fit = version1.train(inputs, targets, test_inputs, test_targets, 200, np.random.default_rng(0))
    assert fit.errors.shape == (201, 2)
    assert fit.best == np.argmin(fit.errors[:, 1])
    found = np.mean((forward(fit.net, test_inputs)[:, 0] - test_targets) ** 2)
    assert found == pytest.approx(fit.errors[fit.best, 1])
    assert found < 0.05 * fit.errors[0, 1]


def test_a_weight_stays_after_its_gradient_changed_its_sign():
    """One weight alone, on a parabola: minus 0.1, minus 0.12 beyond the middle, stay, then back by half that."""
    seen = []

    def parabola(weights, inputs, targets):
        seen.append(weights[0][0, 0])
        return 0.0, (2.0 * weights[0], np.zeros_like(weights[1]))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(version1, "gradient", parabola)
        patched.setattr(version1, "first_weights", lambda rng, inputs: (np.full((5, 20), 0.15), np.zeros((21, 1))))
        version1.train(*samples(4), *samples(4), 4, np.random.default_rng(0))
    assert seen == pytest.approx([0.15, 0.05, -0.07, -0.07, -0.01])


def twin_epoch(net, inputs, targets, order):
    """`version2.train_epoch` with NumPy."""
    layers = range(len(net.sizes) - 1)
    for first in range(0, len(order), BATCH):
        mine = order[first : first + BATCH]
        values, kept = [inputs[mine]], []
        for k in layers:
            rows, columns = net.sizes[k], net.sizes[k + 1]
            sums = values[-1] @ net.weights[k, :rows, :columns]
            mean, variance = sums.mean(axis=0), sums.var(axis=0)
            normal = (sums - mean) / np.sqrt(variance + EPSILON)
            values.append(np.tanh(net.gains[k, :columns] * normal + net.offsets[k, :columns]))
            kept.append((normal, variance))
            net.means[k, :columns] = MOMENTUM * net.means[k, :columns] + (1.0 - MOMENTUM) * mean
            net.variances[k, :columns] = MOMENTUM * net.variances[k, :columns] + (1.0 - MOMENTUM) * variance
        back = 2.0 / len(mine) * (values[-1] - targets[mine, None])
        for k in reversed(layers):
            rows, columns = net.sizes[k], net.sizes[k + 1]
            (normal, variance), weights = kept[k], net.weights[k, :rows, :columns]
            back = back * (1.0 - values[k + 1] ** 2)
            by_gain, by_offset = (back * normal).sum(axis=0), back.sum(axis=0)
            scaled = back * net.gains[k, :columns]
            back = (scaled - scaled.mean(axis=0) - normal * (scaled * normal).mean(axis=0)) / np.sqrt(
                variance + EPSILON
            )
            by_weights = values[k].T @ back + 2.0 * DECAY * weights
            back = back @ weights.T
            weights -= RATE * by_weights
            net.gains[k, :columns] -= RATE * by_gain
            net.offsets[k, :columns] -= RATE * by_offset


@pytest.mark.parametrize("count", [64, 75])
def test_an_epoch_of_version_2_is_that_of_its_twin(count):
    inputs, targets = samples(count)
    one, other = (version2.first_layers(np.random.default_rng(2), 4) for _ in range(2))
    assert np.abs(one.weights).max() <= 0.05
    order = np.random.default_rng(3).permutation(count)
    version2.train_epoch(one, inputs, targets, order)
    twin_epoch(other, inputs, targets, order)
    for name in ("weights", "gains", "offsets", "means", "variances"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-10), name


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="takes minutes without compiled kernels")
def test_version_2_learns():
    inputs, targets = samples(3000)
    fit = version2.train(inputs, targets, 25, np.random.default_rng(0))
    assert fit.net.sizes.tolist() == [4, 4, *(13 * [7]), 1]
    assert fit.errors[-1] < 0.3 * fit.errors[0]


def test_a_folded_net_is_one_with_batch_normalisation_by_moving_averages():
    inputs, targets = samples(96)
    net = version2.first_layers(np.random.default_rng(0), 4)
    version2.train_epoch(net, inputs, targets, np.arange(96))
    values = inputs
    for k in range(len(net.sizes) - 1):
        mine = slice(0, net.sizes[k + 1])
        sums = values @ net.weights[k, : net.sizes[k], mine]
        normal = (sums - net.means[k, mine]) / np.sqrt(net.variances[k, mine] + EPSILON)
        values = np.tanh(net.gains[k, mine] * normal + net.offsets[k, mine])
    assert forward(version2.fold(net), inputs) == pytest.approx(values, abs=1e-12)
