"""A small net for each of many robots, trained online by Levenberg-Marquardt one sample at a time."""

from dataclasses import dataclass

import numpy as np

from sandlot.typing import Array, IntArray

FIRST, SMALLER, LARGER = 1e-3, 0.1, 10.0
"""Damping at first, and its factors after a step that lowers or raises the error: those of Matlab's ``trainlm``."""
EPOCHS = 10
"""Steps of training for one sample."""


@dataclass(eq=False)
class OnlineNets:
    """Nets with one hidden layer of hyperbolic tangents and linear outputs, one for each robot.

    Attributes:
        hidden: (robots, nodes, inputs + 1) weights, the last of them biases.
        output: (robots, outputs, nodes + 1) the same of the outputs.
    """

    hidden: Array
    output: Array

    def __call__(self, which: IntArray, inputs: Array) -> Array:
        """Outputs of some robots: (some, outputs) for (some, inputs)."""
        return _run(self.hidden[which], self.output[which], _with_one(inputs))[1]

    def learn(self, which: IntArray, inputs: Array, outputs: IntArray, targets: Array) -> None:
        """Train some robots' nets to return a target at one of their outputs.

        With a single error e and its gradient J, a step of Levenberg-Marquardt is -J e / (J.J + damping).

        Args:
            which: (some,) robots.
            inputs: (some, inputs)
            outputs: (some,) which output of each.
            targets: (some,)
        """
        x, rows = _with_one(inputs), np.arange(len(which))
        hidden, output, damping = self.hidden[which], self.output[which], np.full(len(which), FIRST)
        for _ in range(EPOCHS):
            nodes, found = _run(hidden, output, x)
            error = found[rows, outputs] - targets
            slopes = output[rows, outputs, :-1] * (1.0 - nodes[:, :-1] ** 2)
            # The gradient is the outer product of slopes and x at the hidden layer, and the nodes at the output.
            size = (slopes**2).sum(1) * (x**2).sum(1) + (nodes**2).sum(1)
            step = -error / (size + damping)
            new_hidden, new_output = hidden + (step[:, None] * slopes)[:, :, None] * x[:, None], output.copy()
            new_output[rows, outputs] += step[:, None] * nodes
            better = np.abs(_run(new_hidden, new_output, x)[1][rows, outputs] - targets) < np.abs(error)
            hidden, output = (
                np.where(better[:, None, None], new, old) for new, old in ((new_hidden, hidden), (new_output, output))
            )
            damping *= np.where(better, SMALLER, LARGER)
        self.hidden[which], self.output[which] = hidden, output


def draw_net(rng: np.random.Generator, inputs: int, nodes: int, outputs: int) -> tuple[Array, Array]:
    """Random weights (nodes, inputs + 1) and (outputs, nodes + 1), normal, scaled by the number of inputs of a node."""
    shapes = (nodes, inputs + 1), (outputs, nodes + 1)
    first, second = (rng.standard_normal(shape) / np.sqrt(shape[1]) for shape in shapes)
    return first, second


def _with_one(inputs: Array) -> Array:
    return np.concatenate([inputs, np.ones((len(inputs), 1))], axis=1)


def _run(hidden: Array, output: Array, x: Array) -> tuple[Array, Array]:
    """Values of the hidden nodes, with a one for the bias, and the outputs."""
    nodes = _with_one(np.tanh(np.einsum("nhi,ni->nh", hidden, x)))
    return nodes, np.einsum("noh,nh->no", output, nodes)
