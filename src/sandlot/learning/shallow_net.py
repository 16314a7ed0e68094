"""A net with one hidden layer of hyperbolic tangents and one linear output, and the space in which it is trained.

The gradient of an input weight is a combination of inputs, so weights never leave the space that the inputs span, but
for what they begin with. Training is therefore done in that space. With inputs of which many repeat, such as cells of
an elevation map along several pan angles, it is much smaller, and the steps are the same ones.
"""

from dataclasses import dataclass

import numpy as np

from sandlot.typing import Array

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


@dataclass(frozen=True, eq=False)
class Problem:
    """What a net is to learn, in the space of its inputs.

    Attributes:
        basis: (inputs, rank) orthonormal, of the space in which the inputs lie.
        x: (samples, rank + 1) the inputs in that space, and a one.
        targets: (samples,)
        nodes: Of the hidden layer.
    """

    basis: Array
    x: Array
    targets: Array
    nodes: int

    def draw(self, rng: np.random.Generator) -> Array:
        """First weights, normal, scaled by the number of inputs of a node: (weights,)."""
        width, nodes = self.x.shape[1], self.nodes
        hidden = rng.standard_normal(nodes * width) / np.sqrt(width)
        return np.concatenate([hidden, rng.standard_normal(nodes + 1) / np.sqrt(nodes + 1)])

    def run(self, weights: Array) -> tuple[Array, Array]:
        """Values of the nodes, with a one for the bias (samples, nodes + 1), and of the output (samples,)."""
        hidden = weights[: -(self.nodes + 1)].reshape(self.nodes, -1)
        values = np.column_stack([np.tanh(self.x @ hidden.T), np.ones(len(self.x))])
        return values, values @ weights[-(self.nodes + 1) :]

    def error(self, weights: Array) -> float:
        """Mean squared error."""
        return float(np.mean((self.run(weights)[1] - self.targets) ** 2))

    def gradient(self, weights: Array) -> Array:
        """Of the mean squared error: (weights,)."""
        values, found = self.run(weights)
        errors = 2.0 / len(found) * (found - self.targets)
        slopes = errors[:, None] * weights[-(self.nodes + 1) : -1] * (1.0 - values[:, :-1] ** 2)
        return np.concatenate([(slopes.T @ self.x).ravel(), values.T @ errors])

    def net(self, weights: Array, errors: list[float]) -> Trained:
        """The net with these weights."""
        reduced = weights[: -(self.nodes + 1)].reshape(self.nodes, -1)
        hidden = np.column_stack([reduced[:, :-1] @ self.basis.T, reduced[:, -1]])
        return Trained(hidden, weights[-(self.nodes + 1) :], np.array(errors), self.basis.shape[1])


def pose(inputs: Array, targets: Array, nodes: int) -> Problem:
    """The problem of a net with so many hidden nodes, inputs (samples, inputs) and targets (samples,)."""
    basis = span(inputs)
    return Problem(basis, np.column_stack([inputs @ basis, np.ones(len(inputs))]), targets, nodes)


def span(inputs: Array) -> Array:
    """An orthonormal basis (inputs, rank) of the space in which the inputs (samples, inputs) lie."""
    values, vectors = np.linalg.eigh(inputs.T @ inputs)
    return vectors[:, values > RANK * values[-1]]
