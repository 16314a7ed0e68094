"""Feet of a rover: where they are, and what they cover."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.geometry.planar import wrap
from sandlot.geometry.rotations import rotation_matrix
from sandlot.surrogates.terrain.feet import (
    ADVANCE,
    FOOT,
    SINK,
    STANCE,
    columns_below,
    cover,
    foot_of,
    has_moved,
    make_ground,
    node_in,
    rows_below,
    stance_of,
    stand,
)
from sandlot.surrogates.terrain.shape import shape_of

angles = st.floats(-0.6, 0.6)


@pytest.fixture(scope="module", params=["wheeled", "tracked"])
def shape(request):
    return shape_of(request.param)


def placed(feet, position, attitude):
    stances = np.zeros(len(feet), STANCE)
    stand(feet, np.asarray(position, np.float64), np.asarray(attitude, np.float64), stances)
    return stances


@given(angles, angles, st.floats(-3.1, 3.1))
def test_feet_turn_with_the_chassis(roll, pitch, yaw):
    feet = np.array([(0.1, -0.2, -0.03, 0.05, 0.02, 0.01), (-0.1, 0.2, 0.0, 0.0, 0.03, 0.02)], FOOT)
    position, rotation = np.array([1.0, -2.0, 0.5]), rotation_matrix(roll, pitch, yaw)
    found = placed(feet, position, (roll, pitch, yaw))
    for foot, stance in zip(feet, found, strict=True):
        middle = position + rotation @ np.array([foot["x"], foot["y"], foot["z"]])
        np.testing.assert_allclose([stance["x"], stance["y"], stance["z"]], middle, atol=1e-12)
        ahead, left = rotation[:, 0], rotation[:, 1]
        assert stance["slope"] == pytest.approx(ahead[2] / np.hypot(ahead[0], ahead[1]))
        assert stance["tilt"] == pytest.approx(left[2] / np.hypot(left[0], left[1]))


def test_a_wheel_is_round_and_a_box_is_flat():
    wheel = np.array([(0.0, 0.0, 0.0, 0.0, 0.03, 0.018)], FOOT)
    size, stance = foot_of(wheel[0]), stance_of(placed(wheel, (0.0, 0.0, 0.05), (0.0, 0.0, 0.0))[0])
    for u in (0.0, 0.01, -0.02):
        part, under = cover(size, stance, u, 0.0, 100.0)
        assert part == 1.0
        assert under == pytest.approx(0.05 - np.sqrt(0.03**2 - u**2))
    assert cover(size, stance, 0.0, 0.018, 100.0)[0] == pytest.approx(0.5)
    assert cover(size, stance, 0.031, 0.0, 100.0)[0] == 0.0
    assert cover(size, stance, 0.0, 0.024, 100.0)[0] == 0.0
    box = np.array([(0.0, 0.0, -0.02, 0.08, 0.0, 0.04)], FOOT)
    stance = stance_of(placed(box, (0.0, 0.0, 0.05), (0.0, 0.1, 0.0))[0])
    part, under = cover(foot_of(box[0]), stance, stance.x + 0.05, 0.0, 100.0)
    assert part == 1.0
    assert under == pytest.approx(stance.z - 0.05 * np.tan(0.1))


@given(st.floats(-3.1, 3.1), st.floats(-0.4, 0.4), st.floats(-0.4, 0.4))
def test_rows_and_columns_below_a_foot_have_all_nodes_that_it_covers(yaw, x, y):
    feet = shape_of("tracked").feet
    ground = make_ground(np.zeros((120, 120)), (-0.595, -0.595), 0.01, True)
    for one, at in zip(feet, placed(feet, (x, y, 0.05), (0.0, 0.0, yaw)), strict=True):
        foot, stance = foot_of(one), stance_of(at)
        first_row, last_row = rows_below(foot, stance, ground, 0.0)
        checked = 0
        for row in range(first_row - 2, last_row + 3):
            first, last = columns_below(foot, stance, ground, row, 0.0)
            near = round((stance.x + 0.595) / 0.01)
            for column in range(near - 20, near + 20):
                if cover(foot, stance, -0.595 + 0.01 * column, -0.595 + 0.01 * row, 100.0)[0] > 0.0:
                    assert first_row <= row <= last_row
                    assert first <= column <= last
                    checked += 1
            more = columns_below(foot, stance, ground, row, 0.02)
            assert last < first or (more[0] < first and more[1] > last)
        assert checked > 10


def test_nodes_beyond_the_edge():
    assert [node_in(k, 5, True) for k in (-13, -1, 0, 4, 5, 18)] == [2, 4, 0, 4, 0, 3]
    assert [node_in(k, 5, False) for k in (-1, 0, 4, 5)] == [-1, 0, 4, -1]


def test_feet_of_the_shipped_rovers(shape):
    wheels = shape.feet[shape.feet["radius"] > 0.0]
    assert np.all(wheels["z"] - wheels["radius"] < shape.feet["z"].min())
    np.testing.assert_allclose(shape.below.mean(axis=0), 0.0, atol=1e-12)
    assert np.all(np.abs(shape.below) < np.hypot(*shape.corner) + shape.radius)
    assert shape.weight == pytest.approx(9.81 * 2.0)


poses = st.tuples(
    *[st.floats(-0.004, 0.004)] * 2, *[st.floats(-4e-4, 4e-4)], *[st.floats(-0.002, 0.002)] * 2, st.floats(-0.05, 0.05)
)


@given(st.floats(-np.pi, np.pi), poses)
def test_feet_have_moved_as_plain_numpy_says(yaw, moved):
    lever, spacing, last = 0.2, 0.01, np.array([1.0, -2.0, 0.1, 0.02, -0.03, yaw])
    now = last + np.array(moved)
    now[5] = wrap(float(now[5]))
    shift = now - last
    shift[5] = np.angle(np.exp(1j * shift[5]))
    level = np.linalg.norm(shift[:2]) + lever * abs(shift[5]) - ADVANCE * spacing
    upright = abs(shift[2]) + lever * np.linalg.norm(shift[3:5]) - SINK
    if min(abs(level), abs(upright)) > 1e-12:
        assert has_moved(now[:3], now[3:], last[:3], last[3:], lever, spacing) == (level > 0.0 or upright > 0.0)


def test_a_rover_that_crosses_the_heading_pi_has_not_moved():
    place, before, after = np.zeros(3), np.array([0.0, 0.0, np.pi - 1e-3]), np.array([0.0, 0.0, 1e-3 - np.pi])
    assert not has_moved(place, after, place, before, 0.2, 0.01)
    assert not has_moved(place, before, place, after, 0.2, 0.01)
    assert has_moved(place, -after, place, after, 30.0, 0.01)
