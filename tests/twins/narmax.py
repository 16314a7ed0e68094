"""Polynomials with a past, and forward orthogonal regression, by their definitions."""

import itertools

import numpy as np


def products(values, factors):
    """Every term at every sample: (terms, samples)."""
    return np.array([[np.prod([row[f] for f in term if f >= 0]) for row in values] for term in factors])


def lagged(inputs, output, noise, found, first):
    """Variables from ``first`` on: (samples - first, variables)."""
    sources = {"input": inputs.T, "output": [output], "noise": [noise]}
    return np.column_stack(
        [sources[v.kind][v.index][first - v.lag : len(output) - v.lag] for v in found]  # as a shift of the whole series
    )


def roll(inputs, output, found, first, factors, coefficients, free):
    """Predictions from step to step, with lists that grow."""
    known, predicted, noise = list(output[:first]), list(output[:first]), [0.0] * first
    for k in range(first, len(inputs)):
        now = {"input": lambda v, k=k: inputs[k - v.lag, v.index]}
        now |= {"output": lambda v, k=k: known[k - v.lag], "noise": lambda v, k=k: noise[k - v.lag]}
        values = [now[v.kind](v) for v in found]
        predicted.append(coefficients @ products([values], factors)[:, 0])
        known.append(predicted[-1] if free else output[k])
        noise.append(0.0 if free else output[k] - predicted[-1])
    return np.array(predicted)


def forward(rows, output, most, forced=0):
    """Classical Gram-Schmidt: of every term that is left, what is orthogonal to those taken; then the greatest ERR.

    Returns:
        Which terms, and the ERR of each.
    """
    taken, basis, ratios = [], [], []
    while len(taken) < most:
        found = {}
        for t in [len(taken)] if len(taken) < forced else set(range(len(rows))) - set(taken):
            w = rows[t] - sum((rows[t] @ b / (b @ b) * b for b in basis), np.zeros_like(output))
            if w @ w > 1e-8 * (rows[t] @ rows[t]):
                found[t] = (w @ output) ** 2 / ((w @ w) * (output @ output)), w
        if not found:
            break
        best = max(found, key=lambda t: found[t][0])
        taken.append(best)
        ratios.append(found[best][0])
        basis.append(found[best][1])
    return taken, np.array(ratios)


def correlation(a, b, pairs):
    """Of two series, over pairs of moments, beside their energies."""
    a, b = a - a.mean(), b - b.mean()
    return sum(a[i] * b[j] for i, j in pairs if 0 <= i < len(a) and 0 <= j < len(b)) / np.sqrt((a @ a) * (b @ b))


def exponents(count, degree):
    """Powers of every monomial, by counting through all: a set of (count,)."""
    return {p for p in itertools.product(range(degree + 1), repeat=count) if sum(p) <= degree}
