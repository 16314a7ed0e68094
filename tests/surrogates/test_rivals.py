"""Rivals of the sensor models: nearest scans, a neural net and a map."""

import math

import numpy as np
import pytest

from sandlot.errors import SandlotError
from sandlot.surrogates.mapped import Mapped
from sandlot.surrogates.rivals import Lookup, Net
from sandlot.surrogates.sensorgraph import Sensorgraph
from square_room import room

KINDS = [Lookup, lambda: Net((2,)), lambda: Net((2,), shared=True), lambda: Mapped(0.2)]


def scans(seed, count, beams=24):
    return room(seed, count, beams, side=3.0)


def test_lookup_at_a_pose_of_the_log_returns_its_scan():
    graph = scans(0, 60)
    model = Lookup().fit(graph)
    np.testing.assert_allclose(model.predict(graph.poses), graph.segments(), rtol=1e-6)
    np.testing.assert_allclose(
        model.predict(graph.poses + np.array([0.0, 0.0, 2.0 * math.pi])), graph.segments(), rtol=1e-6
    )
    assert model.size == 60 * 9


def test_lookup_weights_scans_by_inverse_distance():
    poses = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [50.0, 0.0, 0.0], [51.0, 0.0, 0.0]])
    model = Lookup().fit(Sensorgraph(poses, np.repeat([[1.0], [2.0], [8.0], [9.0]], 6, 1), np.linspace(-1.0, 1.0, 6)))
    model.neighbours_ = 2
    np.testing.assert_allclose(model.predict(np.array([[0.25, 0.0, 0.0]])), np.full((1, 6), 1.25))


def test_the_same_seed_gives_the_same_net():
    graph = scans(0, 15)
    one, same, other = (Net((6,), seed=seed).fit(graph).predict(graph.poses) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    assert Net((6,)).fit(graph).size == 4 * 6 + 6 + 6 * 6 + 6


@pytest.mark.parametrize("shared", [False, True])
def test_a_net_learns_a_room(shared):
    model = Net((24,), shared=shared).fit(scans(0, 120))
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


@pytest.mark.parametrize("kind", [Lookup, Net])
def test_logs_without_a_complete_scan_are_explained(kind):
    graph = scans(0, 10)
    graph.ranges[:, :4] = np.nan
    with pytest.raises(SandlotError, match="no scan has a return in every segment"):
        kind().fit(graph)
