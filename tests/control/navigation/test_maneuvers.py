"""Moves and turns: blind, corrected as in the source, and precise."""

import math

import numpy as np
import pytest
from numba import config

from sandlot.control.navigation.maneuvers import BlindManeuvers, CorrectedManeuvers, Limits, run_tracks, still
from sandlot.control.navigation.precise import PreciseManeuvers
from sandlot.control.navigation.reference import Reference
from sandlot.geometry.planar import between
from sandlot.worlds.indoor.rover import simulate
from sandlot.worlds.indoor.settings import IndoorSettings

SLOW = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="too slow without Numba")
QUIET = {"kind": "tracked", "slip": 0.0, "coasting_deviation": 0.0}


FEW = {"beams": 9}
"""Of a lidar whose scans do not matter."""


def make(seed=0, **given):
    return simulate(
        IndoorSettings(**{"robot": "tracked", "plan": "apartment", "start": (1.6, 4.3, 0.0), **given}), seed
    )


def test_tracks_run_as_far_as_they_should_and_then_coast():
    rover, truth = make(robot=QUIET, encoders={"missed": 0.0}, lidar=FEW)
    sensed = run_tracks(rover, 0.5, 0.5, 0.3)
    assert 0.5 < truth.moved[0] < 0.56
    assert sensed.odometry.x == pytest.approx(truth.moved[0], abs=0.003)
    run_tracks(rover, -0.2, -0.2, 0.05)
    assert 0.29 < truth.moved[0] < 0.36
    run_tracks(rover, -0.05, 0.05, 0.05)
    assert truth.moved[2] == pytest.approx(0.1 / rover.chassis.turning_width, rel=0.1)


def test_tracks_whose_encoders_count_nothing_are_halted():
    rover, _ = make(encoders={"missed": 1.0}, lidar=FEW)
    sensed = run_tracks(rover, 0.1, 0.1, 0.3)
    assert sensed.time < 6.0
    assert rover.halt().time == sensed.time


def test_blind_maneuvers_are_off_by_the_slip():
    errors = []
    for seed in range(5):
        rover, truth = make(seed, lidar=FEW)
        BlindManeuvers(rover).move(1.0)
        errors.append(abs(truth.moved[0] - 1.0))
        before = truth.moved[2]
        BlindManeuvers(rover).turn(1.0)
        assert truth.moved[2] - before == pytest.approx(1.0, abs=0.35)
    assert 0.03 < np.mean(errors) < 0.2


def test_the_source_corrects_only_the_error_of_its_maneuver():
    rover, truth = make(2, lidar=FEW)
    begin = [truth.pose]
    moves = CorrectedManeuvers(
        rover,
        lambda _, __, wanted: between(begin[0], truth.pose)[0] - wanted,
        lambda _, __, wanted: between(begin[0], truth.pose)[2] - wanted,
    )
    outcome = moves.move(1.5)
    assert (outcome.reason, outcome.corrections > 0) == ("", True)
    assert abs(truth.moved[0] - 1.5) == pytest.approx(abs(outcome.error), abs=1e-9)
    assert abs(outcome.error) <= 0.05
    begin[0] = truth.pose
    outcome = moves.turn(-1.0)
    assert abs(between(begin[0], truth.pose)[2] + 1.0) <= math.radians(2.0)
    assert outcome.reason == ""


def test_corrections_that_do_not_help_end():
    rover, _ = make(lidar=FEW)
    moves = CorrectedManeuvers(rover, lambda *_: 0.06, lambda *_: math.nan, Limits(corrections=2))
    assert moves.move(0.1).reason == "not within limits after 2 corrections"
    assert moves.turn(0.1).reason == "the scans before and after the maneuver cannot be compared"


def test_a_scan_at_rest_fills_gaps_with_further_turns():
    rover, _ = make()
    one, many = still(rover, 1), still(rover, 8)
    assert np.isfinite(one.ranges).mean() < 0.5 < 0.9 < np.isfinite(many.ranges).mean()


@SLOW
def test_the_source_measures_its_errors_by_comparing_scans():
    """With little slip it finds them; its own tests say how well."""
    rover, truth = make(robot={"kind": "tracked", "slip": 0.2})
    moves, begin = CorrectedManeuvers(rover), truth.pose
    outcome = moves.move(1.0)
    went = between(begin, truth.pose)
    assert went[0] - 1.0 == pytest.approx(outcome.error, abs=0.03)
    begin = truth.pose
    outcome = moves.turn(0.8)
    turned = between(begin, truth.pose)
    assert math.degrees(turned[2] - 0.8) == pytest.approx(math.degrees(outcome.error), abs=1.0)


@SLOW
def test_precise_moves_and_turns_end_where_they_should():
    rover, truth = make(3)
    maneuvers = PreciseManeuvers(rover)
    for outcome in (maneuvers.move(1.5), maneuvers.turn(math.pi), maneuvers.turn(-math.pi), maneuvers.move(-1.5)):
        assert outcome.reason == ""
        seen = between(truth.moved, maneuvers.target)
        assert math.hypot(seen[0], seen[1]) < 0.012
        assert abs(math.degrees(seen[2])) < 0.5
    assert truth.bumps == 0


@SLOW
def test_a_rover_that_sees_nothing_stops_and_says_why():
    rover, truth = make(lidar={"missing": 1.0})
    maneuvers = PreciseManeuvers(rover)
    for outcome in (maneuvers.move(1.0), maneuvers.turn(1.0)):
        assert "0 beams returned" in outcome.reason
    where = truth.pose
    assert rover.halt().time == rover.halt().time
    assert truth.pose.tolist() == where.tolist()


@SLOW
def test_a_reference_tells_where_the_rover_is():
    rover, truth = make(5)
    reference = Reference()
    reference.extend(rover.scan(10).scans)
    for speeds in ((0.2, 0.2), (-0.1, 0.1), (-0.2, -0.1)):
        reference.follow(rover.drive(*speeds, 1.5).scans)
        assert reference.reason == ""
        reference.follow(rover.scan(5).scans, at_rest=True)
        np.testing.assert_allclose(reference.pose, truth.moved, atol=0.005)
