"""Feed-forward neural nets, compiled: all rows of a batch in one call."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import ModelError
from sandlot.kernels import kernel
from sandlot.models.card import Card
from sandlot.models.store import Model, load, save
from sandlot.typing import Array, IntArray

ACTIVATIONS = ("linear", "relu", "tanh", "logistic", "softsign")
LINEAR, RELU, TANH, LOGISTIC, SOFTSIGN = range(5)
MAX_LAYERS = 1000
Floats = NDArray[np.floating[Any]]
"""Arrays of 64-bit or 32-bit floats."""
BLOCK = 64
"""Rows that are computed together: a processor multiplies several of them in one instruction."""


class Dense(NamedTuple):
    """A net as its kernel takes it.

    Attributes:
        sizes: (layers + 1,) number of inputs, then of the neurons of each layer.
        activations: (layers,) index into `ACTIVATIONS`.
        weights: (sum of inputs * neurons,) of all layers, one after the other, each (inputs, neurons) by rows.
        biases: (neurons,) of all layers, one after the other.
    """

    sizes: IntArray
    activations: IntArray
    weights: Floats
    biases: Floats


def make_dense(weights: Sequence[Array], biases: Sequence[Array], activations: Sequence[str]) -> Dense:
    """A net from its layers.

    Args:
        weights: (inputs, neurons) of each layer.
        biases: (neurons,) of each layer.
        activations: Of each layer, one of `ACTIVATIONS`.

    Raises:
        ModelError: If the layers do not fit together.
    """
    if not 1 <= len(weights) == len(biases) == len(activations) <= MAX_LAYERS:
        raise ModelError("a net needs weights, biases and an activation for each of its layers")
    sizes = [weights[0].shape[0], *(len(each) for each in biases)]
    for k, (weight, activation) in enumerate(zip(weights, activations, strict=True)):
        if weight.shape != (sizes[k], sizes[k + 1]) or 0 in weight.shape:
            raise ModelError(f"weights of layer {k} have shape {weight.shape}; expected ({sizes[k]}, {sizes[k + 1]})")
        if activation not in ACTIVATIONS:
            raise ModelError(f"activation={activation} is not possible; allowed: {', '.join(ACTIVATIONS)}")
    codes = np.array([ACTIVATIONS.index(each) for each in activations], np.int64)
    flat = np.concatenate([np.ravel(each) for each in weights]).astype(np.float64)
    return Dense(np.array(sizes, np.int64), codes, flat, np.concatenate(biases).astype(np.float64))


def single(net: Dense) -> Dense:
    """The same net in 32-bit floats, which a processor multiplies twice as fast; its scratch must have them, too."""
    return Dense(net.sizes, net.activations, net.weights.astype(np.float32), net.biases.astype(np.float32))


def layers_of(net: Dense) -> Iterator[tuple[Array, Array]]:
    """Weights (inputs, neurons) and biases (neurons,) of each layer."""
    weight, bias, weights, biases = 0, 0, net.weights.astype(np.float64), net.biases.astype(np.float64)
    for inputs, neurons in zip(net.sizes[:-1].tolist(), net.sizes[1:].tolist(), strict=True):
        end = weight + inputs * neurons
        yield weights[weight:end].reshape(inputs, neurons), biases[bias : bias + neurons]
        weight, bias = end, bias + neurons


@kernel(error_model="numpy", allocates=False)
def multiply(values: Floats, weights: Floats, others: Floats, one: Floats, other: Floats) -> None:
    """Inner products of the weights of two neurons with their inputs, for all rows of a block.

    Two neurons and eight inputs at a time, so that inputs and sums are loaded and stored less often.

    Args:
        values: (inputs or more, `BLOCK`)
        weights: (inputs,) of one neuron.
        others: (inputs,) of the other.
        one: (`BLOCK`,) to be filled.
        other: (`BLOCK`,) to be filled.
    """
    for r in range(BLOCK):
        one[r] = other[r] = 0.0
    unrolled = weights.size // 8 * 8
    for k in range(0, unrolled, 8):
        a0, a1, a2, a3 = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        a4, a5, a6, a7 = weights[k + 4], weights[k + 5], weights[k + 6], weights[k + 7]
        b0, b1, b2, b3 = others[k], others[k + 1], others[k + 2], others[k + 3]
        b4, b5, b6, b7 = others[k + 4], others[k + 5], others[k + 6], others[k + 7]
        for r in range(BLOCK):
            x0, x1, x2, x3 = values[k, r], values[k + 1, r], values[k + 2, r], values[k + 3, r]
            x4, x5, x6, x7 = values[k + 4, r], values[k + 5, r], values[k + 6, r], values[k + 7, r]
            one[r] = one[r] + a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3 + a4 * x4 + a5 * x5 + a6 * x6 + a7 * x7
            other[r] = other[r] + b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3 + b4 * x4 + b5 * x5 + b6 * x6 + b7 * x7
    for k in range(unrolled, weights.size):
        for r in range(BLOCK):
            one[r] += weights[k] * values[k, r]
            other[r] += others[k] * values[k, r]


@kernel(error_model="numpy", allocates=False)
def activate(sums: Floats, bias: float, activation: int) -> None:
    """Add the bias and apply the activation, in place: sums (`BLOCK`,)."""
    for r in range(BLOCK):
        sums[r] += bias
    if activation == RELU:
        for r in range(BLOCK):
            sums[r] = max(sums[r], 0.0)
    elif activation == TANH:
        for r in range(BLOCK):
            sums[r] = np.tanh(sums[r])
    elif activation == LOGISTIC:
        for r in range(BLOCK):
            sums[r] = 1.0 / (1.0 + np.exp(-sums[r]))
    elif activation == SOFTSIGN:
        one = sums.dtype.type(1.0)  # 32-bit floats stay as they are
        for r in range(BLOCK):
            sums[r] = sums[r] / (one + abs(sums[r]))


@kernel(error_model="numpy", allocates=False)
def forward_block(net: Dense, work: Floats) -> int:
    """The outputs of a net for `BLOCK` rows that lie side by side.

    Args:
        net: As `make_dense` makes.
        work: (2, largest layer + 1, `BLOCK`) scratch; the first rows of ``work[0]`` are the inputs.

    Returns:
        Which half of ``work`` begins with the outputs.
    """
    sizes, weights, first, bias = net.sizes, net.weights, 0, 0
    for layer in range(net.activations.size):
        inputs, neurons = sizes[layer], sizes[layer + 1]
        values, sums = work[layer % 2], work[1 - layer % 2]
        end = first + inputs * neurons
        for j in range(0, neurons, 2):
            last = min(j + 1, neurons - 1)  # the last of an odd number is computed twice, once into the spare row
            one, other = weights[first + j : end : neurons], weights[first + last : end : neurons]
            multiply(values, one, other, sums[j], sums[j + 1])
        for j in range(neurons):
            activate(sums[j], net.biases[bias + j], net.activations[layer])
        first, bias = end, bias + neurons
    return net.activations.size % 2


@kernel(error_model="numpy", allocates=False)
def forward_one(net: Dense, work: Floats) -> int:
    """The outputs of a net for one row, the same bits as `forward_block` gives.

    Args:
        net: As `make_dense` makes.
        work: (2, largest layer) scratch; ``work[0]`` begins with the inputs.

    Returns:
        Which half of ``work`` begins with the outputs.
    """
    sizes, weights, first, bias = net.sizes, net.weights, 0, 0
    for layer in range(net.activations.size):
        inputs, neurons, activation = sizes[layer], sizes[layer + 1], net.activations[layer]
        values, sums, one = work[layer % 2], work[1 - layer % 2], work.dtype.type(1.0)
        for j in range(neurons):
            sums[j] = 0.0
        unrolled, rows = inputs // 8 * 8, weights[first : first + inputs * neurons].reshape(inputs, neurons)
        for k in range(0, unrolled, 8):
            x0, x1, x2, x3 = values[k], values[k + 1], values[k + 2], values[k + 3]
            x4, x5, x6, x7 = values[k + 4], values[k + 5], values[k + 6], values[k + 7]
            a, b, c, d, e = rows[k], rows[k + 1], rows[k + 2], rows[k + 3], rows[k + 4]
            f, g, h = rows[k + 5], rows[k + 6], rows[k + 7]
            for j in range(neurons):
                total = sums[j] + a[j] * x0 + b[j] * x1 + c[j] * x2 + d[j] * x3
                sums[j] = total + e[j] * x4 + f[j] * x5 + g[j] * x6 + h[j] * x7
        for k in range(unrolled, inputs):
            for j in range(neurons):
                sums[j] += rows[k, j] * values[k]
        for j in range(neurons):
            sums[j] += net.biases[bias + j]
            if activation == RELU:
                sums[j] = max(sums[j], 0.0)
            elif activation == TANH:
                sums[j] = np.tanh(sums[j])
            elif activation == LOGISTIC:
                sums[j] = 1.0 / (1.0 + np.exp(-sums[j]))
            elif activation == SOFTSIGN:
                sums[j] = sums[j] / (one + abs(sums[j]))
        first, bias = first + inputs * neurons, bias + neurons
    return net.activations.size % 2


@kernel(error_model="numpy", nogil=True)
def forward(net: Dense, rows: Array) -> Array:
    """The outputs of a net.

    Args:
        net: As `make_dense` makes.
        rows: (rows, inputs)

    Returns:
        (rows, outputs)
    """
    sizes, layers = net.sizes, net.activations.size
    result = np.empty((rows.shape[0], sizes[layers]))
    work = np.zeros((2, sizes.max() + 1, BLOCK))
    for low in range(0, rows.shape[0], BLOCK):
        count = min(BLOCK, rows.shape[0] - low)
        for r in range(count):
            for k in range(sizes[0]):
                work[0, k, r] = rows[low + r, k]
        found = work[forward_block(net, work)]
        for r in range(count):
            for k in range(sizes[layers]):
                result[low + r, k] = found[k, r]
    return result


def save_dense(path: Path, net: Dense, card: Card, kind: str = "dense") -> None:
    """Keep a net; the card gets this ``kind``.

    Raises:
        ModelError: If it cannot be written.
    """
    names = [ACTIVATIONS[code] for code in net.activations]
    card = card.model_copy(update={"kind": kind, "settings": {**card.settings, "activations": names}})
    arrays: dict[str, NDArray[np.float64]] = {}
    for k, (weights, biases) in enumerate(layers_of(net)):
        arrays[f"weights.{k}"], arrays[f"biases.{k}"] = weights, biases
    save(path, card, arrays)


def load_dense(path: Path, kind: str = "dense") -> tuple[Dense, Card]:
    """Read a net and its card, which has this ``kind``.

    Raises:
        ModelError: If it cannot be read, or is not a net.
    """
    model = load(path, kind)
    try:
        return _dense(model), model.card
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def _dense(model: Model) -> Dense:
    names = model.card.settings.get("activations")
    if not isinstance(names, list) or len(names) > MAX_LAYERS:
        raise ModelError("settings.activations should name the activation of each layer")
    weights = [model.array(f"weights.{k}", (None, None)) for k in range(len(names))]
    return make_dense(weights, [model.array(f"biases.{k}", (None,)) for k in range(len(names))], names)
