"""Matching scans of simulated rooms: random offsets are recovered, corridors and strange places are noticed."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.geometry.planar import between
from sandlot.mapping.matching.field import add_points, make_field
from sandlot.mapping.matching.matcher import MIN_POINTS, Expected, match
from sandlot.mapping.matching.points import fill, scan_points
from sandlot.mapping.submaps import place
from sandlot.places.plans import make_plan
from scan_drives import LASER, cluttered_room, scans_along

START = np.zeros(3)
pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="too slow without compilation")


def scanned(plan, pose, seed):
    return scan_points(scans_along(plan, np.array([pose]), seed)[0])


def field_of(plan, poses, seed=100):
    field = make_field(10.0, 5)
    for k, pose in enumerate(poses):
        add_points(field, place(fill(scanned(plan, pose, seed + k)), np.array(pose)))
    return field


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 1000),
    offset=st.tuples(st.floats(-0.5, 0.5), st.floats(-0.5, 0.5), st.floats(-0.6, 0.6)),
)
def test_a_random_offset_in_a_random_room_is_recovered(seed, offset):
    plan = cluttered_room(seed)
    field = field_of(plan, [(0.0, 0.0, 0.0), (0.2, 0.1, 0.1)])
    found = match(field, scanned(plan, offset, seed), Expected(START, 0.3, 0.3))
    assert not found.reason
    wrong = between(np.array(offset), found.pose)
    assert math.hypot(wrong[0], wrong[1]) < 0.03
    assert abs(wrong[2]) < 0.01


def corridor():
    """Two walls, 2 m apart, longer than the laser reaches."""
    return make_plan([(-60.0, -1.0, 60.0, -1.0), (-60.0, 1.0, 60.0, 1.0)])


def test_in_a_corridor_the_position_along_it_stays_as_expected():
    field = field_of(corridor(), [(0.0, 0.0, 0.0), (0.2, 0.0, 0.0)])
    expected = np.array([0.4, 0.1, 0.05])
    found = match(field, scanned(corridor(), (0.55, 0.0, 0.0), 1), Expected(expected, 0.1, 0.1))
    assert not found.reason
    assert found.pose[0] == pytest.approx(0.4, abs=0.05)  # as expected, not as it is
    assert found.pose[1] == pytest.approx(0.0, abs=0.02)
    assert found.pose[2] == pytest.approx(0.0, abs=0.01)
    assert len(found.weak) == 1
    assert abs(found.weak[0] @ (1.0, 0.0)) > 0.99


def test_a_room_has_no_direction_that_is_not_determined():
    plan = cluttered_room(3)
    found = match(field_of(plan, [(0.0, 0.0, 0.0)]), scanned(plan, (0.1, 0.0, 0.0), 1), Expected(START, 0.1, 0.1))
    assert len(found.weak) == 0
    deviations = np.sqrt(np.diag(np.linalg.inv(found.information)))
    assert (deviations < (0.05, 0.05, 0.02)).all()


def test_errors_are_as_large_as_the_covariance_says():
    plan, seeds = cluttered_room(5), range(20)
    field = field_of(plan, [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0)])
    found = [match(field, scanned(plan, (0.2, 0.1, 0.1), seed), Expected(START, 0.2, 0.2)) for seed in seeds]
    wrong = np.array([each.pose - (0.2, 0.1, 0.1) for each in found])
    squares = np.array([w @ each.information @ w for w, each in zip(wrong, found, strict=True)])
    assert squares.mean() < 3.0  # not more than it says; the map's own errors are shared by all


def test_a_scan_of_another_place_is_refused():
    tiny = make_plan([(x, y, x + 0.05, y) for x in np.arange(-8.0, 8.0, 1.7) for y in np.arange(-8.0, 8.0, 1.3)])
    field = field_of(cluttered_room(1), [(0.0, 0.0, 0.0)])
    found = match(field, scanned(tiny, (0.3, 0.2, 0.0), 1), Expected(START, 0.1, 0.1))
    assert found.reason
    assert "scan" in found.reason


def test_a_scan_with_few_returns_is_refused():
    field = field_of(cluttered_room(1), [(0.0, 0.0, 0.0)])
    found = match(field, np.ones((MIN_POINTS - 1, 2)), Expected(START, 0.1, 0.1))
    assert f"only {MIN_POINTS - 1} beams" in found.reason
    assert LASER.beams > MIN_POINTS
