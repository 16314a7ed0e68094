"""Polynomials of the pose: the kernel, the two models that use it, and their predictions where scans are few."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.errors import SandlotError
from sandlot.surrogates.polynomials import polynomials, products
from sandlot.surrogates.sensor_models import MIN_SCANS, Headings, Sectors, assess
from sandlot.surrogates.sensorgraph import Sensorgraph, directions

SEEDS = st.integers(0, 2**32 - 1)
SIDE = 4.0
TWELFTH = math.pi / 6


def room(poses, beams=36):
    """Exact scans in a square room of 8 m around the origin."""
    bearings = ((np.arange(beams) + 0.5) / beams - 0.5) * math.pi
    return Sensorgraph(poses, walls(poses[:, :1], poses[:, 1:2], poses[:, 2:] + bearings), bearings)


def walls(x, y, angles):
    cos, sin = np.cos(angles), np.sin(angles)
    with np.errstate(divide="ignore"):
        return np.minimum((np.copysign(SIDE, cos) - x) / cos, (np.copysign(SIDE, sin) - y) / sin)


def poses_in_room(seed, count, reach=1.5):
    rng = np.random.default_rng(seed)
    return rng.uniform((-reach, -reach, -math.pi), (reach, reach, math.pi), (count, 3))


@given(SEEDS)
def test_the_kernel_adds_products_and_clips_to_limits(seed):
    rng = np.random.default_rng(seed)
    sets, outputs, terms, degree, variables, samples = 2, 3, 4, 3, 2, 5
    factors = rng.integers(-1, variables, (sets, outputs, terms, degree))
    factors = -np.sort(-factors, -1)  # unused places come last
    coefficients = rng.normal(size=(sets, outputs, terms))
    counts = rng.integers(0, terms + 1, (sets, outputs))
    coefficients[np.arange(terms) >= counts[:, :, None]] = 0.0
    values, which = rng.normal(size=(samples, variables)), rng.integers(0, sets, samples)
    lowest, highest = np.full(outputs, -1.0), np.full(outputs, 1.5)
    found = polynomials(values, which, products(factors, coefficients), coefficients, lowest, highest)
    for i, o in itertools.product(range(samples), range(outputs)):
        total = 0.0
        for t in range(terms):
            used = [f for f in factors[which[i], o, t] if f >= 0]
            total += coefficients[which[i], o, t] * math.prod(values[i, f] for f in used)
        assert found[i, o] == pytest.approx(min(max(total, -1.0), 1.5), abs=1e-12)


def test_nan_becomes_the_lower_limit():
    none = np.full((1, 1, 1, 1), 0)
    shared, one = products(none, np.ones((1, 1, 1))), np.ones(1)
    found = polynomials(np.array([[np.nan]]), np.zeros(1, np.int64), shared, np.ones((1, 1, 1)), one, one)
    assert found.tolist() == [[1.0]]


@settings(max_examples=4)
@given(SEEDS)
def test_sectors_reproduce_a_truth_that_is_a_plane(seed):
    """With yaw angles at the centres of the sectors, planes of x and y are fitted exactly."""
    rng = np.random.default_rng(seed)
    poses = poses_in_room(seed, 12 * 24, reach=0.5)
    poses[:, 2] = np.tile(np.arange(12) * TWELFTH, 24)
    planes = rng.normal(size=(12, 6, 3)) * (0.2, 0.2, 0.0) + (0.0, 0.0, 5.0)
    graph = plain(poses, planes)
    model = Sectors(degree=2).fit(graph)
    asked = poses_in_room(seed + 1, 30, reach=0.2)
    asked[:, 2] = rng.integers(-30, 30, 30) * TWELFTH
    np.testing.assert_allclose(model.predict(asked), plain(asked, planes).segments(), atol=1e-6)
    assert model.size <= 12 * 6 * 6


def plain(poses, planes):
    """Scans of six beams whose ranges are planes over x and y, for each sector."""
    sector = np.round(poses[:, 2] / TWELFTH).astype(int) % 12
    places = np.column_stack([poses[:, :2], np.ones(len(poses))])
    return Sensorgraph(poses, np.einsum("nk,nsk->ns", places, planes[sector]), np.radians(np.arange(-75.0, 90.0, 30.0)))


def test_in_an_empty_room_sectors_are_near_the_true_ranges():
    model = Sectors().fit(room(poses_in_room(0, 1500)))
    asked = poses_in_room(1, 200, reach=1.2)
    wrong = np.abs(model.predict(asked) - room(asked).segments())
    assert np.median(wrong) < 0.3
    usual = np.abs(np.median(room(asked).segments(), 0) - room(asked).segments())
    assert wrong.mean() < 0.6 * usual.mean()


def test_borders_of_sectors_lie_halfway_between_their_centres():
    model = Sectors()
    for k in range(-24, 24):
        poses = np.array([[0.0, 0.0, (k + side) * TWELFTH] for side in (-0.499, 0.0, 0.499)])
        assert model.group(poses).tolist() == [k % 12] * 3
    assert Sectors(4).group(np.array([[0.0, 0.0, 0.26 * math.pi]])).tolist() == [1]


def test_a_sector_with_few_scans_predicts_the_medians_of_all_scans():
    poses = poses_in_room(0, 60)
    poses[:, 2] = 0.0
    poses[:4, 2] = 0.5 * math.pi
    graph = room(poses)
    model = Sectors().fit(graph)
    assert MIN_SCANS == 5
    usual = np.median(graph.segments(), 0)
    np.testing.assert_allclose(model.predict(np.array([[0.3, 0.2, 0.5 * math.pi]]))[0], usual, rtol=1e-12)
    assert model.models_[3] == [None] * 6
    assert all(model.models_[0])
    assert model.narmax(3, 2).predict([[9.0, 9.0]])[0] == pytest.approx(usual[2])


@pytest.mark.parametrize("kind", [Sectors, Headings])
def test_predictions_stay_within_the_ranges_of_the_log(kind):
    graph = room(poses_in_room(0, 200))
    found = kind(degree=3).fit(graph).predict(poses_in_room(1, 300, reach=50.0))
    medians = graph.segments()
    assert (found >= medians.min(0)).all()
    assert (found <= medians.max(0)).all()
    assert (found == medians.max(0)).any()


def test_headings_fit_polynomials_of_cosine_and_sine_of_the_yaw():
    """A polynomial of x, y, cosine and sine is recovered, and full turns of the yaw make no difference."""
    poses = poses_in_room(0, 300)
    ranges = 5.0 - poses[:, :1] * np.cos(poses[:, 2:]) + 0.5 * poses[:, 1:2] * np.sin(poses[:, 2:]) * np.ones(6)
    model = Headings(degree=2, max_terms=8).fit(Sensorgraph(poses, ranges, np.radians(np.arange(-75.0, 90.0, 30.0))))
    asked = poses_in_room(1, 50, reach=1.0)
    truth = 5.0 - asked[:, 0] * np.cos(asked[:, 2]) + 0.5 * asked[:, 1] * np.sin(asked[:, 2])
    for turns in (0, 1, -3):
        found = model.predict(asked + np.array([0.0, 0.0, 2.0 * math.pi * turns]))
        np.testing.assert_allclose(found, np.repeat(truth[:, None], 6, 1), atol=1e-6)
    assert "x c" in model.equation()
    assert model.size <= 36


@pytest.mark.parametrize("kind", [Sectors, Headings])
@pytest.mark.parametrize("scans", [1, 2, 5])
def test_tiny_logs_give_a_model(kind, scans):
    graph = room(poses_in_room(0, scans))
    found = kind().fit(graph).predict(poses_in_room(1, 4))
    assert np.isfinite(found).all()
    graph.ranges[0] = np.nan
    if scans > 1:
        assert np.isfinite(kind().fit(graph).predict(graph.poses)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [Sectors, Headings])
def test_a_segment_without_returns_predicts_the_median_of_the_others(kind):
    graph = room(poses_in_room(0, 80))
    graph.ranges[:, :6] = np.nan
    model = kind(degree=2).fit(graph)
    found = model.predict(poses_in_room(1, 10))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[:, 0], np.nanmedian(graph.segments()))


@pytest.mark.parametrize("kind", [Sectors, Headings])
def test_scans_without_enough_beams_or_returns_are_explained(kind):
    poses = poses_in_room(0, 20)
    with pytest.raises(SandlotError, match="a scan has 3 beams; 6 segments need at least 6"):
        kind().fit(room(poses, beams=3))
    graph = room(poses)
    graph.ranges[:] = np.nan
    with pytest.raises(SandlotError, match="no beam of any scan has a return"):
        kind().fit(graph)


def test_a_coefficient_of_zero_does_not_hide_those_after_it():
    class Fitted(Sectors):
        def _fit_one(self, values, medians):
            model = super()._fit_one(values, medians)
            model.factors_ = np.array([[0, -1], [1, -1], [-1, -1]])
            model.coefficients_ = np.array([0.0, 0.25, 3.0])
            return model

    model = Fitted(sectors=1, degree=2).fit(room(poses_in_room(0, 60)))
    asked = np.array([[model.origin_[0] + 1.0, model.origin_[1] + 0.5, 0.0]])
    np.testing.assert_allclose(model.predict(asked), np.full((1, 6), 3.125))


def test_a_model_is_assessed_on_held_out_scans():
    graph = room(poses_in_room(0, 100))

    class Perfect(Headings):
        def fit(self, given):
            self.known = len(given)
            return self

        def predict(self, poses):
            self.asked = poses
            return room(poses).segments() + np.arange(6)

    model = Perfect()
    np.testing.assert_allclose(assess(model, [graph.part(slice(60)), graph.part(slice(60, 100))], 0.2), np.arange(6))
    assert model.known == 80
    np.testing.assert_array_equal(model.asked, graph.poses[[*range(48, 60), *range(92, 100)]])
    with pytest.raises(SandlotError, match="1 scans are too few to hold out"):
        assess(model, [graph.part([0])], 0.2)


def test_the_centre_bearing_is_kept():
    graph = room(poses_in_room(0, 30))
    aside = Sensorgraph(graph.poses, graph.ranges, graph.bearings + 0.5)
    assert Sectors().fit(aside).centre_bearing_ == pytest.approx(0.5)
    assert directions(graph.poses, graph.segment_bearings()).shape == (180, 3)
