"""Rivals of the sensor models: nearest scans, a neural net and a map."""

import math

import numpy as np
import pytest

from sandlot.errors import SandlotError
from sandlot.surrogates import nets
from sandlot.surrogates.lookup import REACHES, Lookup
from sandlot.surrogates.mapped import Mapped
from sandlot.surrogates.nets import Net
from sandlot.surrogates.sensorgraph import Sensorgraph
from square_room import room

KINDS = [Lookup, lambda: Lookup(windows=False), lambda: Net((2,)), lambda: Mapped((0.2,))]


@pytest.fixture(autouse=True)
def short_training(monkeypatch):
    monkeypatch.setattr(nets, "STAGES", ((1e-2, 600), (1e-3, 200)))


def scans(seed, count, beams=24):
    return room(seed, count, beams, side=3.0)


def test_a_table_of_scans_returns_the_scan_of_a_pose_of_the_log():
    graph = scans(0, 60)
    model = Lookup(windows=False).fit(graph)
    np.testing.assert_allclose(model.predict(graph.poses), graph.segments(), rtol=1e-6)
    np.testing.assert_allclose(
        model.predict(graph.poses + np.array([0.0, 0.0, 2.0 * math.pi])), graph.segments(), rtol=1e-6
    )
    assert model.size == 60 * 9


def test_a_table_of_windows_knows_a_direction_from_other_beams():
    graph = scans(0, 60, beams=36)
    model = Lookup().fit(graph)
    np.testing.assert_allclose(model.predict(graph.poses), graph.segments(), rtol=1e-6)
    rays, medians, _ = graph.windows()
    at = rays[7] - np.array([0.0, 0.0, model.segment_bearings_[2]])  # the window that ends up in segment 2
    np.testing.assert_allclose(model.predict(at[None])[0, 2], medians[7], rtol=1e-6)
    assert model.size == 60 * 3 + len(medians)


def test_windows_make_the_table_more_accurate():
    graph, asked = scans(0, 100, beams=36), scans(1, 100, beams=36)
    wrong = [
        np.abs(Lookup(windows).fit(graph).predict(asked.poses) - asked.segments()).mean() for windows in (True, False)
    ]
    assert wrong[0] < 0.7 * wrong[1]


@pytest.mark.parametrize("windows", [True, False])
def test_where_no_entry_is_near_the_table_predicts_the_median_of_the_segment(windows):
    graph = scans(0, 80)
    model = Lookup(windows).fit(graph)
    assert model.reach_ in REACHES
    model.reach_ = 0.5
    found = model.predict(np.array([[50.0, 0.0, 0.0], [*graph.poses[3]]]))
    np.testing.assert_allclose(found[0], np.median(graph.segments(), 0))
    np.testing.assert_allclose(found[1], graph.segments()[3], rtol=1e-6)


def test_a_reach_is_chosen_if_later_scans_are_in_other_rooms():
    one, other = scans(0, 120), scans(1, 120)
    far = Sensorgraph(other.poses + np.array([30.0, 0.0, 0.0]), 3.0 * other.ranges, other.bearings)
    assert Lookup().fit(Sensorgraph.join([one, far])).reach_ < np.inf


def test_lookup_weights_scans_by_inverse_distance():
    poses = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [50.0, 0.0, 0.0], [51.0, 0.0, 0.0]])
    ranges = np.repeat([[1.0], [2.0], [8.0], [9.0]], 6, 1)
    model = Lookup(windows=False).fit(Sensorgraph(poses, ranges, np.linspace(-1.0, 1.0, 6)))
    model.neighbours_, model.reach_ = 2, np.inf
    np.testing.assert_allclose(model.predict(np.array([[0.25, 0.0, 0.0]])), np.full((1, 6), 1.25))


def test_the_same_seed_gives_the_same_net():
    graph = scans(0, 15)
    one, same, other = (Net((6,), seed=seed).fit(graph).predict(graph.poses) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    assert Net((6,)).fit(graph).size == 4 * 6 + 6 + 6 + 1
    assert one.max() <= graph.windows()[1].max()


def test_a_net_learns_a_room():
    model = Net((24,)).fit(scans(0, 120))
    asked = scans(1, 60)
    deviation_of_medians = np.abs(asked.segments() - np.median(asked.segments()))
    wrong = np.abs(model.predict(asked.poses) - asked.segments())
    assert wrong.shape == (60, 6)
    assert wrong.mean() < 0.7 * deviation_of_medians.mean()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_tiny_logs_give_a_model(kind, count):
    graph = scans(0, count)
    assert np.isfinite(kind().fit(graph).predict(graph.poses)).all()
    both = scans(0, count + 1)
    both.ranges[0] = np.nan
    assert np.isfinite(kind().fit(both).predict(both.poses)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_scans_without_returns_are_explained(kind):
    graph = scans(0, 10)
    graph.ranges[:] = np.nan
    with pytest.raises(SandlotError, match="no beam of any scan has a return"):
        kind().fit(graph)
    with pytest.raises(SandlotError, match="a scan has 2 beams"):
        kind().fit(scans(0, 10, beams=2))


def test_only_a_table_of_scans_needs_complete_scans():
    graph = scans(0, 10)
    graph.ranges[:, :4] = np.nan
    with pytest.raises(SandlotError, match="no scan has a return in every segment"):
        Lookup(windows=False).fit(graph)
    for kind in (Lookup, Net, Mapped):
        assert np.isfinite(kind().fit(graph).predict(graph.poses)).all()
