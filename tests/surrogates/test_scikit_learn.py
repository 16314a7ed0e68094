"""Narmax among scikit-learn's tools: its checks of an estimator, pipelines, cross-validation and grid searches."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, TimeSeriesSplit, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_estimator,
    check_n_features_in_after_fitting,
)

from sandlot.errors import FitError, SandlotError
from sandlot.surrogates.narmax import FitWarning, Narmax
from sandlot.surrogates.regressor import expected_failed_checks

MODELS = {
    "static": Narmax(),
    "lagged inputs": Narmax(1, (0, 1)),
    "lagged outputs": Narmax(2, (0, 1), (1, 2)),
    "three steps ahead": Narmax(2, (0, 1), (1, 2), steps_ahead=3),
    "only the past, with residuals": Narmax(1, (1,), (1,), (1,), steps_ahead=None),
}


def motor(samples=400, seed=0, noise=0.05):
    """A second-order system with a quadratic input: (samples, 1), (samples,)."""
    rng = np.random.default_rng(seed)
    u, y, e = rng.uniform(-1.0, 1.0, (samples, 1)), np.zeros(samples), noise * rng.normal(size=samples)
    for k in range(2, samples):
        y[k] = 0.6 * y[k - 1] - 0.2 * y[k - 2] + u[k - 1, 0] + 0.5 * u[k - 1, 0] ** 2 + e[k]
    return u, y


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_all_checks_pass_but_those_that_a_past_forbids(model):
    expected = expected_failed_checks(model)
    results = check_estimator(model, expected_failed_checks=expected, on_skip=None, on_fail=None)
    failed = {each["check_name"]: str(each["exception"]) for each in results if each["status"] == "failed"}
    assert not failed
    missed = {each["check_name"]: each["exception"] for each in results if each["status"] == "xfail"}
    assert set(missed) == set(expected)
    # Other predictions, as declared, and not an error on the way to them.
    assert all(isinstance(each, AssertionError) and "Not equal to tolerance" in str(each) for each in missed.values())
    assert bool(expected) == (model is not MODELS["static"])
    for check in (check_dataframe_column_names_consistency, check_n_features_in_after_fitting):
        check("Narmax", clone(model))


class TestColumns:
    """DataFrames, whose columns have names."""

    def test_reordered_columns_are_refused(self):
        x, y = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["a", "b"]), np.arange(50.0)
        model = Narmax(1).fit(x, y)
        assert model.feature_names_in_.tolist() == ["a", "b"]
        with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
            model.predict(x[["b", "a"]])
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            model.predict(x.to_numpy())

    def test_names_that_swap_columns_are_refused(self):
        x = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["u", "v"])
        y = 3.0 * x["u"] - x["v"]
        with pytest.raises(FitError, match=r"names are those of X's columns in another order; .* or give u, v"):
            Narmax(1, names=("v", "u")).fit(x, y)
        for names in (None, ("u", "v"), ["u", "v"]):
            assert str(Narmax(1, names=names).fit(x, y)).startswith("y = 3 u - 1 v")

    def test_columns_name_the_inputs(self):
        x = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["a", "b"])
        assert "a^2" in str(Narmax(2).fit(x, x["a"] ** 2))
        assert "u^2" in str(Narmax(2, names=("u", "v")).fit(x, x["a"] ** 2))
        model = Narmax(2).fit(x, x["a"] ** 2).fit(x.to_numpy(), x["a"] ** 2)
        assert not hasattr(model, "feature_names_in_")
        assert "x1^2" in str(model)

    @pytest.mark.parametrize("dtype", [np.float32, np.int64, object])
    def test_other_types_give_the_same_model(self, dtype):
        x = np.random.default_rng(0).integers(-9, 9, (60, 2))
        y = x[:, 0] - 2 * x[:, 0] * x[:, 1]
        models = [Narmax(2).fit(x.astype(each), y.astype(each)) for each in (np.float64, dtype)]
        np.testing.assert_array_equal(models[0].coefficients_, models[1].coefficients_)
        np.testing.assert_array_equal(*(each.predict(x.astype(dtype)) for each in models))


class TestErrors:
    def test_an_unfitted_model_raises_the_errors_of_both(self):
        for kind in (NotFittedError, SandlotError, ValueError):
            with pytest.raises(kind, match="is not fitted"):
                Narmax().predict(np.zeros((3, 1)))

    def test_a_fold_too_short_to_score(self):
        u, y = motor()
        model = Narmax(1, (1,), (1, 2)).fit(u, y)
        with pytest.raises(ValueError, match="2 samples are not enough to score"):
            model.score(u[:2], y[:2])


class TestPipelines:
    def test_clone_and_parameters(self):
        model = Narmax(3, (1, 2), (1,), names=("a",), steps_ahead=None)
        copy = clone(model)
        assert copy.get_params() == model.get_params()
        assert copy.set_params(degree=1, n_terms=5).degree == 1
        assert not hasattr(clone(model.set_params(degree=1).fit(*motor())), "coefficients_")

    def test_in_a_pipeline(self):
        x = np.random.default_rng(0).uniform(-2.0, 2.0, (120, 2))
        y = 1.5 - 2.0 * x[:, 0] + 0.25 * x[:, 0] ** 2 * x[:, 1]
        pipeline = make_pipeline(StandardScaler(), Narmax(3)).fit(100.0 + x, y)
        assert pipeline.score(100.0 + x, y) == pytest.approx(1.0)
        assert cross_val_score(pipeline, 100.0 + x, y, cv=4) == pytest.approx(np.ones(4))

    def test_printed_before_and_after_the_fit(self):
        model = Narmax(3)
        assert str(model) == "Narmax(degree=3)"
        assert "ERR" in str(model.fit(*motor()))
        assert repr(model) == "Narmax(degree=3)"


class TestScores:
    @pytest.mark.parametrize("folds", [TimeSeriesSplit(3), KFold(3)], ids=["time series", "k-fold"])
    @pytest.mark.parametrize("steps", [1, 5, None])
    def test_cross_validation_scores_the_predictions_of_each_fold(self, steps, folds):
        u, y = motor()
        model = Narmax(2, (1,), (1, 2), steps_ahead=steps)
        scores = cross_val_score(model, u, y, cv=folds)
        for score, (train, test) in zip(scores, folds.split(u), strict=True):
            fitted = clone(model).fit(u[train], y[train])
            first = 2 + (steps or 1) - 1  # those before start the prediction, or are fewer steps ahead
            left, measured = (fitted.predict(u[test], y[test]) - y[test])[first:], y[test][first:]
            assert score == pytest.approx(1.0 - (left @ left) / ((measured - measured.mean()) ** 2).sum())
            if steps is None:
                np.testing.assert_array_equal(fitted.free_run(u[test], y[test][:2]), fitted.predict(u[test], y[test]))
        assert (scores > 0.9).all()

    def test_errors_grow_with_the_steps_ahead(self):
        u, y = motor(noise=0.2)
        model = Narmax(2, (1,), (1, 2)).fit(u, y)
        runs = [model.set_params(steps_ahead=steps).predict(u, y) for steps in (1, 2, 3, None)]
        scores = [r2_score(y[4:], run[4:]) for run in runs]  # of the same samples: those 3 steps ahead
        assert scores == sorted(scores, reverse=True)
        assert scores[0] > scores[-1]

    def test_predictions_fewer_steps_ahead_are_not_scored(self):
        u, y = motor(60, noise=0.2)
        labels = np.repeat([0, 1], 30)
        model = Narmax(2, (1,), (1, 2), steps_ahead=4).fit(u, y, labels)
        scored = np.arange(60) % 30 >= 2 + 3
        expected = r2_score(y[scored], model.predict(u, y, labels)[scored])
        assert model.score(u, y, segments=labels) == pytest.approx(expected)
        with pytest.raises(FitError, match="5 samples are not enough to score a model with lags of 2, 4 steps ahead"):
            model.score(u[:5], y[:5], segments=labels[:5])
        inputs = Narmax(1, (1, 2)).fit(u, y)  # inputs are known however many steps ahead
        assert inputs.score(u, y) == inputs.set_params(steps_ahead=4).score(u, y)

    def test_a_grid_search_finds_lags_degree_and_number_of_terms(self):
        u, y = motor()
        grid = {"output_lags": [(1,), (1, 2)], "degree": [1, 2], "n_terms": [2, 4, "bic"]}
        search = GridSearchCV(Narmax(input_lags=(1,), steps_ahead=None), grid, cv=TimeSeriesSplit(3)).fit(u, y)
        best = search.best_params_
        assert (best["output_lags"], best["degree"]) == ((1, 2), 2)
        assert search.best_score_ > 0.98
        assert set(search.best_estimator_.table()["term"].values) == {"y(k-1)", "y(k-2)", "x1(k-1)", "x1(k-1)^2"}

    def test_other_metrics_see_a_free_run_from_the_mean_output(self):
        u, y = motor()
        model = Narmax(2, (1,), (1, 2))
        scores = cross_val_score(model, u, y, cv=TimeSeriesSplit(3), scoring="neg_root_mean_squared_error")
        assert (scores > -0.3).all()
        model.fit(u, y)
        assert model.mean_ == pytest.approx(y.mean())
        np.testing.assert_array_equal(model.predict(u), model.free_run(u, [model.mean_] * 2))
        assert cross_val_predict(model, u, y, cv=KFold(4)).shape == y.shape

    def test_a_free_run_that_diverges_scores_minus_infinity(self):
        u, y = motor()
        model = Narmax(2, (1,), (1,), steps_ahead=None).fit(u, y)
        model.factors_, model.coefficients_ = np.array([[0, 0]]), np.array([9.0])  # 9 y(k-1)^2
        assert model.score(u + 1.0, y + 1.0) == -np.inf

    @pytest.mark.parametrize("lags", [(), (1,)])
    def test_measured_outputs_must_be_finite(self, lags):
        u, y = motor()
        model = Narmax(1, (0,), lags).fit(u, y)
        y[7] = np.nan
        with pytest.raises(ValueError, match="y has NaN or infinity"):
            model.score(u, y)

    def test_weights_of_the_first_samples_are_left_out(self):
        u, y = motor()
        model = Narmax(2, (1,), (1, 2)).fit(u, y)
        weight = np.ones(len(y))
        weight[:2] = 1e9
        assert model.score(u, y, weight) == pytest.approx(model.score(u, y))


class TestSegments:
    def test_segments_are_routed_to_fit_and_score(self):
        parts = [motor(80, seed) for seed in range(6)]
        u, y = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
        y += np.repeat(np.arange(6) % 2, 80)  # without segments, these jumps would look like dynamics
        labels = np.repeat(np.arange(6), 80)
        model = Narmax(2, (1,), (1, 2))
        with sklearn.config_context(enable_metadata_routing=True):
            model.set_fit_request(segments=True).set_score_request(segments=True)
            scores = cross_val_score(model, u, y, cv=GroupKFold(3), params={"segments": labels, "groups": labels})
        for score, (train, test) in zip(scores, GroupKFold(3).split(u, y, labels), strict=True):
            fitted = Narmax(2, (1,), (1, 2)).fit(u[train], y[train], labels[train])
            assert score == fitted.score(u[test], y[test], segments=labels[test])
            with pytest.warns(FitWarning, match="the fit had segments, the score has none"):
                assert fitted.score(u[test], y[test], segments=labels[test]) > fitted.score(u[test], y[test])

    def test_a_score_without_the_segments_of_the_fit_warns(self):
        u, y = motor(240)
        labels = np.repeat(np.arange(6), 40)
        search = GridSearchCV(Narmax(1, (1,), (1,), steps_ahead=None), {"degree": [1]}, cv=GroupKFold(3))
        with pytest.warns(FitWarning, match="the fit had segments, the score has none"):
            search.fit(u, y, segments=labels, groups=labels)  # without routing, only fits get them
        with warnings.catch_warnings():
            warnings.simplefilter("error", FitWarning)
            search.best_estimator_.score(u, y, segments=labels)
            Narmax(1, (1,), (1,)).fit(u, y).score(u, y)
            Narmax(1).fit(u, y, labels).score(u, y)  # no lag reaches anywhere

    def test_memory_maps_as_parallel_folds_get_them(self, tmp_path):
        u, y = motor()
        for name, each in (("u", u), ("y", y)):
            np.save(tmp_path / f"{name}.npy", each)
        mapped = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("u", "y")]
        models = [Narmax(2, (1,), (1, 2), (1,)).fit(*data) for data in ((u, y), mapped)]
        np.testing.assert_array_equal(models[0].coefficients_, models[1].coefficients_)
        assert models[1].score(*mapped) == models[0].score(u, y)


def test_few_samples():
    for samples in (1, 2):
        x, y = np.arange(2.0 * samples).reshape(samples, 2), np.arange(samples) + 5.0
        with pytest.warns(FitWarning):
            assert np.isfinite(Narmax(3).fit(x, y).predict(x)).all()
        with pytest.raises(ValueError, match=f"{samples} samples are not enough for lags of 2"):
            Narmax(1, (0,), (2,)).fit(x, y)
