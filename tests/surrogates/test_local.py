"""Many small polynomials: cross-validation chooses well, and cells without samples fall back to medians."""

import math

import numpy as np
import pytest
from numba import config

from sandlot.errors import SandlotError
from sandlot.surrogates import lines
from sandlot.surrogates.local import WIDE, Local
from sandlot.surrogates.sensorgraph import Sensorgraph, directions
from square_room import room
from twins import lines as twin

SLOW = bool(config.DISABLE_JIT)
COARSE, FINE = (60.0, WIDE, WIDE), (15.0, 1.5, WIDE)


def wrong(model, graph):
    return float(np.nanmean(np.abs(model.predict(graph.poses) - graph.segments())))


def test_cross_validation_chooses_the_grid_with_the_smaller_error():
    count = 60 if SLOW else 400
    graph, other = room(0, count), room(1, 100)
    errors = {grid: wrong(Local(grids=(grid,)).fit(graph), other) for grid in (COARSE, FINE)}
    both = Local(grids=(COARSE, FINE)).fit(graph)
    assert errors[FINE] < errors[COARSE]
    assert both.chosen_[0] == FINE
    assert wrong(both, other) <= 1.05 * errors[FINE]
    assert both.cv_error_ == pytest.approx(wrong(both, other), rel=0.5)
    assert both.cv_error_ < (0.25 if SLOW else 0.08)
    assert both.size > 0
    assert both.equation().endswith("- ahead")


def test_finer_grids_are_used_first_and_coarser_ones_where_they_have_no_polynomial():
    fine = (10.0, 0.8, WIDE)
    model = Local(grids=(COARSE, fine)).fit(room(0, 20))
    assert model.chosen_ == [fine, COARSE]
    asked = directions(room(1, 20).poses, model.segment_bearings_)
    first, second = (lines.predict(grid, asked, model.least_) for grid in model.grids_)
    assert 0.0 < np.isnan(first).mean() < 1.0
    expected = np.clip(np.where(np.isnan(first), second, first), *model.range_limits_).reshape(-1, 6)
    np.testing.assert_allclose(model.predict(room(1, 20).poses), expected, rtol=1e-12)


def test_where_no_cell_has_a_polynomial_it_predicts_the_median_of_the_segment():
    graph = room(0, 30)
    graph.poses[:, 2] *= 0.02
    model = Local(grids=((15.0, WIDE, WIDE),)).fit(graph)
    backwards = np.array([[0.0, 0.0, math.pi]])
    fallback = np.median(graph.segments(), 0)
    assert np.ptp(fallback) > 0.1
    np.testing.assert_allclose(model.predict(backwards)[0, 1:5], fallback[1:5])
    none = Local(grids=()).fit(graph)
    np.testing.assert_array_equal(none.predict(graph.poses), np.tile(fallback, (30, 1)))
    assert none.chosen_ == []
    assert none.equation() == f"range = {fallback[3]:.4g}"


@pytest.mark.filterwarnings("error")
def test_a_segment_without_returns_predicts_like_the_others():
    graph = room(0, 40)
    graph.ranges[:, :6] = np.nan
    found = Local(grids=()).fit(graph).predict(graph.poses)
    np.testing.assert_allclose(found[:, 0], np.nanmedian(graph.segments()))


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_predictions_are_the_polynomials_at_the_segment_directions(degree):
    model = Local(degree, grids=(COARSE, FINE)).fit(room(0, 40))
    asked = room(1, 3).poses
    expected = np.repeat(model.fallback_[None], 3, 0)
    for grid in reversed(model.grids_):
        said = np.reshape(twin.predict(grid, directions(asked, model.segment_bearings_)), (3, 6))
        expected = np.where(np.isnan(said), expected, said)
    np.testing.assert_allclose(model.predict(asked), np.clip(expected, *model.range_limits_), rtol=1e-9)


def test_predictions_stay_within_the_ranges_of_the_log():
    graph = room(0, 60)
    found = Local(grids=(COARSE,)).fit(graph).predict(room(1, 100, reach=30.0).poses)
    medians = graph.windows()[1]
    assert found.min() >= medians.min()
    assert found.max() <= medians.max()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scans", [1, 2, 3, 5])
@pytest.mark.parametrize("lost", [False, True])
def test_tiny_logs_give_a_model(scans, lost):
    graph = room(0, scans + lost)
    if lost:
        graph.ranges[0] = np.nan
    model = Local(grids=(COARSE, FINE)).fit(graph)
    found = model.predict(room(1, 5).poses)
    assert found.shape == (5, 6)
    assert np.isfinite(found).all()
    assert model.range_limits_[0] <= found.min() <= found.max() <= model.range_limits_[1]


def test_scans_without_a_return_do_no_harm():
    graph = room(0, 80)
    with_lost = Sensorgraph(
        np.concatenate([graph.poses, room(5, 20).poses]),
        np.concatenate([graph.ranges, np.full((20, 36), np.nan)]),
        graph.bearings,
    )
    one, other = (Local(grids=(COARSE,)).fit(each) for each in (graph, with_lost))
    assert wrong(other, graph) == pytest.approx(wrong(one, graph), rel=0.1)


def test_poses_with_nan_or_infinity_do_not_crash():
    model = Local(grids=(COARSE, FINE)).fit(room(0, 60))
    asked = np.array([[math.nan, 0.0, 0.0], [0.0, math.inf, 0.0], [0.0, 0.0, math.nan], [1e308, -1e308, 1e308]])
    assert np.isfinite(model.predict(asked)).all()


def test_a_laser_that_is_not_centred_ahead_is_modelled_as_well():
    count = 60 if SLOW else 300
    straight = Local(grids=(FINE,)).fit(room(0, count))
    aside = Local(grids=(FINE,)).fit(room(0, count, centre=1.0))
    assert aside.centre_bearing_ == pytest.approx(1.0)
    assert wrong(aside, room(1, 50, centre=1.0)) < 1.3 * wrong(straight, room(1, 50))


def test_scans_without_enough_beams_or_returns_are_explained():
    with pytest.raises(SandlotError, match="a scan has 1 beams; 6 segments need at least 6"):
        Local().fit(room(0, 20, beams=1))
    graph = room(0, 20)
    graph.ranges[:] = np.nan
    with pytest.raises(SandlotError, match="no beam of any scan has a return"):
        Local().fit(graph)


def test_a_fit_is_deterministic():
    one, other = (Local(grids=(COARSE, FINE)).fit(room(0, 50)).predict(room(1, 20).poses) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("poses", [np.zeros((4, 2)), np.zeros(3)])
def test_poses_of_another_shape_are_refused(poses):
    with pytest.raises(SandlotError, match=r"of shape \(poses, 3\), not"):
        Local(grids=(COARSE,)).fit(room(0, 40)).predict(poses)


def test_a_degree_above_the_maximum_is_refused():
    with pytest.raises(SandlotError, match="degree=9 is not possible; allowed: from 1 to 8"):
        Local(9).fit(room(0, 40))


def test_many_poses_at_once_give_the_same_as_one_at_a_time():
    model = Local(grids=(COARSE, FINE)).fit(room(0, 40))
    poses = room(1, 20 if SLOW else 1500).poses
    found = model.predict(poses)
    for k in range(0, len(poses), 7):
        np.testing.assert_array_equal(model.predict(poses[k : k + 1])[0], found[k])
