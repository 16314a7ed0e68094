"""Small feed-forward nets that learn, compiled: forward, backward, and a step of gradient descent or Adam.

Numbers are float32, so that a processor multiplies twice as many in one instruction. Parameters of a net are one array:
for each layer its weights (inputs, neurons) by rows, then its biases (neurons,). Hidden layers are rectified linear,
the last one is linear. Inner loops run along neurons, which changes no order of summation.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.models.dense import Dense, make_dense
from sandlot.typing import Array, IntArray

Floats = NDArray[np.float32]
MEAN_DECAY, SQUARE_DECAY, TINY = 0.9, 0.999, 1e-8
"""Of Adam, as its authors recommend."""


class Work(NamedTuple):
    """Scratch of a net for a batch.

    Attributes:
        values: (layers + 1, rows, widest) inputs, and outputs of each layer.
        errors: (2, rows, widest) derivatives of the loss by the sums of a layer.
        turned: (widest * widest,) weights of a layer, transposed.
        gradient: (parameters,)
    """

    values: Floats
    errors: Floats
    turned: Floats
    gradient: Floats


def make_work(sizes: IntArray, rows: int) -> Work:
    """Scratch for so many rows."""
    widest, layers = int(sizes.max()), len(sizes) - 1
    return Work(
        np.zeros((layers + 1, rows, widest), np.float32),
        np.zeros((2, rows, widest), np.float32),
        np.zeros(widest * widest, np.float32),
        np.zeros(count_parameters(sizes), np.float32),
    )


def count_parameters(sizes: IntArray) -> int:
    """Of a net with these sizes (layers + 1,)."""
    return int((sizes[:-1] * sizes[1:] + sizes[1:]).sum())


def draw_parameters(sizes: IntArray, rng: np.random.Generator) -> Floats:
    """Weights as He et al. (2015) draw them, uniform; biases of 0."""
    parts = []
    for inputs, neurons in zip(sizes[:-1].tolist(), sizes[1:].tolist(), strict=True):
        limit = math.sqrt(6.0 / inputs)
        parts += [rng.uniform(-limit, limit, inputs * neurons), np.zeros(neurons)]
    return np.concatenate(parts).astype(np.float32)


def layers_of(parameters: Floats, sizes: IntArray) -> list[tuple[Array, Array]]:
    """Weights (inputs, neurons) and biases (neurons,) of each layer, as float64."""
    found, at = [], 0
    for inputs, neurons in zip(sizes[:-1].tolist(), sizes[1:].tolist(), strict=True):
        end = at + inputs * neurons
        weights, biases = parameters[at:end].reshape(inputs, neurons), parameters[end : end + neurons]
        found.append((weights.astype(np.float64), biases.astype(np.float64)))
        at = end + neurons
    return found


def as_dense(parameters: Floats, sizes: IntArray, dueling: bool) -> Dense:
    """A net whose outputs are the values of the actions, to be kept and run; a dueling head becomes one layer."""
    layers = layers_of(parameters, sizes)
    if dueling:
        weights, biases = (
            each[..., :1] + each[..., 1:] - each[..., 1:].mean(axis=-1, keepdims=True) for each in layers[-1]
        )
        layers[-1] = weights, biases
    names = ["relu"] * (len(layers) - 1) + ["linear"]
    return make_dense([each for each, _ in layers], [each for _, each in layers], names)


@kernel(error_model="numpy", allocates=False)
def forward(parameters: Floats, sizes: IntArray, rows: int, values: Floats) -> None:
    """Compute the layers of a net.

    Args:
        parameters: Of the net.
        sizes: (layers + 1,) number of inputs, then of the neurons of each layer.
        rows: So many are computed.
        values: (layers + 1, rows or more, widest); ``values[0]`` are the inputs, the others are written.
    """
    at, layers = 0, sizes.shape[0] - 1
    for layer in range(layers):
        inputs, neurons = sizes[layer], sizes[layer + 1]
        end = at + inputs * neurons
        unrolled = inputs // 4 * 4
        for row in range(rows):
            given, sums = values[layer, row], values[layer + 1, row]
            for j in range(neurons):
                sums[j] = parameters[end + j]
            for k in range(0, unrolled, 4):  # four inputs at a time, so that sums are loaded and stored less often
                a, b, c, d = given[k], given[k + 1], given[k + 2], given[k + 3]
                first = at + k * neurons
                one, two = parameters[first : first + neurons], parameters[first + neurons : first + 2 * neurons]
                three = parameters[first + 2 * neurons : first + 3 * neurons]
                four = parameters[first + 3 * neurons : first + 4 * neurons]
                for j in range(neurons):
                    sums[j] = (sums[j] + a * one[j]) + (b * two[j] + c * three[j]) + d * four[j]
            for k in range(unrolled, inputs):
                a, one = given[k], parameters[at + k * neurons : at + (k + 1) * neurons]
                for j in range(neurons):
                    sums[j] += a * one[j]
            if layer < layers - 1:
                for j in range(neurons):
                    sums[j] = max(sums[j], np.float32(0.0))
        at = end + neurons


@kernel(error_model="numpy", allocates=False)
def backward(parameters: Floats, sizes: IntArray, rows: int, work: Work) -> None:
    """Write the gradient of a loss.

    Args:
        parameters: Of the net.
        sizes: (layers + 1,)
        rows: So many were computed by `forward`.
        work: With the values that `forward` wrote, and with ``errors[0]``, the derivative of the loss by each output.
    """
    gradient, layers = work.gradient, sizes.shape[0] - 1
    end, source = parameters.shape[0], 0
    for layer in range(layers - 1, -1, -1):
        inputs, neurons = sizes[layer], sizes[layer + 1]
        first = end - neurons - inputs * neurons
        bias = end - neurons
        for j in range(first, end):
            gradient[j] = np.float32(0.0)
        wrong, before = work.errors[source], work.errors[1 - source]
        for row in range(rows):
            error, given = wrong[row], work.values[layer, row]
            for j in range(neurons):
                gradient[bias + j] += error[j]
            for k in range(inputs):
                value = given[k]
                if value != np.float32(0.0):  # as many are behind a rectifier
                    sums = gradient[first + k * neurons : first + (k + 1) * neurons]
                    for j in range(neurons):
                        sums[j] += value * error[j]
        if layer > 0:
            turned = work.turned
            for k in range(inputs):
                for j in range(neurons):
                    turned[j * inputs + k] = parameters[first + k * neurons + j]
            for row in range(rows):
                error, sums, given = wrong[row], before[row], work.values[layer, row]
                for k in range(inputs):
                    sums[k] = np.float32(0.0)
                for j in range(neurons):
                    value = error[j]
                    if value != np.float32(0.0):
                        weights = turned[j * inputs : (j + 1) * inputs]
                        for k in range(inputs):
                            sums[k] += value * weights[k]
                for k in range(inputs):
                    sums[k] = sums[k] if given[k] > np.float32(0.0) else np.float32(0.0)
        end, source = first, 1 - source


@kernel(error_model="numpy", allocates=False)
def descend(parameters: Floats, gradient: Floats, rate: float) -> None:
    """One step of gradient descent, in place."""
    step = np.float32(rate)
    for k in range(parameters.shape[0]):
        parameters[k] -= step * gradient[k]


@kernel(error_model="numpy", allocates=False)
def adam(parameters: Floats, gradient: Floats, moments: Floats, number: int, rate: float) -> None:
    """One step of Adam (Kingma and Ba 2015), in place.

    Args:
        parameters: (n,)
        gradient: (n,)
        moments: (2, n) means of the gradient and of its square so far.
        number: Of this step, from 1.
        rate: Of learning.
    """
    one, mean_decay, square_decay = np.float32(1.0), np.float32(MEAN_DECAY), np.float32(SQUARE_DECAY)
    correction = math.sqrt(1.0 - SQUARE_DECAY**number)
    step, tiny = np.float32(rate * correction / (1.0 - MEAN_DECAY**number)), np.float32(TINY * correction)
    means, squares = moments[0], moments[1]
    for k in range(parameters.shape[0]):
        slope = gradient[k]
        means[k] = mean_decay * means[k] + (one - mean_decay) * slope
        squares[k] = square_decay * squares[k] + (one - square_decay) * slope * slope
        parameters[k] -= step * means[k] / (np.sqrt(squares[k]) + tiny)
