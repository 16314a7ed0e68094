"""Nets of version 1: 4 inputs, 20 hidden nodes, one output, trained by iRPROP- (Igel and Huesken 2000).

The source's learning rates are left out: iRPROP- has none.
"""

from dataclasses import dataclass

import numpy as np

from sandlot.models.dense import Dense, make_dense
from sandlot.typing import Array

NODES = 20
STEEPNESS = 0.25
"""The printed activation, (1 - exp(-0.5 x)) / (1 + exp(-0.5 x)), is tanh(0.25 x)."""
FIRST, LONGER, SHORTER, LONGEST = 0.1, 1.2, 0.5, 50.0
"""First step of a weight, its factors while the gradient keeps or changes its sign, and the longest, as in FANN."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A trained net.

    Attributes:
        net: From (n, 4) to (n, 1).
        errors: (epochs + 1, 2) mean squared error of the training and of the testing set, before training and after
            each epoch.
        best: The epoch whose weights were kept: that with the least error of the testing set, as in the source. So the
            testing set has a part in the training.
    """

    net: Dense
    errors: Array
    best: int


def first_weights(rng: np.random.Generator, inputs: int) -> tuple[Array, Array]:
    """Normalised initialisation: weights of hidden nodes (inputs + 1, 20) and of the output (21, 1), biases last."""
    hidden, output = np.sqrt(6.0 / (inputs + NODES)), np.sqrt(6.0 / (NODES + 1))
    return rng.uniform(-hidden, hidden, (inputs + 1, NODES)), rng.uniform(-output, output, (NODES + 1, 1))


def run(weights: tuple[Array, Array], inputs: Array) -> tuple[Array, Array]:
    """Values of the hidden nodes (n, 20) and of the output (n,) for inputs (n, inputs)."""
    hidden, output = weights
    values = np.tanh(STEEPNESS * (inputs @ hidden[:-1] + hidden[-1]))
    return values, np.tanh(STEEPNESS * (values @ output[:-1] + output[-1]))[:, 0]


def gradient(weights: tuple[Array, Array], inputs: Array, targets: Array) -> tuple[float, tuple[Array, Array]]:
    """The mean squared error, and its gradient by the weights."""
    hidden, found = run(weights, inputs)
    difference = found - targets
    back = (2.0 / len(targets) * STEEPNESS) * difference * (1.0 - found**2)
    inner = STEEPNESS * back[:, None] * weights[1][:-1, 0] * (1.0 - hidden**2)
    by_output = np.concatenate([hidden.T @ back, [back.sum()]])[:, None]
    by_hidden = np.concatenate([inputs.T @ inner, inner.sum(axis=0)[None]])
    return float(np.mean(difference**2)), (by_hidden, by_output)


def train(
    inputs: Array, targets: Array, test_inputs: Array, test_targets: Array, epochs: int, rng: np.random.Generator
) -> Fit:
    """Train a net with all samples at once.

    Args:
        inputs: (n, inputs)
        targets: (n,)
        test_inputs: (m, inputs), to choose the epoch.
        test_targets: (m,)
        epochs: Number of steps.
        rng: For the first weights.
    """
    weights = first_weights(rng, inputs.shape[1])
    lengths, before = [np.full(each.shape, FIRST) for each in weights], [np.zeros_like(each) for each in weights]
    errors, best, kept = np.zeros((epochs + 1, 2)), 0, weights
    for epoch in range(epochs + 1):
        errors[epoch, 0], slopes = gradient(weights, inputs, targets)
        errors[epoch, 1] = np.mean((run(weights, test_inputs)[1] - test_targets) ** 2)
        if errors[epoch, 1] <= errors[best, 1]:
            best, kept = epoch, weights
        stepped = []
        for k, slope in enumerate(slopes):
            same = slope * before[k]
            factor = np.where(same > 0.0, LONGER, np.where(same < 0.0, SHORTER, 1.0))
            lengths[k] = np.minimum(lengths[k] * factor, LONGEST)
            # The minus in its name: after a change of sign the weight stays, and so does its length in the next step.
            before[k] = np.where(same < 0.0, 0.0, slope)
            stepped.append(weights[k] - np.sign(before[k]) * lengths[k])
        weights = stepped[0], stepped[1]
    layers = [STEEPNESS * each[:-1] for each in kept]
    return Fit(make_dense(layers, [STEEPNESS * each[-1] for each in kept], ["tanh", "tanh"]), errors, best)
