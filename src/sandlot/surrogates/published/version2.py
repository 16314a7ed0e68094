"""Nets of version 2: 13 hidden layers of 7 tanh nodes, with batch normalisation on each, trained by gradient descent.

What the source leaves to Keras is as there: biases of 0, and for batch normalisation an epsilon of 1e-3 and a momentum
of 0.99. It normalises before the activation. The input layer of the source, which has weights and tanh like all others,
has as many nodes as inputs. A layer has no bias beside that of its normalisation, which would remove it.

Training is a kernel: a step of such small matrices takes far less time than a call of a library for each of them.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.models.dense import Dense, make_dense
from sandlot.typing import Array, IntArray

HIDDEN_LAYERS, WIDTH = 13, 7
FIRST_WEIGHT = 0.05
RATE, DECAY, BATCH = 0.01, 1e-4, 32
EPSILON, MOMENTUM = 1e-3, 0.99
LANES = 8
"""Sums over a batch are made in this many parts, which a processor adds in one instruction."""


class Layers(NamedTuple):
    """Weights of a net, padded to the widest layer; changed in place by training.

    Attributes:
        sizes: (layers + 1,) inputs, then nodes of each layer.
        weights: (layers, WIDTH, WIDTH) from node k of the layer before to node j.
        gains: (layers, WIDTH) of the normalised values.
        offsets: (layers, WIDTH) added to them.
        means: (layers, WIDTH) moving averages, for use after training.
        variances: (layers, WIDTH)
    """

    sizes: IntArray
    weights: Array
    gains: Array
    offsets: Array
    means: Array
    variances: Array


def first_layers(rng: np.random.Generator, inputs: int) -> Layers:
    """An untrained net with one output."""
    sizes = np.array([inputs, inputs, *(HIDDEN_LAYERS * [WIDTH]), 1])
    count, wide = len(sizes) - 1, max(WIDTH, inputs)
    weights = np.zeros((count, wide, wide))
    for k in range(count):
        shape = sizes[k], sizes[k + 1]
        weights[k, : shape[0], : shape[1]] = rng.uniform(-FIRST_WEIGHT, FIRST_WEIGHT, shape)
    zeros, ones = np.zeros((count, wide)), np.ones((count, wide))
    return Layers(sizes, weights, ones.copy(), zeros.copy(), zeros, ones)


@kernel(error_model="numpy", allocates=False, inline="always")
def inner(one: Array, other: Array, count: int, lanes: Array) -> float:
    """Sum of the products of two rows; ``lanes`` (LANES,) is room for its parts. Beyond ``count`` rows hold zeros."""
    for q in range(LANES):
        lanes[q] = 0.0
    for first in range(0, count, LANES):
        for q in range(LANES):
            lanes[q] += one[first + q] * other[first + q]
    total = 0.0
    for q in range(LANES):
        total += lanes[q]
    return total


@kernel(error_model="numpy", nogil=True)
def train_epoch(net: Layers, inputs: Array, targets: Array, order: IntArray) -> float:
    """Train a net with all samples once, in batches.

    Args:
        net: Changed in place.
        inputs: (n, inputs)
        targets: (n,)
        order: (n,) of the samples.

    Returns:
        The mean squared error of the batches, each before its step.
    """
    sizes, layers, wide = net.sizes, len(net.sizes) - 1, net.weights.shape[1]
    values, normal = np.zeros((layers + 1, wide, BATCH)), np.zeros((layers, wide, BATCH))
    back, slope, lanes, ones = np.zeros((wide, BATCH)), np.zeros((wide, BATCH)), np.zeros(LANES), np.ones(BATCH)
    scales, total = np.zeros((layers, wide)), 0.0
    for start in range(0, len(order), BATCH):
        count = min(BATCH, len(order) - start)
        per = 1.0 / count
        if count < BATCH:
            values[:], normal[:], back[:], slope[:], ones[count:] = 0.0, 0.0, 0.0, 0.0, 0.0
        for s in range(count):
            for k in range(sizes[0]):
                values[0, k, s] = inputs[order[start + s], k]
        for layer in range(layers):
            before, after = values[layer], values[layer + 1]
            for j in range(sizes[layer + 1]):
                row, sums = normal[layer, j], after[j]
                for s in range(count):
                    sums[s] = 0.0
                for k in range(sizes[layer]):
                    weight = net.weights[layer, k, j]
                    for s in range(count):
                        sums[s] += weight * before[k, s]
                mean = per * inner(sums, ones, count, lanes)
                for s in range(count):
                    row[s] = sums[s] - mean
                variance = per * inner(row, row, count, lanes)
                scale = 1.0 / np.sqrt(variance + EPSILON)
                scales[layer, j] = scale
                gain, offset = net.gains[layer, j], net.offsets[layer, j]
                for s in range(count):
                    row[s] *= scale
                    sums[s] = np.tanh(gain * row[s] + offset)
                net.means[layer, j] += (1.0 - MOMENTUM) * (mean - net.means[layer, j])
                net.variances[layer, j] += (1.0 - MOMENTUM) * (variance - net.variances[layer, j])
        for s in range(count):
            error = values[layers, 0, s] - targets[order[start + s]]
            total += error * error
            back[0, s] = 2.0 * per * error
        for layer in range(layers - 1, -1, -1):
            before, after = values[layer], values[layer + 1]
            for j in range(sizes[layer + 1]):
                row, part = normal[layer, j], slope[j]
                for s in range(count):
                    part[s] = back[j, s] * (1.0 - after[j, s] * after[j, s])
                by_offset, by_gain = inner(part, ones, count, lanes), inner(part, row, count, lanes)
                factor = net.gains[layer, j] * scales[layer, j]
                for s in range(count):
                    part[s] = factor * (part[s] - per * by_offset - row[s] * (per * by_gain))
                net.offsets[layer, j] -= RATE * by_offset
                net.gains[layer, j] -= RATE * by_gain
            for k in range(sizes[layer]):
                for s in range(count):
                    back[k, s] = 0.0
                for j in range(sizes[layer + 1]):
                    weight, part = net.weights[layer, k, j], slope[j]
                    for s in range(count):
                        back[k, s] += weight * part[s]
                    net.weights[layer, k, j] -= RATE * (inner(before[k], part, count, lanes) + 2.0 * DECAY * weight)
    return total / len(order)


@dataclass(frozen=True, eq=False)
class Fit:
    """A trained net.

    Attributes:
        net: From (n, 4) to (n, 1).
        errors: (epochs,) mean squared error during each epoch.
    """

    net: Dense
    errors: Array


def train(inputs: Array, targets: Array, epochs: int, rng: np.random.Generator) -> Fit:
    """Train a net on inputs (n, 4) and targets (n,); samples are in a new random order in each epoch."""
    net = first_layers(rng, inputs.shape[1])
    errors = [train_epoch(net, inputs, targets, rng.permutation(len(targets))) for _ in range(epochs)]
    return Fit(fold(net), np.array(errors))


def fold(net: Layers) -> Dense:
    """The net without batch normalisation: its moving averages become part of weights and biases."""
    weights, biases, sizes = [], [], net.sizes
    for k in range(len(sizes) - 1):
        mine = slice(0, sizes[k + 1])
        scale = net.gains[k, mine] / np.sqrt(net.variances[k, mine] + EPSILON)
        weights.append(net.weights[k, : sizes[k], mine] * scale)
        biases.append(net.offsets[k, mine] - net.means[k, mine] * scale)
    return make_dense(weights, biases, len(weights) * ["tanh"])
