"""SysIdentPy's FROLS as an oracle: the same terms, ratios, coefficients and predictions, on its systems and on ours."""

import warnings

import numpy as np
import pytest
from sysidentpy.basis_function import Polynomial
from sysidentpy.model_structure_selection import FROLS
from sysidentpy.parameter_estimation import LeastSquares
from sysidentpy.utils.generate_data import get_miso_data, get_siso_data

from lagged_systems import lagged_system
from sandlot.surrogates.narmax import Narmax

SYSTEMS = {"one input": get_siso_data, "two inputs": get_miso_data}
TRUE = {
    "one input": {"y(k-1)": 0.2, "y(k-1) x1(k-1)": 0.1, "x1(k-2)": 0.9},
    "two inputs": {"y(k-1)^2": 0.4, "y(k-1) x1(k-1)": 0.1, "x2(k-1)": 0.6, "x1(k-1) x2(k-2)": -0.3},
}
"""What the docstrings of SysIdentPy's generators say."""


def generated(name, seed, **options):
    """Training and validation data of SysIdentPy's own systems."""
    np.random.seed(seed)  # noqa: NPY002 (its generators use the global state)
    u, other_u, y, other_y = SYSTEMS[name](n=1200, sigma=0.05, **options)
    return u, y[:, 0], other_u, other_y[:, 0]


def agree(u, y, other_u, other_y, degree, lags, n_terms):
    """Fit both, and compare all they found and predict; returns ours."""
    oracle = FROLS(
        order_selection=False,
        err_tol=None,
        n_terms=n_terms,
        ylag=2,
        xlag=list(lags[0]) if len(lags) == 1 else [list(each) for each in lags],
        basis_function=Polynomial(degree=degree),
        estimator=LeastSquares(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of SysIdentPy
        oracle.fit(X=u, y=y[:, None])
    model = Narmax(degree, lags, (1, 2), n_terms=n_terms).fit(u, y)
    codes = [1001, 1002] + [1000 * (2 + k) + lag for k, each in enumerate(lags) for lag in each]
    assert [sorted(codes[f] for f in term if f >= 0) for term in model.factors_] == [
        sorted(int(f) for f in term if f) for term in oracle.final_model
    ]
    np.testing.assert_allclose(model.err_, oracle.err[:n_terms], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(model.coefficients_, np.ravel(oracle.theta), rtol=1e-8, atol=1e-10)
    for steps in (1, None):
        theirs = np.ravel(oracle.predict(X=other_u, y=other_y[:, None], steps_ahead=steps))
        ours = model.set_params(steps_ahead=steps).predict(other_u, other_y)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-7)
    # SysIdentPy starts from measurements every 4 samples, so only the last of 4 is predicted 4 steps ahead.
    theirs = np.ravel(oracle.predict(X=other_u, y=other_y[:, None], steps_ahead=4))
    ours = model.set_params(steps_ahead=4).predict(other_u, other_y)
    last = np.arange(model.lag_ + 3, len(other_y) - 4, 4)
    np.testing.assert_allclose(ours[last], theirs[last], rtol=0, atol=1e-7)
    return model


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("inputs", [1, 2])
def test_both_agree_on_our_systems(inputs, degree, seed):
    agree(
        *lagged_system(seed, inputs, degree), *lagged_system(seed + 100, inputs, degree), degree, inputs * [(1, 2)], 6
    )


# Not ((2,), (1, 3)): SysIdentPy 0.9 compares lists, takes 2 for the largest lag, and pads the sample before with 0.
@pytest.mark.parametrize("lags", [((1, 2), (1,)), ((1, 3), (1, 2))])
def test_both_agree_with_lags_of_each_input(lags):
    agree(*lagged_system(0, 2), *lagged_system(100, 2), 2, lags, 5)


@pytest.mark.parametrize("coloured", [False, True], ids=["white", "coloured"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_both_agree_on_sysidentpys_systems(name, coloured):
    inputs = 1 if name == "one input" else 2
    agree(*generated(name, 0, colored_noise=coloured), 2, inputs * [(1, 2)], len(TRUE[name]) + 2)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_true_terms_of_sysidentpys_systems_are_found(name, seed):
    u, y, other_u, other_y = generated(name, seed)
    model = Narmax(2, (1, 2), (1, 2), n_terms=len(TRUE[name]), steps_ahead=None).fit(u, y)
    found = dict(zip(model.table()["term"].values.tolist(), model.coefficients_, strict=True))
    assert set(found) == set(TRUE[name])
    for (term, value), error in zip(found.items(), model.errors_, strict=True):
        assert abs(value - TRUE[name][term]) < 5.0 * error, term
    assert model.score(other_u, other_y) > 0.9
