"""NARMAX models: with noise terms, with wrong settings, and for degenerate data."""

import re
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from lagged_systems import lagged_system
from sandlot.errors import SandlotError
from sandlot.surrogates.narmax import FitWarning, Narmax
from sandlot.surrogates.regressor import expected_failed_checks

MOVING = {"x1(k-1)": 1.0, "y(k-1)": 0.5, "y(k-1) x1(k-1)": 0.1, "e(k-1)": 0.8}


def moving_average(seed, samples=1000):
    """A system with moving-average noise: `MOVING`."""
    rng = np.random.default_rng(seed)
    u, y, e = rng.normal(size=samples), np.zeros(samples), 0.2 * rng.normal(size=samples)
    for k in range(1, samples):
        y[k] = u[k - 1] + 0.5 * y[k - 1] + 0.1 * y[k - 1] * u[k - 1] + e[k] + 0.8 * e[k - 1]
    return u[:, None], y


def polynomial(seed=0, samples=120):
    x = np.random.default_rng(seed).uniform(-2.0, 2.0, (samples, 2))
    return x, 1.5 - 2.0 * x[:, 0] + 0.25 * x[:, 0] ** 2 * x[:, 1] - x[:, 1] ** 3


def terms(model):
    """Each term by name with its coefficient."""
    table = model.table()
    return dict(zip(table["term"].values.tolist(), table["coefficient"].values.tolist(), strict=True))


class TestNoise:
    @pytest.mark.parametrize("seed", [0, 1])
    def test_extended_least_squares_removes_the_bias(self, seed):
        u, y = moving_average(seed, 4000)
        narx = Narmax(2, (1,), (1,), n_terms=3).fit(u, y)
        narmax = Narmax(2, (1,), (1,), (1,), n_terms=4).fit(u, y)
        assert set(terms(narmax)) == set(MOVING)
        errors = dict(zip(terms(narmax), narmax.errors_, strict=True))
        for name, value in terms(narmax).items():
            assert abs(value - MOVING[name]) < 4.0 * errors[name], name
        biased = dict(zip(terms(narx), zip(narx.coefficients_, narx.errors_, strict=True), strict=True))["y(k-1)"]
        assert biased[0] - 0.5 > max(4.0 * biased[1], 2.0 * abs(terms(narmax)["y(k-1)"] - 0.5))
        assert narmax.residuals_.std() == pytest.approx(0.2, rel=0.03)

    @pytest.mark.parametrize("count", [4, "bic", "cv", "err"])
    def test_noise_terms_are_found_with_every_n_terms(self, count):
        u, y = moving_average(0)
        model = Narmax(2, (1, 2), (1, 2), (1, 2), n_terms=count, threshold=0.04, max_terms=8).fit(u, y)
        assert set(terms(model)) == set(MOVING)

    def test_residuals_of_the_fit_are_those_of_prediction(self):
        u, y = moving_average(0, 300)
        model = Narmax(2, (1,), (1, 2), (1,)).fit(u, y)
        assert any("e(" in name for name in terms(model))
        np.testing.assert_allclose((y - model.predict(u, y))[2:], model.residuals_, rtol=0, atol=1e-5)

    def test_diverging_residuals_are_left_out(self):
        """Of a few meaningless samples, on which rounding decides whether residuals diverge or do not settle."""
        diverged = 0
        for seed in range(21, 41):
            rng = np.random.default_rng(seed)
            x, y = 10.0 * rng.normal(size=(12, 1)).round(), rng.normal(size=12).round()
            with pytest.warns(FitWarning) as caught:
                model = Narmax(3, (1,), (1, 2), (1,)).fit(x, y)
            if any("residuals diverge" in str(each.message) for each in caught):
                diverged += 1
                with pytest.warns(FitWarning):
                    plain = Narmax(3, (1,), (1, 2)).fit(x, y)
                assert terms(model) == terms(plain)
                np.testing.assert_array_equal(model.predict(x, y), plain.predict(x, y))
        assert diverged

    def test_without_noise_there_are_no_noise_terms(self):
        u, _ = lagged_system(0)
        y = np.zeros(len(u))
        for k in range(1, len(u)):
            y[k] = 0.5 * y[k - 1] + u[k - 1, 0]
        model = Narmax(2, (1,), (1,), (1, 2), n_terms="bic").fit(u, y)
        assert terms(model) == pytest.approx({"y(k-1)": 0.5, "x1(k-1)": 1.0})


class TestStatic:
    @pytest.mark.parametrize("count", [4, "bic", "cv", "err"])
    def test_an_exact_polynomial_is_recovered(self, count):
        x, y = polynomial()
        model = Narmax(3, n_terms=count, threshold=1e-9, names=("a", "b")).fit(x, y)
        assert terms(model) == pytest.approx({"1": 1.5, "a": -2.0, "a^2 b": 0.25, "b^3": -1.0})
        assert model.lag_ == 0
        assert model.err_.sum() == pytest.approx(1.0)
        other, expected = polynomial(1)
        np.testing.assert_allclose(model.predict(other), expected, atol=1e-11)
        np.testing.assert_allclose(model.free_run(other), expected, atol=1e-11)
        assert model.score(other, expected) == pytest.approx(1.0)

    def test_a_larger_threshold_gives_fewer_terms(self):
        x, y = polynomial()
        sizes = [len(terms(Narmax(3, n_terms="err", threshold=share).fit(x, y))) for share in (0.5, 0.1, 1e-9)]
        assert sizes == sorted(sizes)
        assert sizes[0] < sizes[-1] == 4
        for share in (0.5, 0.1):
            assert 1.0 - Narmax(3, n_terms="err", threshold=share).fit(x, y).err_.sum() <= share

    @pytest.mark.parametrize("count", ["bic", "cv"])
    def test_noise_is_not_fitted_with_terms(self, count):
        x, y = polynomial(0, 400)
        y = y + 0.3 * np.random.default_rng(1).normal(size=400)
        model = Narmax(4, n_terms=count).fit(x, y)
        assert {"1", "x1", "x1^2 x2", "x2^3"} <= set(terms(model))
        assert len(terms(model)) <= 7 < 15

    @pytest.mark.parametrize("seed", range(5))
    def test_cross_validation_takes_the_number_with_the_least_error_on_left_out_folds(self, seed):
        x, y = polynomial(seed, 60)
        y = y + np.random.default_rng(seed).normal(size=60)
        wrong = np.zeros(8)
        for part in np.array_split(np.arange(60), 5):
            kept = np.delete(np.arange(60), part)
            for k in range(8):
                model = Narmax(3, n_terms=k + 1).fit(x[kept], y[kept])
                wrong[k] += ((model.predict(x[part]) - y[part]) ** 2).sum()
        assert len(terms(Narmax(3, n_terms="cv", max_terms=8).fit(x, y))) == wrong.argmin() + 1

    def test_never_more_terms_than_max_terms(self):
        x, y = polynomial()
        assert len(terms(Narmax(3, n_terms="bic", max_terms=2).fit(x, y))) == 2

    @pytest.mark.parametrize("lags", [(), (1,)])
    def test_read_only_and_strided_arrays_give_the_same_fit(self, lags):
        x, y = polynomial()
        model = Narmax(3, (0,), lags, lags).fit(x, y)
        x, y = np.repeat(x, 3, 1)[:, ::3], np.repeat(y, 2)[::2]
        for array in (x, y):
            array.flags.writeable = False
        for again in (Narmax(3, (0,), lags, lags).fit(x, y), Narmax(3, [0], list(lags), np.array(lags)).fit(x, y)):
            np.testing.assert_array_equal(again.coefficients_, model.coefficients_)
            np.testing.assert_array_equal(again.predict(x, y), model.predict(x, y))
        one = x[:, :1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
            assert np.isfinite(Narmax(2, (0,), lags).fit(one, y).coefficients_).all()

    def test_a_model_with_lagged_inputs_only_needs_no_output(self):
        u = np.random.default_rng(0).normal(size=(60, 1))
        y = np.concatenate([[0.0, 0.0], u[:-2, 0] + 0.5 * u[1:-1, 0]])
        model = Narmax(1, (1, 2)).fit(u, y)
        predicted = model.predict(u)
        assert predicted[:2] == pytest.approx([y.mean()] * 2)
        np.testing.assert_allclose(predicted[2:], y[2:], atol=1e-12)


class TestMistakes:
    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"n_terms": "aic"}, "n_terms='aic' is not possible; allowed: whole numbers from 1 on, or bic, err or cv"),
            ({"n_terms": 0}, "n_terms=0 is not possible; allowed: whole numbers from 1 on"),
            ({"n_terms": None}, "n_terms=None is not possible"),
            ({"n_terms": True}, "n_terms=True is not possible"),
            ({"n_terms": np.array([1, 2])}, r"n_terms=array\(\[1, 2\]\) is not possible"),
            ({"n_terms": 2.5}, "n_terms=2.5 is not possible"),
            ({"max_terms": 0}, "max_terms=0 is not possible; allowed: whole numbers from 1 on"),
            ({"max_terms": "3"}, "max_terms='3' is not possible"),
            ({"max_terms": None}, "max_terms=None is not possible"),
            ({"max_terms": 2.5}, "max_terms=2.5 is not possible"),
            ({"threshold": "x"}, "threshold='x' is not possible; allowed: numbers from 0 to 1"),
            ({"threshold": np.nan}, "threshold=nan is not possible"),
            ({"threshold": 2}, "threshold=2 is not possible"),
            ({"threshold": None}, "threshold=None is not possible"),
            ({"degree": 0}, "degree=0 is not possible"),
            ({"degree": True}, "degree=True is not possible"),
            ({"degree": "2"}, "degree='2' is not possible"),
            ({"degree": 1.5}, "degree=1.5 is not possible"),
            ({"output_lags": (0,)}, "different whole numbers from 1 on"),
            ({"noise_lags": (0,)}, "different whole numbers from 1 on"),
            ({"input_lags": (-1,)}, "different whole numbers from 0 on"),
            ({"input_lags": (1, 1)}, "different whole numbers from 0 on"),
            ({"input_lags": [[1], [-1, 2]]}, "input_lags of x2=.* different whole numbers from 0 on"),
            ({"input_lags": [[1], 2]}, "different whole numbers from 0 on"),
            ({"input_lags": [[1], [1], [1]]}, "lags of 3 inputs; there are 2"),
            ({"input_lags": {"x1": 1}}, "input_lags of x1=1 is not possible"),
            ({"input_lags": {"u": (1,)}}, "input_lags has u; the inputs are x1, x2"),
            ({"steps_ahead": 0}, "steps_ahead=0 is not possible"),
            ({"steps_ahead": 10**30}, "steps_ahead=10+ is not possible; allowed: whole numbers from 1 to 10+, or None"),
            ({"steps_ahead": "2"}, "steps_ahead='2' is not possible"),
            ({"centre": "no"}, "centre='no' is not possible; allowed: True and False"),
            ({"centre": None}, "centre=None is not possible"),
            ({"steps_ahead": 1.5}, "steps_ahead=1.5 is not possible"),
            ({"input_lags": 1}, r"input_lags=1 is not possible; give a sequence such as \(1,\)"),
            ({"input_lags": np.array(1)}, "give a sequence such as"),
            ({"input_lags": iter((1,))}, "input_lags=<.*> is not possible; give a sequence such as"),
            ({"input_lags": (lag for lag in (1, 2))}, "give a sequence such as"),
            ({"input_lags": map(int, "12")}, "give a sequence such as"),
            ({"input_lags": {"x1": iter((1,))}}, "input_lags of x1=<.*> is not possible"),
            ({"input_lags": "12"}, "input_lags='12' is not possible"),
            ({"output_lags": iter((1,))}, "output_lags=<.*> is not possible; give a sequence such as"),
            ({"output_lags": 3}, "output_lags=3 is not possible; give a sequence such as"),
            ({"output_lags": {1: 2}}, "output_lags={1: 2} is not possible"),
            ({"noise_lags": None}, "noise_lags=None is not possible"),
            ({"output_lags": (np.nan,)}, "different whole numbers from 1 on"),
            ({"n_terms": "cv", "folds": 1}, "folds=1 is not possible; allowed: whole numbers from 2 on"),
            ({"n_terms": "cv", "folds": None}, "folds=None is not possible"),
            ({"folds": 2.5}, "folds=2.5 is not possible"),
            ({"names": (1, 2)}, r"names=\(1, 2\) is not possible; allowed: a sequence of texts, one for each input"),
            ({"names": np.array("a")}, "names=array.* is not possible"),
            ({"names": (["a"], "b")}, "names=.* is not possible"),
            ({"names": 5}, "names=5 is not possible"),
            ({"names": "ab"}, "names='ab' is not possible"),
            ({"names": iter("ab")}, "names=<.*> is not possible"),
            ({"names": {"a", "b"}}, "names={.*} is not possible"),
            ({"names": ("a",)}, "1 names for 2 inputs"),
            ({"output_lags": (120,)}, "120 samples are not enough for lags of 120"),
        ],
    )
    def test_settings(self, settings, said):
        x, y = polynomial()
        with pytest.raises(SandlotError, match=said) as error:
            Narmax(**settings).fit(x, y)
        assert isinstance(error.value, ValueError)
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize("lags", [[1, 2], {1, 2}, range(1, 3), np.array([1, 2]), {"x1": {1, 2}}, [{1, 2}]])
    def test_lags_in_every_form(self, lags):
        u, y = lagged_system(0)
        assert [each.lag for each in Narmax(1, lags).fit(u, y).variables_] == [1, 2]
        assert expected_failed_checks(Narmax(1, lags))

    @pytest.mark.parametrize("settings", [{"output_lags": 3}, {"noise_lags": iter(())}, {"input_lags": 1}])
    def test_checks_that_fail_for_impossible_lags(self, settings):
        with pytest.raises(SandlotError, match="is not possible; give a sequence such as"):
            expected_failed_checks(Narmax(**settings))

    @pytest.mark.parametrize(
        ("x", "y", "said"),
        [
            (np.zeros((4, 2)), np.zeros(5), "y has 5 samples and X 4"),
            (np.zeros((4, 2, 1)), np.zeros(4), "dim 3"),
            (np.zeros((0, 2)), np.zeros(0), "0 sample"),
            (np.zeros(4), np.zeros(4), "1D array"),
            (np.full((4, 2), "a"), np.zeros(4), "could not convert string to float"),
            (np.zeros((4, 2)), np.full(4, "a"), "could not convert string to float"),
            (np.full((4, 2), np.nan), np.zeros(4), "X has NaN or infinity"),
            (np.full((4, 2), np.inf), np.zeros(4), "X has NaN or infinity"),
            (np.zeros((4, 2)), np.array([0.0, np.nan, 1.0, 2.0]), "y has NaN or infinity"),
            (1e100 * np.arange(8.0).reshape(4, 2), np.arange(4.0), "too large for a degree of 2"),
            (1e-120 * np.arange(8.0).reshape(4, 2), 1e149 * np.arange(4.0), None),
        ],
    )
    def test_data(self, x, y, said):
        if said is None:
            with pytest.warns(FitWarning):
                assert np.isfinite(Narmax().fit(x, y).predict(x)).all()
            return
        with pytest.raises(ValueError, match=said):
            Narmax().fit(x, y)

    def test_predictions_that_are_impossible(self):
        u, y = lagged_system(0)
        with pytest.raises(SandlotError, match="is not fitted"):
            Narmax().predict(u)
        with pytest.raises(SandlotError, match="is not fitted"):
            Narmax().table()
        model = Narmax(1, (1,), (1, 2)).fit(u, y)
        with pytest.raises(SandlotError, match="start has 1 outputs; this model needs the first 2"):
            model.free_run(u, y[:1])
        for bad in (np.nan, np.inf):
            with pytest.raises(SandlotError, match="start has NaN or infinity; this model needs the first 2 outputs"):
                model.free_run(u, [0.0, bad])
            for steps in (1, 3, None):
                with pytest.raises(SandlotError, match="y has NaN or infinity; leave these samples out"):
                    model.set_params(steps_ahead=steps).predict(u, np.where(np.arange(y.size) == 9, bad, y))
        assert np.isfinite(model.free_run(u, [0.0, 1.0, np.nan])).all()  # only the first two are used
        with pytest.raises(ValueError, match="X has 2 features, but Narmax is expecting 1"):
            model.predict(np.zeros((5, 2)), np.zeros(5))
        with pytest.raises(SandlotError, match="y has 4 samples and X 5"):
            model.predict(np.zeros((5, 1)), np.zeros(4))


class TestDegenerate:
    @pytest.mark.parametrize("value", [0.0, 0.1, -7e8])
    @pytest.mark.parametrize("lags", [(), (1,)])
    def test_a_constant_output_gives_a_constant_model(self, value, lags):
        x = np.random.default_rng(0).normal(size=(30, 2))
        y = np.full(30, value)
        with pytest.warns(FitWarning, match="the output is constant"):
            model = Narmax(2, output_lags=lags, noise_lags=lags).fit(x, y)
        assert terms(model) == pytest.approx({"1": value})
        np.testing.assert_allclose(model.predict(x, y), value, rtol=1e-12)
        assert str(model)

    def test_few_samples_give_few_terms(self):
        x, y = polynomial(samples=6)
        with pytest.warns(FitWarning, match="only 6 samples: at most 3 terms"):
            model = Narmax(3, n_terms=10).fit(x, y)
        assert len(terms(model)) == 3
        assert np.isfinite(model.predict(x)).all()
        assert np.isfinite(model.errors_).all()

    def test_one_sample(self):
        with pytest.warns(FitWarning):
            model = Narmax(3).fit([[2.0, 3.0]], [5.0])
        assert model.predict([[9.0, 9.0]]) == pytest.approx([5.0])

    def test_a_million_samples(self):
        u = np.random.default_rng(0).normal(size=(1_000_000, 1))
        y = lfilter([0.0, 1.0], [1.0, -0.5], u[:, 0] ** 2)  # y(k) = 0.5 y(k-1) + u(k-1)^2
        model = Narmax(2, (1,), (1,)).fit(u, y)
        assert terms(model) == pytest.approx({"y(k-1)": 0.5, "x1(k-1)^2": 1.0})

    def test_few_samples_for_cross_validation(self):
        x, y = polynomial(samples=8)
        with pytest.warns(FitWarning):
            assert np.isfinite(Narmax(2, n_terms="cv").fit(x, y).predict(x)).all()

    def test_of_collinear_inputs_one_is_used(self):
        x, _ = polynomial()
        x[:, 1] = 2.0 * x[:, 0]
        with pytest.warns(FitWarning, match="1 collinear terms are left out"):
            model = Narmax(1).fit(x, 3.0 * x[:, 0] + 1.0)
        assert len(terms(model)) == 2
        assert np.abs(model.coefficients_).max() < 4.0
        np.testing.assert_allclose(model.predict(x), 3.0 * x[:, 0] + 1.0)

    @pytest.mark.parametrize("value", [0.0, 5.0])
    def test_a_constant_input_is_not_used(self, value):
        x, _ = polynomial()
        x[:, 1] = value
        with pytest.warns(FitWarning, match="collinear terms are left out"):
            model = Narmax(2).fit(x, x[:, 0] ** 2)
        np.testing.assert_allclose(model.predict(x), x[:, 0] ** 2, atol=1e-11)

    @given(
        st.integers(1, 12),
        st.integers(1, 2),
        st.integers(1, 3),
        st.sampled_from(["bic", "err", "cv", 1, 4]),
        st.sampled_from([((0,), (), ()), ((0, 1), (1,), ()), ((1,), (1, 2), (1,))]),
        st.integers(-120, 120),
        st.integers(-120, 120),
        st.booleans(),
        st.integers(0, 2**32 - 1),
    )
    @example(12, 1, 2, "bic", ((0,), (), ()), -80, 120, False, 0)
    @example(12, 2, 3, 4, ((1,), (1, 2), (1,)), 0, 0, True, 0)
    @example(12, 1, 3, "bic", ((1,), (1, 2), (1,)), 1, 0, True, 21)
    @example(4, 1, 1, "bic", ((1,), (1, 2), (1,)), 0, 0, True, 120)
    @settings(max_examples=100)
    def test_coefficients_are_always_finite(self, samples, inputs, degree, count, lags, large, high, whole, seed):
        """Inputs and outputs of any scale, some with few different values, so that terms repeat."""
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(samples, inputs)), rng.normal(size=samples)
        if whole:
            x, y = x.round(), y.round()
        x, y = x * 10.0**large, y * 10.0**high
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
            try:
                model = Narmax(degree, *lags, n_terms=count).fit(x, y)
            except SandlotError:
                assert samples <= 2 or max(degree * abs(large), degree * abs(high)) > 20
                return
        assert np.isfinite(model.coefficients_).all()
        assert np.isfinite(model.errors_).all()
        assert np.isfinite(model.predict(x, y)).all()
        assert 0.0 <= model.err_.sum() < 1.0 + 1e-9
        assert len(terms(model)) >= 1


@pytest.mark.parametrize(("number", "example"), [(0, "narmax.py"), (1, "narmax_search.py")])
def test_the_page_shows_what_its_examples_print(number, example, capsys):
    docs = Path(__file__).parents[2] / "docs"
    runpy.run_path(str(docs / "examples" / example))
    page = (docs / "narmax.md").read_text(encoding="utf-8")
    assert f'--8<-- "{example}"' in page
    shown = re.findall(r"It prints:\n\n```text\n(.*?)```", page, re.DOTALL)[number]
    printed = capsys.readouterr().out
    short = [re.sub(r"(\.\d{3})\d+", r"\1", " ".join(text.split())) for text in (printed, shown)]
    assert short[0] == short[1]
