import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.errors import SandlotError
from sandlot.surrogates.narmax import Narmax
from sandlot.surrogates.validity import LONG_NAMES, correlations
from twins import narmax as twin


def series(seed, samples=1000):
    rng = np.random.default_rng(seed)
    return rng.normal(size=samples), rng.normal(size=samples)


def beyond(found):
    """Which correlations are clearly out of bounds, and at which lags."""
    far = {name: found["lag"].values[np.abs(found[name].values[0]) > 2.0 * found.attrs["bound"]] for name in LONG_NAMES}
    return {name: lags.tolist() for name, lags in far.items() if lags.size}


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=5)
def test_correlations_equal_the_formulas_of_billings_and_voon(seed):
    e, u = series(seed, 50)
    found = correlations(e, u[:, None], 6).isel(input=0)
    now, c, v = range(50), e - e.mean(), u - u.mean()
    for lag in range(-6, 7):
        at = found.sel(lag=lag)
        later = [(k - lag, k) for k in now]
        assert at["cross"] == pytest.approx(twin.correlation(u, e, later))
        assert at["cross_squared"] == pytest.approx(twin.correlation(u**2, e, later))
        assert at["squares"] == pytest.approx(twin.correlation(u**2, e**2, later))
        if lag > 0:
            assert at["residual"] == pytest.approx(twin.correlation(e, e, later))
        else:
            assert np.isnan(at["residual"])
        if lag >= 0:  # E[e(k) e(k-1-lag) u(k-1-lag)]
            before = [(k - 1 - lag, k) for k in now]
            assert at["product"] == pytest.approx(twin.correlation(c * v, e, before))
        else:
            assert np.isnan(at["product"])


def test_for_white_noise_one_lag_in_twenty_is_outside():
    shares = [correlations(e, u[:, None]).attrs["outside"] for e, u in map(series, range(30))]
    assert np.mean(shares) == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize(
    ("missing", "found"),
    [
        (lambda e, u: e[1:] + 0.5 * e[:-1], {"residual": [1]}),
        (lambda e, u: e[1:] + 0.5 * u[:-1], {"cross": [1], "squares": [1]}),
        (lambda e, u: e[1:] + 0.5 * u[:-1] ** 2, {"cross_squared": [1], "squares": [1]}),
        (lambda e, u: e[1:] * (1.0 + 0.5 * u[:-1] ** 2), {"squares": [1]}),
        (lambda e, u: e[1:] + 0.5 * e[:-1] * u[:-1], {"product": [0], "squares": [1]}),
    ],
    ids=["noise", "input", "square", "spread", "noise times input"],
)
def test_a_missing_term_shows_in_the_right_correlation(missing, found):
    e, u = series(3, 4000)
    assert beyond(correlations(missing(e, u), u[1:, None])) == found


def test_moving_average_noise_is_left_by_narx_and_explained_by_narmax():
    e, u = series(0, 600)
    y = np.zeros(600)
    for k in range(1, 600):
        y[k] = 0.5 * y[k - 1] + u[k - 1] + 0.3 * (e[k] + 0.8 * e[k - 1])
    narx = Narmax(1, (1,), (1,), n_terms=2).fit(u[:, None], y).validity(u[:, None])
    narmax = Narmax(1, (1,), (1,), (1,), n_terms=3).fit(u[:, None], y).validity(u[:, None])
    assert abs(narx["residual"].sel(lag=1)) > 4.0 * narx.attrs["bound"]
    assert abs(narmax["residual"].sel(lag=1)) < narmax.attrs["bound"]
    assert narmax.attrs["outside"] < 0.1
    assert narx["residual"].attrs["outside"] > narmax["residual"].attrs["outside"]


def test_outside_is_given_for_all_and_for_each():
    e, u = series(0)
    found = correlations(u + 0.1 * e, np.column_stack([u, e]), 5)
    assert list(found.data_vars) == list(LONG_NAMES)
    for each in found.data_vars.values():
        known = each.values[np.isfinite(each.values)]
        assert each.attrs["outside"] == np.mean(np.abs(known) > found.attrs["bound"])
        assert each.dims == ("input", "lag")
        assert each.attrs["units"] == "1"
        assert each.attrs["long_name"]
    assert found["cross"].attrs["outside"] >= 1 / 22
    assert 0.0 < found.attrs["outside"] < 1.0


def test_constants_have_no_correlation():
    e, _ = series(0, 40)
    found = correlations(e, np.full((40, 1), 0.1))
    assert all((found[name].sel(lag=slice(0, None)) == 0.0).all() for name in LONG_NAMES if name != "residual")
    assert correlations(np.full(40, 0.1), e[:, None]).attrs["outside"] == 0.0


def test_few_samples_have_few_lags():
    assert correlations(np.array([1.0, 2.0, 4.0]), np.ones((3, 1)))["lag"].values.tolist() == [-2, -1, 0, 1, 2]
    assert correlations(np.ones(1), np.ones((1, 1))).attrs["outside"] == 0.0


def test_inputs_of_another_length_are_refused():
    with pytest.raises(SandlotError, match="9 samples of inputs for 10 residuals"):
        correlations(np.ones(10), np.ones((9, 1)))
