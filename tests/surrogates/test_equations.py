import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.errors import SandlotError
from sandlot.surrogates.equations import FORMATS, c, latex, python, text
from sandlot.surrogates.narmax import Narmax
from sandlot.surrogates.terms import evaluate

CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
SEEDS = st.integers(0, 2**32 - 1)


def fitted(seed=0, lags=False, names=("a", "speed_2"), scale=1.0, offset=0.0):
    """A model of a random output; inputs and output may be far from 0."""
    rng = np.random.default_rng(seed)
    x, y = offset + rng.normal(size=(60, 2)), scale * (offset + rng.normal(size=60))
    past = {"input_lags": (0, 1), "output_lags": (1, 2)} if lags else {}
    return Narmax(3, n_terms=8, names=names, **past).fit(x, y)


def samples(model, seed):
    """Random values of all variables, (samples, variables), and the model's predictions."""
    values = np.random.default_rng(seed).normal(size=(5, len(model.variables_)))
    centres = np.array([each.centre for each in model.variables_])
    values = centres + values
    return values, model.output_centre_ + evaluate(values - centres, model.factors_, model.coefficients_)


def arguments(model, values):
    """The values of a function's arguments, in order."""
    used = sorted({f for f in model.factors_.ravel().tolist() if f >= 0})
    return [[float(row[v]) for v in used] for row in values]


def bits(values):
    return [float(value).hex() for value in values]


@given(SEEDS, st.booleans(), st.sampled_from([1.0, 1e-30, 1e30]), st.sampled_from([0.0, 1e6, -293.15]))
def test_python_computes_the_same_to_the_last_bit(seed, lags, scale, offset):
    model = fitted(seed, lags, scale=scale, offset=offset)
    assert bool(model.output_centre_) == bool(offset)
    values, expected = samples(model, seed)
    space = {}
    exec(python(model, "model"), space)
    assert bits(space["model"](*each) for each in arguments(model, values)) == bits(expected)


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
def test_c_computes_the_same_to_the_last_bit(tmp_path):
    models = [fitted(seed, seed % 2 == 1, scale=10.0 ** (seed * 5 - 20)) for seed in range(10)]
    models += [fitted(seed, seed % 2 == 1, offset=offset) for seed, offset in enumerate([1e8, 1e6, -1e6, -293.15])]
    source, library = tmp_path / "models.c", tmp_path / "models.so"
    source.write_text("\n".join(c(model, f"model_{k}") for k, model in enumerate(models)), encoding="ascii")
    options = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-missing-prototypes", "-O0", "-ffp-contract=off"]
    subprocess.run([CC, *options, "-shared", "-fPIC", "-o", library, source], check=True)
    loaded = ctypes.CDLL(str(library))
    for k, model in enumerate(models):
        function = loaded[f"model_{k}"]
        function.restype = ctypes.c_double
        values, expected = samples(model, k)
        found = [function(*map(ctypes.c_double, each)) for each in arguments(model, values)]
        assert bits(found) == bits(expected)


def read(equation):
    """Parse LaTeX into a list of coefficients and names of factors."""
    body = equation.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}\n")
    body = body.replace("&", "").replace("\\quad", "").replace("\\\\", "")
    left, right = body.split("=")
    found, signed = [], " ".join(right.split())
    signed = signed if signed.startswith("-") else f"+ {signed}"
    for sign, term in re.findall(r"([+-]) ((?:[^+\-{]|\{[^}]*\})+)", signed):
        number, factors = re.match(r"([\d.]+(?: \\cdot 10\^\{-?\d+\})?)(.*)", term.strip()).groups()
        mantissa, _, exponent = number.partition(" \\cdot 10^")
        value = float(f"{mantissa}e{exponent.strip('{}') or 0}")
        products = []
        for factor in factors.split():
            name, power = re.fullmatch(r"(.*?)(?:\^\{(\d+)\})?", factor).groups()
            products += int(power or 1) * [name]
        found.append((-value if sign == "-" else value, products))
    return left.strip(), found


@given(SEEDS, st.booleans(), st.sampled_from([1.0, 1e-30, 1e30]))
def test_latex_read_back_computes_the_same(seed, lags, scale):
    model = fitted(seed, lags, scale=scale)
    left, found = read(latex(model))
    assert left == ("y_{k}" if lags else "y")
    assert len(found) == len(model.coefficients_)
    plain = {"y": "y", "a": "a", "speed_2": r"\mathrm{speed\_2}"}
    names = [plain[v.name] + (f"_{{k-{v.lag}}}" if v.lag else "") for v in model.variables_]
    values, expected = samples(model, seed)
    computed = [
        sum(value * np.prod([row[names.index(each)] for each in factors]) for value, factors in found) for row in values
    ]
    size = np.abs(model.coefficients_).max()
    np.testing.assert_allclose(computed, expected, rtol=1e-12, atol=1e-13 * size)


def test_text_is_the_equation_above_a_table_of_terms():
    x = np.random.default_rng(0).normal(size=(50, 2))
    model = Narmax(2, names=("a", "b")).fit(x, 3.0 - 2.0 * x[:, 0] + 0.5 * x[:, 0] * x[:, 1])
    equation, empty, head, *rows, last = text(model).splitlines()
    left, right = equation.split(" = ")
    assert left == "y"
    assert sorted(re.findall(r"[+-]? ?[\d.]+(?: [a-z]+)*", right)) == sorted(["3", "- 2 a", "+ 0.5 a b"])
    assert empty == ""
    assert head.split() == ["term", "coefficient", "std", "error", "ERR", "[%]"]
    table = {row[: -len(row.split("  ", 1)[1])].strip(): row.split()[-3:] for row in rows}
    assert {name: float(value) for name, (value, *_) in table.items()} == {"1": 3.0, "a": -2.0, "a b": 0.5}
    assert [float(row.split()[-1]) for row in rows] == pytest.approx(100.0 * model.err_, abs=1e-3)
    assert last.split() == ["together", "100.000"]
    assert str(model) == text(model)


def test_lags_appear_in_every_format():
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=(80, 1)), np.zeros(80)
    for k in range(2, 80):
        y[k] = 0.5 * y[k - 1] - 0.25 * u[k - 2, 0] ** 2 + 0.01 * rng.normal()
    model = Narmax(2, (2,), (1,), n_terms=2, names=("u",)).fit(u, y)
    assert text(model).startswith("y(k) = ")
    assert "y(k-1)" in text(model)
    assert "u(k-2)^2" in text(model)
    assert "(y_1, u_2):" in python(model)
    assert " * u_2 * u_2" in python(model)
    assert "double predict(double y_1, double u_2)" in c(model)
    assert "u_{k-2}^{2}" in latex(model)
    assert FORMATS.keys() == {"text", "python", "c", "latex"}


def test_a_constant_is_a_function_without_arguments():
    with pytest.warns(UserWarning, match="constant"):
        model = Narmax(2).fit(np.zeros((9, 1)), np.full(9, 2.5))
    space = {}
    exec(python(model), space)
    assert space["predict"]() == pytest.approx(2.5)
    assert "double predict(void)" in c(model)
    assert float(read(latex(model))[1][0][0]) == pytest.approx(2.5)


@pytest.mark.parametrize("name", ["wheel speed", "2nd", "größe", "lambda", "double", "x-y", ""])
@pytest.mark.parametrize("write", [python, c])
def test_names_that_are_no_identifiers_are_refused_in_one_line(write, name):
    with pytest.raises(SandlotError, match="cannot be a name in Python and C") as error:
        write(fitted(names=(name, "b")))
    assert repr(name) in str(error.value)
    with pytest.raises(SandlotError, match="cannot be a name in Python and C"):
        write(fitted(), name)
    assert text(fitted(names=(name, "b")))


@pytest.mark.parametrize("names", [("y", "b"), ("a", "a")])
def test_names_of_inputs_must_differ_from_each_other_and_from_the_output(names):
    with pytest.raises(SandlotError, match="must differ from each other, and from y"):
        fitted(lags=True, names=names)


def test_special_characters_of_latex_are_escaped():
    model = Narmax(1, n_terms=3, names=("a_b", "c%")).fit(np.random.default_rng(0).normal(size=(9, 2)), np.arange(9.0))
    assert r"\mathrm{a\_b}" in latex(model)
    assert r"\mathrm{c\%}" in latex(model)


@pytest.mark.parametrize("write", FORMATS.values(), ids=FORMATS)
def test_an_unfitted_model_has_no_equation(write):
    with pytest.raises(SandlotError, match="is not fitted"):
        write(Narmax())
