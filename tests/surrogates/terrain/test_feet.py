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
    LANES,
    SINK,
    STANCE,
    columns_below,
    cover_row,
    foot_of,
    has_moved,
    make_ground,
    make_row,
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


def cover(foot, stance, x, y, side=0.01):
    """Covered share of one cell, and height of the underside there [m]."""
    row = np.zeros((3, LANES), np.float32)
    cover_row(foot, stance, x, y, side, 1, side, row)
    return row[0, 0], stance.z + row[1, 0]


@given(angles, angles, st.floats(-3.1, 3.1))
def test_feet_turn_with_the_chassis(roll, pitch, yaw):
    feet = np.array([(0.1, -0.2, -0.03, 0.05, 0.02, 0.01), (-0.1, 0.2, 0.0, 0.0, 0.03, 0.02)], FOOT)
    position, rotation = np.array([1.0, -2.0, 0.5]), rotation_matrix(roll, pitch, yaw)
    found = placed(feet, position, (roll, pitch, yaw))
    for foot, stance in zip(feet, found, strict=True):
        middle = position + rotation @ np.array([foot["x"], foot["y"], foot["z"]])
        np.testing.assert_allclose([stance["x"], stance["y"], stance["z"]], middle, atol=1e-12)
        axes = [[stance[f"{axis}_{part}"] for part in "xyz"] for axis in ("ahead", "left", "up")]
        np.testing.assert_allclose(axes, rotation.T, atol=1e-12)


def test_a_wheel_is_round_and_a_box_is_flat():
    wheel = np.array([(0.0, 0.0, 0.0, 0.0, 0.03, 0.018)], FOOT)
    size, stance = foot_of(wheel[0]), stance_of(placed(wheel, (0.0, 0.0, 0.05), (0.0, 0.0, 0.0))[0])
    for u in (0.0, 0.01, -0.02):
        part, under = cover(size, stance, u, 0.0)
        assert part == 1.0
        assert under == pytest.approx(0.05 - np.sqrt(0.03**2 - u**2), abs=1e-7)
    assert cover(size, stance, 0.0, 0.018)[0] == pytest.approx(0.5)
    assert cover(size, stance, 0.031, 0.0)[0] == 0.0
    assert cover(size, stance, 0.0, 0.024)[0] == 0.0
    box = np.array([(0.0, 0.0, -0.02, 0.08, 0.0, 0.04)], FOOT)
    stance = stance_of(placed(box, (0.0, 0.0, 0.05), (0.0, 0.1, 0.0))[0])
    part, under = cover(foot_of(box[0]), stance, stance.x + 0.05, 0.0)
    assert part == 1.0
    assert under == pytest.approx(stance.z - 0.05 * np.tan(0.1), abs=1e-7)


@given(
    angles, angles, st.floats(-3.1, 3.1), st.floats(-0.06, 0.06), st.floats(-0.03, 0.03), st.sampled_from([0.0, 0.05])
)
def test_the_underside_of_a_leaning_foot_is_where_a_vertical_line_enters_it(roll, pitch, yaw, dx, dy, straight):
    """The twin asks many points of the line whether they are in the foot."""
    radius, wide = 0.03, 0.018
    stance = stance_of(
        placed(np.array([(0.0, 0.0, 0.0, straight, radius, wide)], FOOT), (0.2, -0.1, 0.3), (roll, pitch, yaw))[0]
    )
    heights = np.linspace(-0.2, 0.2, 4001)
    line = np.column_stack([np.full_like(heights, dx), np.full_like(heights, dy), heights])
    ahead, left, up = rotation_matrix(roll, pitch, yaw).T @ line.T
    inside = np.hypot(np.maximum(np.abs(ahead) - straight, 0.0), up) < radius
    part, under = cover(
        foot_of(np.array([(0.0, 0.0, 0.0, straight, radius, wide)], FOOT)[0]), stance, 0.2 + dx, -0.1 + dy
    )
    if inside.sum() < 2:
        assert part == 0.0 or np.abs(np.hypot(np.maximum(np.abs(ahead) - straight, 0.0), up) - radius).min() < 1e-3
        return
    first = int(np.argmax(inside))
    edge = wide - abs(left[first])
    assert part == pytest.approx(np.clip(0.5 + edge / 0.01, 0.0, 1.0), abs=0.02)
    steep = abs(np.diff(left[first - 1 : first + 1])[0]) < 1e-3
    if part > 0.0 and steep and inside.sum() > 40:
        assert under - 0.3 == pytest.approx(heights[first], abs=2e-4)


@given(st.floats(-3.1, 3.1), st.floats(-0.4, 0.4), st.floats(-0.4, 0.4), st.floats(-0.4, 0.4), st.floats(-0.4, 0.4))
def test_rows_and_columns_below_a_foot_have_all_nodes_that_it_covers(yaw, x, y, roll, pitch):
    feet = shape_of("tracked").feet
    ground = make_ground(np.zeros((120, 120)), (-0.595, -0.595), 0.01, True)
    for one, at in zip(feet, placed(feet, (x, y, 0.05), (roll, pitch, yaw)), strict=True):
        foot, stance = foot_of(one), stance_of(at)
        first_row, last_row = rows_below(foot, stance, ground, 0.0)
        checked = 0
        for row in range(first_row - 2, last_row + 3):
            first, last = columns_below(foot, stance, ground, row, 0.0)
            near = round((stance.x + 0.595) / 0.01)
            for column in range(near - 20, near + 20):
                if cover(foot, stance, -0.595 + 0.01 * column, -0.595 + 0.01 * row)[0] > 0.0:
                    assert first_row <= row <= last_row
                    assert first <= column <= last
                    checked += 1
            more = columns_below(foot, stance, ground, row, 0.02)
            assert last < first or (more[0] < first and more[1] > last)
        assert checked > 10


def test_a_row_is_its_cells_one_by_one_and_fits_into_its_room(shape):
    row, one = make_row(shape.feet, 0.01), np.zeros((3, LANES), np.float32)
    for foot, at in zip(shape.feet, placed(shape.feet, (0.0, 0.0, 0.05), (0.3, -0.2, 0.7)), strict=True):
        size, stance = foot_of(foot), stance_of(at)
        ground = make_ground(np.zeros((120, 120)), (-0.595, -0.595), 0.01, True)
        first_row, last_row = rows_below(size, stance, ground, 0.01)
        for number in range(first_row, last_row + 1):
            first, last = columns_below(size, stance, ground, number, 0.01)
            assert last - first + LANES < row.shape[1]
        x, y = stance.x - 0.04, stance.y + 0.005
        cover_row(size, stance, x, y, 0.01, 9, 0.01, row)
        for k in range(9):
            cover_row(size, stance, x + 0.01 * k, y, 0.01, 1, 0.01, one)
            np.testing.assert_allclose(row[:, k], one[:, 0], atol=1e-6)  # 32-bit floats


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
