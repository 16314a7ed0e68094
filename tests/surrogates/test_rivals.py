"""What others use: a table, a net and a map do what they are known for."""

import math

import numpy as np
import pytest
from numba import config

from sandlot.errors import SandlotError
from sandlot.surrogates.rivals import Lookup, Mapped, Net
from sandlot.surrogates.sensorgraph import Sensorgraph

SLOW = bool(config.DISABLE_JIT)
SIDE = 3.0
KINDS = [Lookup, lambda: Net((2,)), lambda: Net((2,), shared=True), lambda: Mapped(0.2)]


def room(seed, count, beams=24):
    rng = np.random.default_rng(seed)
    poses = rng.uniform((-1.5, -1.5, -math.pi), (1.5, 1.5, math.pi), (count, 3))
    bearings = ((np.arange(beams) + 0.5) / beams - 0.5) * math.pi
    angles = poses[:, 2:] + bearings
    cos, sin = np.cos(angles), np.sin(angles)
    ranges = np.minimum((np.copysign(SIDE, cos) - poses[:, :1]) / cos, (np.copysign(SIDE, sin) - poses[:, 1:2]) / sin)
    return Sensorgraph(poses, ranges, bearings)


def test_at_a_pose_of_the_log_the_table_gives_its_scan():
    graph = room(0, 60)
    model = Lookup().fit(graph)
    np.testing.assert_allclose(model.predict(graph.poses), graph.segments(), rtol=1e-6)
    np.testing.assert_allclose(
        model.predict(graph.poses + np.array([0.0, 0.0, 2.0 * math.pi])), graph.segments(), rtol=1e-6
    )
    assert model.size == 60 * 9


def test_the_table_mixes_scans_by_how_near_they_are():
    poses = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [50.0, 0.0, 0.0], [51.0, 0.0, 0.0]])
    model = Lookup().fit(Sensorgraph(poses, np.repeat([[1.0], [2.0], [8.0], [9.0]], 6, 1), np.linspace(-1.0, 1.0, 6)))
    model.nearest_ = 2
    np.testing.assert_allclose(model.predict(np.array([[0.25, 0.0, 0.0]])), np.full((1, 6), 1.25))


def test_the_same_seed_gives_the_same_net():
    graph = room(0, 15)
    one, same, other = (Net((6,), seed=seed).fit(graph).predict(graph.poses) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    assert Net((6,)).fit(graph).size == 4 * 6 + 6 + 6 * 6 + 6


@pytest.mark.parametrize("shared", [False, True])
def test_a_net_learns_a_room(shared):
    model = Net((24,), shared=shared).fit(room(0, 120))
    asked = room(1, 60)
    usual = np.abs(asked.segments() - np.median(asked.segments()))
    wrong = np.abs(model.predict(asked.poses) - asked.segments())
    assert wrong.shape == (60, 6)
    assert wrong.mean() < 0.7 * usual.mean()


def test_ranges_in_a_map_of_a_square_room_are_right_within_cells():
    cell = 0.1
    model = Mapped(cell).fit(room(0, 20 if SLOW else 150, beams=60))
    asked = room(1, 10, beams=60)
    wrong = np.abs(model.predict(asked.poses) - asked.segments())
    assert np.median(wrong) < cell
    assert np.mean(wrong < 2.0 * cell) > 0.9
    assert 0 < model.size < 0.5 * model.hits_.size


def test_beams_that_meet_nothing_end_where_the_map_does():
    graph = room(0, 20)
    graph.ranges[np.abs(np.cos(graph.poses[:, 2:] + graph.bearings)) > 0.9] = np.nan  # no walls to the left and right
    model = Mapped(0.2).fit(graph)
    found = model.predict(np.array([[0.0, 0.0, 0.0], [100.0, 0.0, 0.0]]))
    assert np.isfinite(found).all()
    assert (found <= model.most_).all()
    assert (found[1] == model.most_).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scans", [1, 2, 5])
def test_tiny_logs_give_a_model(kind, scans):
    graph = room(0, scans)
    assert np.isfinite(kind().fit(graph).predict(graph.poses)).all()
    both = room(0, scans + 1)
    both.ranges[0] = np.nan
    assert np.isfinite(kind().fit(both).predict(both.poses)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_scans_that_say_nothing_are_explained(kind):
    graph = room(0, 10)
    graph.ranges[:] = np.nan
    with pytest.raises(SandlotError, match="nothing came back"):
        kind().fit(graph)
    with pytest.raises(SandlotError, match="a scan has 2 of the 6 beams"):
        kind().fit(room(0, 10, beams=2))


@pytest.mark.parametrize("kind", [Lookup, Net])
def test_scans_of_which_none_is_whole_are_explained(kind):
    graph = room(0, 10)
    graph.ranges[:, :4] = np.nan
    with pytest.raises(SandlotError, match="no scan has a return in every segment"):
        kind().fit(graph)
