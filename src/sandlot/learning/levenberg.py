"""Levenberg-Marquardt training of a net with one hidden layer."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from sandlot.learning.shallow_net import Problem
from sandlot.typing import Array

FIRST, SMALLER, LARGER, LARGEST = 1e-3, 0.1, 10.0, 1e10
"""Damping at first, its factors after a step that lowers or raises the error, and where training ends: those of
Matlab's ``trainlm``."""


def levenberg_marquardt(problem: Problem, weights: Array, epochs: int) -> tuple[Array, list[float]]:
    """Fit a net.

    Args:
        problem: What to learn.
        weights: First ones (weights,).
        epochs: Largest number of steps that lower the error.

    Returns:
        The weights, and the mean squared error before training and after each epoch.
    """
    damping = FIRST
    values, found = problem.run(weights)
    errors = [float(np.mean((found - problem.targets) ** 2))]
    while len(errors) <= epochs and damping <= LARGEST:
        normal, slope = _normal(weights, problem.x, values, found - problem.targets)
        while damping <= LARGEST:
            try:
                step = cho_solve(cho_factor(normal + damping * np.eye(len(normal)), overwrite_a=True), slope)
            except LinAlgError:
                damping *= LARGER
                continue
            tried = problem.run(weights - step)
            error = float(np.mean((tried[1] - problem.targets) ** 2))
            if error < errors[-1]:
                weights, (values, found), damping = weights - step, tried, damping * SMALLER
                errors.append(error)
                break
            damping *= LARGER
    return weights, errors


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
