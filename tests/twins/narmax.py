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


def roll(inputs, output, found, first, factors, coefficients, steps):
    """Predictions from step to step, with lists that grow; 0 steps for a free run."""
    known, predicted, noise = list(output[:first]), list(output[:first]), [0.0] * first
    for k in range(first, len(inputs)):
        predicted.append(step(inputs, known, noise, found, factors, coefficients, k))
        known.append(output[k] if steps else predicted[-1])
        noise.append(output[k] - predicted[-1] if steps else 0.0)
    for k in range(first, len(inputs) if steps > 1 else 0):
        begin = max(first, k - steps + 1)  # what is known when sample k is predicted ends before it
        past, errors = known[:begin], noise[:begin]
        for i in range(begin, k + 1):
            past.append(step(inputs, past, errors, found, factors, coefficients, i))
            errors.append(0.0)
        predicted[k] = past[k]
    return np.array(predicted)


def step(inputs, known, noise, found, factors, coefficients, k):
    """The prediction of sample k from what is known before it."""
    now = {"input": lambda v: inputs[k - v.lag, v.index]}
    now |= {"output": lambda v: known[k - v.lag], "noise": lambda v: noise[k - v.lag]}
    return coefficients @ products([[now[v.kind](v) for v in found]], factors)[:, 0]


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
