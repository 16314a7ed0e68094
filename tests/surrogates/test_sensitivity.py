import numpy as np
import pytest

from sandlot.errors import SandlotError
from sandlot.surrogates.narmax import Narmax
from sandlot.surrogates.sensitivity import sobol

CUBE = [(-np.pi, np.pi)] * 3


def ishigami(x, a=7.0, b=0.1):
    return np.sin(x[:, 0]) + a * np.sin(x[:, 1]) ** 2 + b * x[:, 2] ** 4 * np.sin(x[:, 0])


def test_indices_of_the_ishigami_function():
    """Its shares in closed form: Saltelli et al., Global Sensitivity Analysis: The Primer, 2008."""
    a, b = 7.0, 0.1
    one = 0.5 * (1.0 + b * np.pi**4 / 5.0) ** 2
    two, both = a**2 / 8.0, b**2 * np.pi**8 * 8.0 / 225.0
    whole = one + two + both
    found = sobol(ishigami, CUBE, ("a", "b", "c"), samples=4096)
    np.testing.assert_allclose(found["first"], np.array([one, two, 0.0]) / whole, atol=0.02)
    np.testing.assert_allclose(found["total"], np.array([one + both, two, both]) / whole, atol=0.02)
    assert found["input"].values.tolist() == ["a", "b", "c"]
    assert (found["first_error"] < 0.1).all()
    assert all(each.attrs["units"] == "1" and each.attrs["long_name"] for each in found.data_vars.values())


def test_the_important_input_of_a_fitted_model_is_found():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, (200, 3))
    model = Narmax(2, names=("a", "b", "c")).fit(x, 3.0 * x[:, 0] + x[:, 1] * x[:, 2])
    found = sobol(model.predict, [(-1.0, 1.0)] * 3, model.names)
    np.testing.assert_allclose(found["first"], [27 / 28, 0.0, 0.0], atol=0.02)  # variances are 9/3 and 1/9
    np.testing.assert_allclose(found["total"], [27 / 28, 1 / 28, 1 / 28], atol=0.02)


@pytest.mark.parametrize("value", [0.0, 0.1, -3e9])
def test_a_constant_has_indices_of_zero(value):
    found = sobol(lambda x: np.full(len(x), value) * (1.0 + 1e-16 * x[:, 0]), CUBE, samples=64)
    assert all((each == 0.0).all() for each in found.data_vars.values())
    assert found["input"].values.tolist() == ["x1", "x2", "x3"]


@pytest.mark.parametrize("seed", [0, 5])
def test_same_seed_same_numbers(seed):
    first, again = (sobol(ishigami, CUBE, samples=64, seed=seed) for _ in range(2))
    assert first.identical(again)
    assert not first.equals(sobol(ishigami, CUBE, samples=64, seed=seed + 1))


@pytest.mark.parametrize(
    "bounds", [[(1.0, 1.0)], [(2.0, 1.0)], [(0.0, np.nan)], [(0.0, np.inf)], [0.0, 1.0], np.zeros((2, 3)), []]
)
def test_impossible_bounds_are_refused(bounds):
    with pytest.raises(SandlotError, match="each minimum below its maximum"):
        sobol(ishigami, bounds)


def test_as_many_names_as_bounds():
    with pytest.raises(SandlotError, match="2 names for 3 bounds"):
        sobol(ishigami, CUBE, ("a", "b"))
