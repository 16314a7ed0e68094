"""Training of a net with one hidden layer by first-order methods, with the constants of Matlab's toolbox.

Each takes a `Problem`, first weights and a number of epochs, and returns the weights and the mean squared error before
training and after each epoch. An epoch is one gradient of all samples, or one line search. A method that can lower the
error no more ends early.
"""

import warnings
from collections.abc import Callable

import numpy as np
from scipy.optimize import line_search

from sandlot.learning.shallow_net import Problem
from sandlot.typing import Array

RATE, MOMENTUM = 0.01, 0.9
FASTER, SLOWER, WORSE = 1.05, 0.7, 1.04
"""Factors of a variable rate after a step that lowers the error, or raises it by more than the last of these."""
FIRST, LONGER, SHORTER, LONGEST = 0.07, 1.2, 0.5, 50.0
"""Resilient backpropagation: first step of a weight, its factors while the gradient keeps or changes its sign, and the
longest step."""
SIGMA, LAMBDA = 5e-5, 5e-7
"""Scaled conjugate gradients: length of the difference that measures curvature, and first damping."""
CURVATURE = {"conjugate": 0.1, "secant": 0.9}
"""Second constant of the Wolfe conditions of a line search."""
POWELL = 0.2
"""Conjugate gradients restart if successive gradients are less orthogonal than this."""
Fit = tuple[Array, list[float]]
Direction = Callable[[Array, Array, Array, Array], Array]
"""The next direction from the gradient, the one before, the direction before, and the step made along it."""


def descend(problem: Problem, weights: Array, epochs: int, momentum: float = 0.0) -> Fit:
    """Gradient descent at a constant rate, with momentum or without."""
    errors, step = [problem.error(weights)], np.zeros_like(weights)
    for _ in range(epochs):
        step = momentum * step - (1.0 - momentum) * RATE * problem.gradient(weights)
        weights = weights + step
        errors.append(problem.error(weights))
    return weights, errors


def descend_variably(problem: Problem, weights: Array, epochs: int, momentum: float = 0.0) -> Fit:
    """Gradient descent at a rate that grows while the error falls; a step that raises it much is taken back."""
    errors, rate, gradient = [problem.error(weights)], RATE, problem.gradient(weights)
    step = -rate * gradient
    for _ in range(epochs):
        tried = problem.error(weights + step)
        if tried > WORSE * errors[-1]:
            rate *= SLOWER
            step = -rate * gradient
            errors.append(errors[-1])
            continue
        rate *= FASTER if tried < errors[-1] else 1.0
        weights = weights + step
        gradient = problem.gradient(weights)
        step = momentum * step - (momentum or 1.0) * rate * gradient
        errors.append(tried)
    return weights, errors


def resilient(problem: Problem, weights: Array, epochs: int) -> Fit:
    """Resilient backpropagation: steps by the sign of the gradient alone, each weight with a length of its own."""
    errors, length, before = [problem.error(weights)], np.full(len(weights), FIRST), np.zeros_like(weights)
    for _ in range(epochs):
        gradient = problem.gradient(weights)
        same = gradient * before
        length = np.minimum(length * np.where(same > 0.0, LONGER, np.where(same < 0.0, SHORTER, 1.0)), LONGEST)
        weights, before = weights - np.sign(gradient) * length, gradient
        errors.append(problem.error(weights))
    return weights, errors


def search(problem: Problem, weights: Array, epochs: int, direct: Direction, kind: str) -> Fit:
    """Line searches along directions that a method chooses; one that does not lead down is the steepest descent."""
    errors, gradient = [problem.error(weights)], problem.gradient(weights)
    direction = -gradient
    for _ in range(epochs):
        if not gradient.any():
            break
        if direction @ gradient >= 0.0:
            direction = -gradient
        with warnings.catch_warnings():  # a search that fails is dealt with below
            warnings.filterwarnings("ignore", "The line search algorithm", RuntimeWarning)
            found = line_search(
                problem.error, problem.gradient, weights, direction, gradient, errors[-1], c2=CURVATURE[kind]
            )
        if found[0] is None:
            if (direction == -gradient).all():
                break
            direction = -gradient
            errors.append(errors[-1])
            continue
        step = found[0] * direction
        weights = weights + step
        before, gradient = gradient, problem.gradient(weights)
        errors.append(float(found[3]))
        direction = direct(gradient, before, direction, step)
    return weights, errors


def fletcher_reeves(problem: Problem, weights: Array, epochs: int) -> Fit:
    """Conjugate gradients by Fletcher and Reeves."""

    def direct(gradient: Array, before: Array, direction: Array, _: Array) -> Array:
        return -gradient + gradient @ gradient / (before @ before) * direction

    return search(problem, weights, epochs, direct, "conjugate")


def polak_ribiere(problem: Problem, weights: Array, epochs: int) -> Fit:
    """Conjugate gradients by Polak and Ribiere."""

    def direct(gradient: Array, before: Array, direction: Array, _: Array) -> Array:
        return -gradient + gradient @ (gradient - before) / (before @ before) * direction

    return search(problem, weights, epochs, direct, "conjugate")


def powell_beale(problem: Problem, weights: Array, epochs: int) -> Fit:
    """Conjugate gradients with the restarts of Powell and Beale: they keep the direction of the last restart."""
    kept: list[tuple[Array, Array]] = []

    def direct(gradient: Array, before: Array, direction: Array, _: Array) -> Array:
        change = gradient - before
        if not kept or abs(gradient @ before) >= POWELL * (gradient @ gradient):
            kept[:] = [(direction, change)]
        first, first_change = kept[0]
        found = -gradient + gradient @ change / (direction @ change) * direction
        if first is not direction:
            found = found + gradient @ first_change / (first @ first_change) * first
        return found

    return search(problem, weights, epochs, direct, "conjugate")


def one_step_secant(problem: Problem, weights: Array, epochs: int) -> Fit:
    """The secant method of Battiti: one step of BFGS from a unit matrix."""

    def direct(gradient: Array, before: Array, _: Array, step: Array) -> Array:
        change = gradient - before
        scale = step @ change
        b = step @ gradient / scale
        a = -(1.0 + change @ change / scale) * b + change @ gradient / scale
        return -gradient + a * step + b * change

    return search(problem, weights, epochs, direct, "secant")


def scaled_conjugate(problem: Problem, weights: Array, epochs: int) -> Fit:
    """Scaled conjugate gradients by Moller, which need no line search."""
    errors, damping, extra, success = [problem.error(weights)], LAMBDA, 0.0, True
    residual = -problem.gradient(weights)
    direction, curvature = residual, 0.0
    for epoch in range(1, epochs + 1):
        size = float(direction @ direction)
        if success:
            small = SIGMA / np.sqrt(size)
            curvature = float(direction @ (problem.gradient(weights + small * direction) + residual)) / small
        curvature += (damping - extra) * size
        if curvature <= 0.0:
            extra = 2.0 * (damping - curvature / size)
            curvature, damping = damping * size - curvature, extra
        along = float(direction @ residual)
        length = along / curvature
        tried = problem.error(weights + length * direction)
        quality = 2.0 * curvature * (errors[-1] - tried) / along**2
        success = quality >= 0.0
        if success:
            weights, before = weights + length * direction, residual
            residual, extra = -problem.gradient(weights), 0.0
            errors.append(tried)
            if epoch % len(weights) == 0:
                direction = residual
            else:
                direction = residual + (residual @ residual - residual @ before) / along * direction
            if quality >= 0.75:
                damping *= 0.25
        else:
            extra = damping
            errors.append(errors[-1])
        if quality < 0.25:
            damping += curvature * (1.0 - quality) / size
    return weights, errors
