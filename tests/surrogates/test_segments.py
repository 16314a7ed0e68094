"""Fits and predictions over several segments: no lag reaches across a boundary."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from sandlot.errors import FitError
from sandlot.surrogates.narmax import Narmax
from sandlot.surrogates.segments import join, longest, rows, split


def episode(seed, samples, start):
    """Exact dynamics from a start of its own: (samples, 2), (samples,)."""
    u, y = np.random.default_rng(seed).uniform(-1.0, 1.0, (samples, 2)), np.full(samples, start)
    for k in range(2, samples):
        y[k] = 0.5 * y[k - 1] + u[k - 1, 0] - 0.3 * u[k - 2, 1] * y[k - 2]
    return u, y


EPISODES = [episode(seed, samples, start) for seed, (samples, start) in enumerate([(40, 5.0), (2, 9.0), (60, -5.0)])]
U, Y = (np.concatenate(each) for each in zip(*EPISODES, strict=True))
LABELS = np.repeat(["first", "short", "last"], [40, 2, 60])
EXACT = {"y(k-1)": 0.5, "x1(k-1)": 1.0, "y(k-2) x2(k-2)": -0.3}


def terms(model):
    table = model.table()
    return dict(zip(table["term"].values.tolist(), table["coefficient"].values.tolist(), strict=True))


def test_boundaries_are_where_labels_change():
    assert split(None, 5).tolist() == [0, 5]
    assert split(["a", "a", "b", "b", "c"], 5).tolist() == [0, 2, 4, 5]
    assert split(pd.Series([7, 7, 7]), 3).tolist() == [0, 3]
    assert longest(np.array([0, 2, 9, 10])) == 7
    assert rows(np.array([0, 4, 5, 9]), 2).tolist() == [2, 3, 7, 8]


@pytest.mark.parametrize("labels", [[1, 2], [[1], [1], [2]], [1.0, np.nan, 1.0], ["a", None, None], ["a", pd.NA, "b"]])
def test_every_sample_needs_a_label(labels):
    with pytest.raises(FitError, match=r"give (one label for each|every) sample"):
        split(labels, 3)


def test_missing_labels_of_pandas():
    for labels in (
        pd.array([1, pd.NA, 2], "Int64"),
        pd.Series(["a", None, "b"]),
        pd.to_datetime(["2020", None, "2021"]),
    ):
        with pytest.raises(FitError, match="segments has None, NA or NaN; give every sample a label"):
            split(labels, 3)


@pytest.mark.parametrize("labels", [["a", "b", "a"], [0, 1, 0], np.array([1.5, 2.5, 1.5], object)])
def test_the_samples_of_a_segment_are_consecutive(labels):
    with pytest.raises(FitError, match=r"segment .* returns after another; the samples of a segment are consecutive"):
        split(labels, 3)


def test_exact_dynamics_are_found_only_if_lags_stay_within_segments():
    model = Narmax(2, (1, 2), (1, 2)).fit(U, Y, LABELS)
    assert terms(model) == pytest.approx(EXACT)
    assert model.residuals_.shape == (38 + 58,)
    assert np.abs(model.residuals_).max() < 1e-12
    assert np.abs(Narmax(2, (1, 2), (1, 2)).fit(U, Y).residuals_).max() > 1.0


@pytest.mark.parametrize("steps", [1, 3, None])
def test_each_segment_is_predicted_from_its_own_start(steps):
    model = Narmax(2, (1, 2), (1, 2), n_terms=2, steps_ahead=steps).fit(U, Y, LABELS)
    alone = [model.predict(u, y) for u, y in EPISODES]
    np.testing.assert_array_equal(model.predict(U, Y, LABELS), np.concatenate(alone))
    assert model.score(U, Y, segments=LABELS) < 1.0


def test_residuals_stay_within_segments():
    rng = np.random.default_rng(0)
    parts = []
    for start in (0.0, 20.0, -20.0):
        u, e, y = rng.normal(size=(500, 1)), 0.2 * rng.normal(size=500), np.full(500, start)
        for k in range(1, 500):
            y[k] = 0.5 * y[k - 1] + u[k - 1, 0] + e[k] + 0.8 * e[k - 1]
        parts.append((u, y))
    u, y = (np.concatenate(each) for each in zip(*parts, strict=True))
    labels = np.repeat([0, 1, 2], 500)
    model = Narmax(1, (1,), (1,), (1,), n_terms=3).fit(u, y, labels)
    assert terms(model) == pytest.approx({"y(k-1)": 0.5, "x1(k-1)": 1.0, "e(k-1)": 0.8}, abs=0.05)
    kept = rows(split(labels, 1500), 1)
    np.testing.assert_allclose((y - model.predict(u, y, labels))[kept], model.residuals_, rtol=0, atol=1e-5)
    assert model.validity(u, segments=labels).attrs["outside"] < 0.1


def test_a_single_segment_is_the_same_as_none():
    models = [Narmax(2, (1,), (1,), (1,)).fit(U, Y, labels) for labels in (None, np.zeros(len(Y)))]
    np.testing.assert_array_equal(models[0].coefficients_, models[1].coefficients_)


def test_segments_shorter_than_the_lags_are_refused_if_there_are_no_others():
    with pytest.raises(FitError, match="2 samples in the longest segment are not enough for lags of 2"):
        Narmax(1, (1,), (2,)).fit(U[:6], Y[:6], [0, 0, 1, 1, 2, 2])


class TestLagsOfEachInput:
    @pytest.mark.parametrize("lags", [{"x1": (1,), "x2": [2]}, [(1,), (2,)], np.array([[1], [2]])])
    def test_lags_may_differ(self, lags):
        model = Narmax(2, lags, (1, 2)).fit(U, Y, LABELS)
        assert terms(model) == pytest.approx(EXACT)
        assert [(each.name, each.lag) for each in model.variables_] == [("y", 1), ("y", 2), ("x1", 1), ("x2", 2)]

    def test_an_input_that_is_left_out_is_not_used(self):
        model = Narmax(2, {"b": (0, 3)}, names=("a", "b")).fit(U, Y)
        assert {each.name for each in model.variables_} == {"b"}
        assert model.lag_ == 3


class TestJoin:
    def recordings(self):
        return [
            xr.Dataset(
                {"a": ("time", u[:, 0]), "b": ("time", u[:, 1]), "speed": ("time", y), "pose": (("time", "axis"), u)}
            )
            for u, y in EPISODES
        ]

    def test_recordings_become_segments(self):
        model = Narmax(2, {"a": (1,), "b": (2,)}, (1, 2)).fit(*join(self.recordings(), ("a", "b"), "speed"))
        assert terms(model) == pytest.approx({"y(k-1)": 0.5, "a(k-1)": 1.0, "y(k-2) b(k-2)": -0.3})

    @pytest.mark.parametrize(
        ("inputs", "said"),
        [
            (("c",), "recording 0 has no c; it has a, b, speed, pose"),
            (("pose",), "pose of recording 0 is not one number"),
        ],
    )
    def test_what_is_missing_is_named(self, inputs, said):
        with pytest.raises(FitError, match=said):
            join(self.recordings(), inputs, "speed")
        with pytest.raises(FitError, match="there is no recording"):
            join([], inputs, "speed")

    @pytest.mark.parametrize(
        ("inputs", "said"),
        [
            ("a", "inputs='a' is not possible; give a sequence of names"),
            (iter("a"), "inputs=<.*> is not possible; give a sequence of names"),
            (5, "inputs=5 is not possible"),
            ([], "there is no input; name at least one"),
            (["a", "speed"], "the output speed is among the inputs"),
            (["a", "b", "a"], "the input a is named 2 times"),
        ],
    )
    def test_inputs_that_are_impossible(self, inputs, said):
        with pytest.raises(FitError, match=said):
            join(self.recordings(), inputs, "speed")

    def test_recordings_that_are_impossible(self):
        with pytest.raises(FitError, match="recordings is a Dataset; give a list of recordings"):
            join(self.recordings()[0], ("a",), "speed")
        with pytest.raises(FitError, match="recordings is a generator; give a list of recordings"):
            join((each for each in self.recordings()), ("a",), "speed")
        with pytest.raises(FitError, match="recording 0 is a DataFrame; give a Dataset"):
            join([pd.DataFrame({"a": [1.0]})], ("a",), "speed")
