"""Inputs and outputs far from 0: they are centred, and every form of the model says so."""

import inspect
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.surrogates.centring import centre, moments
from sandlot.surrogates.equations import latex, python, text
from sandlot.surrogates.narmax import FitWarning, Narmax
from sandlot.surrogates.sensitivity import sobol

OFFSETS = [1e3, 1e6, -1e6, 1e8]


def polynomial(offset, seed=0, samples=200):
    """Two inputs, the first far from 0, and a cubic of its deviation."""
    d = np.random.default_rng(seed).uniform(-1.0, 1.0, (samples, 2))
    x = d + np.array([offset, 0.0])
    d[:, 0] = x[:, 0] - offset  # as rounded
    return x, 2.0 * d[:, 0] ** 3 - d[:, 0] * d[:, 1] + 0.5


def motor(offset, samples=300):
    """A system whose output is far from 0: (samples, 1), (samples,)."""
    rng = np.random.default_rng(0)
    u, y = rng.uniform(-1.0, 1.0, (samples, 1)), np.zeros(samples)
    for k in range(1, samples):
        y[k] = 0.5 * y[k - 1] + u[k - 1, 0] - 0.2 * y[k - 1] ** 2 * u[k - 1, 0] + 1e-3 * rng.normal()
    return u, y + offset


@given(st.integers(1, 3), st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_moments_are_mean_and_standard_deviation(inputs, samples, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(inputs, samples)), 1e6 + rng.normal(size=samples)
    every = np.vstack([x, y])
    np.testing.assert_allclose(moments(x, y), np.column_stack([every.mean(1), every.std(1)]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("mean", "spread", "expected"),
    [
        (0.1, 1.0, 0.0),
        (9.9, 1.0, 0.0),
        (1e6 + 0.3, 1.0, 1e6),
        (-293.147, 0.31, -293.1),
        (1.2345e-20, 1e-23, 1.234e-20),
        (123456.0, 2000.0, 123000.0),
        (7.0, 0.0, 0.0),
        (7e8, 1e-6, 0.0),  # rounding
        (np.inf, np.inf, 0.0),
        (np.inf, np.nan, 0.0),
    ],
)
def test_a_centre_has_as_few_digits_as_the_spread_allows(mean, spread, expected):
    assert centre(mean, spread) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("offset", OFFSETS)
def test_a_polynomial_far_from_zero_is_recovered(offset):
    x, y = polynomial(offset)
    model = Narmax(3, names=("a", "b")).fit(x, y)
    sign, size = "-" if offset > 0 else "+", f"{abs(offset):.0f}"
    found = dict(zip(model.table()["term"].values, model.coefficients_, strict=True))
    assert found == pytest.approx({f"(a {sign} {size})^3": 2.0, f"(a {sign} {size}) b": -1.0, "1": 0.5}, abs=1e-9)
    other, expected = polynomial(offset, 1)
    np.testing.assert_allclose(model.predict(other), expected, atol=1e-9)
    assert model.centres_.tolist() == [offset, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        plain = Narmax(3, centre=False).fit(x, y)
    assert not plain.centres_.any()


@pytest.mark.parametrize("offset", OFFSETS)
def test_dynamics_far_from_zero_are_those_near_zero(offset):
    u, y = motor(offset)
    far, near = Narmax(3, (1,), (1,), (1,)).fit(u, y), Narmax(3, (1,), (1,), (1,)).fit(*motor(0.0))
    assert far.output_centre_ == offset
    assert far.factors_.tolist() == near.factors_.tolist()
    np.testing.assert_allclose(far.coefficients_, near.coefficients_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(far.err_, near.err_, rtol=1e-4, atol=1e-6)
    for ours, theirs in (
        (far.predict(u, y), near.predict(u, y - offset)),
        (far.free_run(u, y[:1]), near.free_run(u, y[:1] - offset)),
    ):
        np.testing.assert_allclose(ours - offset, theirs, atol=1e-6)
    assert far.score(u, y) == pytest.approx(near.score(u, y - offset), abs=1e-6)


def test_every_format_shows_the_centres():
    u, y = motor(1e6)
    model = Narmax(3, {"u": (1,), "t": (0,)}, (1,), names=("u", "t"), n_terms=4)
    model.fit(np.column_stack([u, np.random.default_rng(1).normal(-293.0, 1.0, len(u))]), y)
    assert text(model).startswith("y(k) - 1000000 = ")
    assert "(y(k-1) - 1000000)" in text(model)
    assert re.search(r"return \(\s+1000000\.0 \+ \(", python(model))
    assert "(y_1 - 1000000.0)" in python(model)
    assert latex(model).startswith("\\begin{aligned}\ny_{k} - 1000000.0 &= ")
    assert "(y_{k-1} - 1000000.0)" in latex(model)
    assert "u(k-1)" in text(model)


def test_sobol_indices_do_not_depend_on_an_offset():
    shares = []
    for offset in (0.0, 1e8):
        model = Narmax(3).fit(*polynomial(offset))
        bounds = [(offset - 1.0, offset + 1.0), (-1.0, 1.0)]
        shares.append(sobol(model.predict, bounds, samples=256)[["first", "total"]].to_array().values)
    np.testing.assert_allclose(*shares, atol=1e-4)


def test_a_constant_column_far_from_zero_is_not_used():
    x, y = polynomial(1e6)
    x[:, 1] = 1e8
    y = y * 0.0 + (x[:, 0] - 1e6) ** 2
    with pytest.warns(FitWarning, match="collinear"):
        model = Narmax(2).fit(x, y)
    assert model.centres_.tolist() == [1e6, 0.0]
    np.testing.assert_allclose(model.predict(x), y, atol=1e-9)


def test_series_near_zero_are_left_as_they_are():
    x, y = polynomial(5.0)
    model = Narmax(3).fit(x, y)
    assert not model.centres_.any()
    assert model.output_centre_ == 0.0


def test_residuals_of_a_centred_output_differ_from_those_of_the_code_by_rounding():
    u, y = motor(1000.3)
    model = Narmax(1, (1,), (1,), (1,), n_terms=4, names=("u",)).fit(u, y)
    assert model.output_centre_ == 1000.0
    space: dict = {}
    exec(python(model, "step"), space)
    names, found, residual = inspect.signature(space["step"]).parameters, y.copy(), 0.0
    assert "e_1" in names
    for k in range(1, y.size):
        known = {"u_1": u[k - 1, 0], "y_1": y[k - 1], "e_1": residual}
        found[k] = space["step"](*(known[name] for name in names))
        residual = y[k] - found[k]
    np.testing.assert_allclose(found, model.predict(u, y), rtol=1e-14)
