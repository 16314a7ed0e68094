"""Poses in the plane: they form a group, and angles are wrapped the same everywhere."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.geometry.planar import (
    between,
    compose,
    interpolate,
    invert,
    rectangle,
    rotate,
    rotate_one,
    wrap,
    wrap_below_pi,
    wrap_compiled,
)

ANGLES = st.floats(-50.0, 50.0)
POSES = st.tuples(st.floats(-100.0, 100.0), st.floats(-100.0, 100.0), ANGLES).map(np.array)


def same(one, other):
    """Whether two poses are the same, whatever multiple of a full turn their yaws differ by."""
    assert one[:2] == pytest.approx(other[:2], abs=1e-9)
    assert wrap(one[2] - other[2]) == pytest.approx(0.0, abs=1e-9)


@given(ANGLES)
def test_wrapped_angles_are_within_half_a_turn_and_point_the_same_way(angle):
    array = np.array([angle])
    for wrapped in (wrap(angle), *wrap(array), *wrap_below_pi(array), wrap_compiled(angle)):
        assert abs(wrapped) <= math.pi + 1e-12
        assert math.cos(wrapped) == pytest.approx(math.cos(angle), abs=1e-9)
        assert math.sin(wrapped) == pytest.approx(math.sin(angle), abs=1e-9)


@given(st.floats(-3.1415, 3.1415))
def test_angles_within_half_a_turn_stay_exactly_as_they_are(angle):
    assert wrap(angle) == angle
    assert wrap(np.array([angle]))[0] == angle
    assert wrap_below_pi(np.array([angle]))[0] == angle
    assert wrap_compiled(angle) == angle


def test_both_directions_straight_back_are_one():
    assert wrap_below_pi(np.array([-math.pi, math.pi, 3.0 * math.pi])).tolist() == [-math.pi] * 3


def test_nan_stays_nan():
    assert math.isnan(wrap(np.array([math.nan]))[0])


@given(POSES, POSES, POSES)
def test_composition_is_associative(a, b, c):
    same(compose(compose(a, b), c), compose(a, compose(b, c)))


@given(POSES)
def test_a_pose_and_its_inverse_cancel(pose):
    same(compose(pose, invert(pose)), np.zeros(3))
    same(compose(invert(pose), pose), np.zeros(3))


@given(POSES, POSES)
def test_between_is_what_leads_from_one_to_the_other(a, b):
    same(compose(a, between(a, b)), b)


def test_compose_matches_a_known_case():
    same(compose([1.0, 2.0, math.pi / 2], [3.0, 0.0, 0.1]), np.array([1.0, 5.0, math.pi / 2 + 0.1]))


def test_a_quarter_turn_to_the_left():
    for turn in (rotate, rotate_one):
        assert turn(np.array([1.0, 0.0]), math.pi / 2) == pytest.approx([0.0, 1.0], abs=1e-12)


def test_a_rectangle_begins_at_its_front_left():
    corners = rectangle([1.0, 2.0], (4.0, 2.0), math.pi / 2)
    assert corners == pytest.approx(np.array([(0.0, 4.0), (0.0, 0.0), (2.0, 0.0), (2.0, 4.0)]))
    assert rectangle(np.ones((3, 2)), (4.0, 2.0), np.zeros(3)).shape == (3, 4, 2)


@given(POSES, POSES)
def test_interpolation_begins_and_ends_at_the_poses(a, b):
    same(interpolate(a, b, 0.0), a)
    same(interpolate(a, b, 1.0), b)


def test_interpolation_takes_the_shorter_way_around():
    middle = interpolate([0.0, 0.0, 3.0], [2.0, 0.0, -3.0], 0.5)
    assert middle[0] == 1.0
    assert abs(middle[2]) == pytest.approx(math.pi)


def test_batches_are_the_same_as_single_poses():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 5, 3))
    both = compose(a, b)
    assert both == pytest.approx(np.array([compose(one, other) for one, other in zip(a, b, strict=True)]))
    assert interpolate(a, b, np.full(5, 0.3)).shape == (5, 3)
