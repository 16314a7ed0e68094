"""Levenberg-Marquardt training of a net with one hidden layer of hyperbolic tangents and one linear output.

The gradient of an input weight is a combination of inputs, so weights never leave the space that the inputs span, but
for what they begin with. Training is therefore done in that space. With inputs of which many repeat, such as cells of
an elevation map along several pan angles, it is much smaller, and the steps are the same ones.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from sandlot.typing import Array

FIRST, SMALLER, LARGER, LARGEST = 1e-3, 0.1, 10.0, 1e10
"""Damping at first, its factors after a step that lowers or raises the error, and where training ends: those of
Matlab's ``trainlm``."""
RANK = 1e-9
"""Directions in which inputs vary less than this share of the largest are left out."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A net: output = weights @ tanh(hidden @ (inputs, 1)), with a one after the nodes too.

    Attributes:
        hidden: (nodes, inputs + 1) the last of them biases.
        output: (nodes + 1,)
        errors: (epochs + 1,) mean squared error before training and after each epoch.
        rank: Dimension of the space that the inputs span.
    """

    hidden: Array
    output: Array
    errors: Array
    rank: int

    def __call__(self, inputs: Array) -> Array:
        """Outputs (n,) for inputs (n, inputs)."""
        return np.asarray(
            np.tanh(inputs @ self.hidden[:, :-1].T + self.hidden[:, -1]) @ self.output[:-1] + self.output[-1]
        )


def train(inputs: Array, targets: Array, nodes: int, epochs: int, rng: np.random.Generator) -> Trained:
    """Fit a net.

    Args:
        inputs: (samples, inputs), about -1 to 1.
        targets: (samples,)
        nodes: Of the hidden layer.
        epochs: Largest number of steps that lower the error.
        rng: Draws the first weights.
    """
    basis = span(inputs)
    x = np.column_stack([inputs @ basis, np.ones(len(inputs))])
    weights = rng.standard_normal(nodes * x.shape[1]) / np.sqrt(x.shape[1])
    weights = np.concatenate([weights, rng.standard_normal(nodes + 1) / np.sqrt(nodes + 1)])
    errors, damping = [], FIRST
    nodes_, found = _run(weights, x, nodes)
    errors.append(float(np.mean((found - targets) ** 2)))
    while len(errors) <= epochs and damping <= LARGEST:
        normal, slope = _normal(weights, x, nodes_, found - targets)
        while damping <= LARGEST:
            try:
                step = cho_solve(cho_factor(normal + damping * np.eye(len(normal)), overwrite_a=True), slope)
            except LinAlgError:
                damping *= LARGER
                continue
            tried = _run(weights - step, x, nodes)
            error = float(np.mean((tried[1] - targets) ** 2))
            if error < errors[-1]:
                weights, (nodes_, found), damping = weights - step, tried, damping * SMALLER
                errors.append(error)
                break
            damping *= LARGER
    reduced = weights[: -(nodes + 1)].reshape(nodes, -1)
    hidden = np.column_stack([reduced[:, :-1] @ basis.T, reduced[:, -1]])
    return Trained(hidden, weights[-(nodes + 1) :], np.array(errors), basis.shape[1])


def span(inputs: Array) -> Array:
    """An orthonormal basis (inputs, rank) of the space in which the inputs (samples, inputs) lie."""
    values, vectors = np.linalg.eigh(inputs.T @ inputs)
    return vectors[:, values > RANK * values[-1]]


def _run(weights: Array, x: Array, nodes: int) -> tuple[Array, Array]:
    """Values of the nodes, with a one for the bias (samples, nodes + 1), and of the output (samples,)."""
    hidden = weights[: -(nodes + 1)].reshape(nodes, -1)
    values = np.column_stack([np.tanh(x @ hidden.T), np.ones(len(x))])
    return values, values @ weights[-(nodes + 1) :]


def _normal(weights: Array, x: Array, values: Array, error: Array, block: int = 4096) -> tuple[Array, Array]:
    """The normal matrix J.J and J.error, block by block of samples."""
    nodes = values.shape[1] - 1
    output = weights[-(nodes + 1) : -1]
    size = len(weights)
    normal, slope = np.zeros((size, size)), np.zeros(size)
    for low in range(0, len(x), block):
        part = slice(low, low + block)
        slopes = output * (1.0 - values[part, :-1] ** 2)
        jacobian = np.concatenate([*(slopes[:, [k]] * x[part] for k in range(nodes)), values[part]], axis=1)
        normal += jacobian.T @ jacobian
        slope += jacobian.T @ error[part]
    return normal, slope
