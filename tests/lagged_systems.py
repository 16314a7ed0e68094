"""Systems with a past, for tests of models that are fitted to them."""

import numpy as np

from sandlot.surrogates.terms import KINDS, monomials, variables


def layout(found):
    return np.array([(KINDS[v.kind], v.index, v.lag) for v in found], np.int64)


def system(inputs, seed, samples=30):
    """Random series, all their lagged variables, and a random polynomial of degree 2 that stays small."""
    rng = np.random.default_rng(seed)
    found = variables([f"u{k}" for k in range(inputs)], inputs * [(0, 2)], (1, 3), (1,))
    factors = rng.permutation(monomials(len(found), 2))[:8]
    series = rng.uniform(-1.0, 1.0, (samples, inputs)), rng.uniform(-1.0, 1.0, samples)
    return (*series, found, factors, rng.uniform(-0.2, 0.2, 8))


def lagged_system(seed, inputs=1, degree=2, samples=160):
    """Inputs and output of a random system of lags up to 2 that stays bounded."""
    rng = np.random.default_rng(seed)
    u, y, e = rng.uniform(-1.0, 1.0, (samples, inputs)), np.zeros(samples), 0.05 * rng.normal(size=samples)
    a, b, c = rng.uniform(0.1, 0.4, 3), rng.uniform(0.3, 1.0, inputs), rng.uniform(-0.5, 0.5, 2)
    for k in range(2, samples):
        y[k] = a[0] * y[k - 1] - a[1] * y[k - 2] + b @ u[k - 1] + c[0] * np.tanh(y[k - 1]) * u[k - 2, 0] + e[k]
        y[k] += c[1] * u[k - 1, -1] ** degree
    return u, y
