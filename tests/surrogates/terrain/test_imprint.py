"""Footprints: soil is pressed down, rises beside feet, slides, and none is lost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.surrogates.terrain.feet import (
    STANCE,
    columns_below,
    cover_row,
    foot_of,
    make_ground,
    make_row,
    rows_below,
    stance_of,
    stand,
)
from sandlot.surrogates.terrain.imprint import MAX_FEET, Spreading, around, imprint, slide, stand_on
from sandlot.surrogates.terrain.looking import NEVER
from sandlot.surrogates.terrain.shape import shape_of
from sandlot.surrogates.terrain.springs import Give, yielding
from sandlot.surrogates.terrain.step import MAX_PUSHED

SPREADING = Spreading(0.03, 0.05, 0.003, 0.6)
RATIO = 20.0
"""How many times stiffer soil is where it does not yield."""
GIVE = Give(1e6, RATIO, 0.0, 1.0, 0.0, 0.0)
SHAPES = {name: shape_of(name) for name in ("wheeled", "tracked")}


def ground_of(heights, wrap=True):
    ny, nx = heights.shape
    corner = -0.005 * (nx - 1), -0.005 * (ny - 1)
    return make_ground(heights, corner, 0.01, wrap)


def drive(ground, feet, poses, spreading=SPREADING):
    before, after = np.zeros(len(feet), STANCE), np.zeros(len(feet), STANCE)
    work, pushed = np.zeros((len(feet), 3)), np.zeros((len(feet), MAX_PUSHED, 3))
    covers, since = make_row(feet, 0.01), NEVER
    stand(feet, poses[0, :3], poses[0, 3:], before)
    for k, pose in enumerate(poses[1:]):
        stand(feet, pose[:3], pose[3:], after)
        imprint(ground, feet, before, after, 0.01, spreading, GIVE, k + 1, since, covers, work, pushed)
        before[:], since = after, (k + 1) * MAX_FEET
    return before


def path(rng, frames, depth, start=(0.0, 0.0)):
    """Poses of a rover that drives a random curve, its wheels a given depth below a plane at 0."""
    yaw = rng.uniform(-3.0, 3.0) + np.cumsum(rng.uniform(-0.02, 0.02) * np.ones(frames))
    speed = rng.uniform(-0.003, 0.003)
    x, y = start[0] + np.cumsum(speed * np.cos(yaw)), start[1] + np.cumsum(speed * np.sin(yaw))
    z = np.full(frames, 0.051 - depth)
    tilt = rng.uniform(-0.05, 0.05, 2)
    return np.column_stack([x, y, z, np.full(frames, tilt[0]), np.full(frames, tilt[1]), yaw])


@pytest.mark.parametrize("name", SHAPES)
@settings(max_examples=15)
@given(st.integers(0, 2**32), st.floats(0.0, 0.05), st.booleans())
def test_no_soil_is_lost(name, seed, depth, at_edge):
    rng = np.random.default_rng(seed)
    heights = rng.normal(0.0, 0.003, (90, 110))
    before = heights.copy()
    start = (0.55, -0.45) if at_edge else (0.0, 0.0)
    drive(ground_of(heights), SHAPES[name].feet, path(rng, 12, depth, start))
    assert np.isfinite(heights).all()
    assert heights.sum() == pytest.approx(before.sum(), abs=1e-11)


@pytest.mark.parametrize("name", SHAPES)
def test_ground_is_not_above_what_covers_it(name):
    heights = np.zeros((90, 90))
    ground, feet = ground_of(heights), SHAPES[name].feet
    stances = drive(ground, feet, path(np.random.default_rng(1), 40, 0.004))
    above, row = [], make_row(feet, 0.01)
    for foot, stance in zip(feet, stances, strict=True):
        size, at = foot_of(foot), stance_of(stance)
        for i in range(90):
            for j in range(90):
                cover_row(size, at, ground.x0 + 0.01 * j, ground.y0 + 0.01 * i, 0.01, 1, 0.01, row)
                if row[0, 0] == 1.0:
                    above.append(heights[i, j] - at.z - row[1, 0])
    depth = -heights.min()
    assert max(above) < 1.01 * depth / (RATIO - 1.0)  # it springs back by that
    assert heights.min() < -0.002


def test_a_rover_above_the_ground_changes_nothing():
    heights = np.random.default_rng(0).normal(0.0, 1e-4, (90, 90))
    before = heights.copy()
    drive(ground_of(heights), SHAPES["wheeled"].feet, path(np.random.default_rng(1), 10, -0.01))
    np.testing.assert_array_equal(heights, before)


@pytest.mark.parametrize("height", [0.048, 0.032])
def test_a_rover_that_stays_soon_changes_nothing_any_more(height):
    """At first, soil that rises beside one wheel is pushed aside by what is above it.

    A rover that sinks deep has its boxes above the ruts of its wheels, in the same cells.
    """
    found = []
    for frames in (20, 40):
        heights = np.zeros((90, 90))
        drive(ground_of(heights), SHAPES["wheeled"].feet, np.array([[0.0, 0.0, height, 0.0, 0.0, 0.4]] * frames))
        found.append(heights)
    assert found[0].min() < -0.002
    np.testing.assert_allclose(found[1], found[0], atol=1e-12)


def test_soil_rises_beside_a_wheel_that_rolls():
    heights = np.zeros((90, 90))
    frames = 60
    poses = np.column_stack(
        [np.linspace(-0.1, 0.1, frames), *np.zeros((1, frames)), np.full(frames, 0.047), *np.zeros((3, frames))]
    )
    drive(ground_of(heights), SHAPES["wheeled"].feet, poses)
    middle = heights[:, 45]  # across all ruts
    rut = np.flatnonzero(middle < -0.002)
    assert rut.size >= 4
    assert middle[rut.min() - 1] > 1e-4 or middle[rut.min() - 2] > 1e-4


def test_firm_soil_springs_back_by_its_yield_stress_over_its_elastic_stiffness():
    bent = Give(1e6, RATIO, 0.0, 0.5, 1.0 / 0.02, 1.0 / 0.04)
    feet, depth = SHAPES["wheeled"].feet[:1], 0.006
    ground, stances = ground_of(np.zeros((61, 61))), np.zeros(1, STANCE)
    stand(feet, np.array([-feet["x"][0], -feet["y"][0], 0.051 - depth]), np.zeros(3), stances)
    stand_on(ground, feet, stances, bent, 1, make_row(feet, 0.01))
    stress, _ = yielding(bent, depth)
    assert abs(stress / depth - 1.0) > 0.2
    assert ground.firm[30, 30] == pytest.approx(-depth + stress / RATIO, abs=1e-7)  # below the lowest point


@pytest.mark.parametrize("name", SHAPES)
@given(st.integers(0, 2**32))
def test_slopes_are_checked_around_all_feet(name, seed):
    rng, feet = np.random.default_rng(seed), SHAPES[name].feet
    ground, stances = ground_of(np.zeros((90, 90))), np.zeros(len(feet), STANCE)
    stand(feet, rng.uniform(-0.1, 0.1, 3), rng.uniform((-0.5, -0.5, -3.0), (0.5, 0.5, 3.0)), stances)
    whole = around(feet, stances)
    low, high = rows_below(*whole, ground, 0.0)
    for foot, stance in zip(map(foot_of, feet), map(stance_of, stances), strict=True):
        first_row, last_row = rows_below(foot, stance, ground, -0.001)
        assert low <= first_row
        assert last_row <= high
        for row in range(first_row, last_row + 1):
            first, last = columns_below(foot, stance, ground, row, -0.001)
            if first <= last:
                west, east = columns_below(*whole, ground, row, 0.0)
                assert west <= first
                assert last <= east


def test_slopes_slide_to_the_angle_of_repose():
    heights = np.zeros((40, 40))
    heights[20, 20] = 0.05
    total = heights.sum()
    feet = SHAPES["wheeled"].feet[:1]
    stances = np.zeros(1, STANCE)
    stand(feet, np.array([-0.095, -0.0955, 1.0]), np.zeros(3), stances)
    ground = ground_of(heights)
    for _ in range(400):
        slide(ground, foot_of(feet[0]), stance_of(stances[0]), 0.6, 1)
    near = heights[15:26, 15:26]
    assert np.abs(np.diff(near, axis=0)).max() <= 1.011 * 0.6 * 0.01
    assert np.abs(np.diff(near, axis=1)).max() <= 1.011 * 0.6 * 0.01
    assert heights.sum() == pytest.approx(total)


def test_soil_slides_around_a_rover_that_changes_the_ground_and_nowhere_else():
    heights = np.zeros((90, 90))
    between, beside, far = (45, 45), (45, 45 + 14), (10, 10)  # of the wheels of a side, ahead of the rover, elsewhere
    for place in (between, beside, far):
        heights[place] = 0.02
    poses = np.zeros((60, 6))
    poses[:, 2] = 0.051 - np.linspace(0.0, 0.01, 60)
    drive(ground_of(heights), SHAPES["wheeled"].feet, poses)
    assert heights[far] == 0.02
    for i, j in (between, beside):
        assert heights[i, j] <= heights[i - 1 : i + 2, j - 1 : j + 2].min() + 1.02 * np.sqrt(2.0) * 0.6 * 0.01


def test_maps_that_do_not_wrap_keep_their_soil():
    heights = np.zeros((60, 60))
    rng = np.random.default_rng(3)
    drive(ground_of(heights, wrap=False), SHAPES["wheeled"].feet, path(rng, 20, 0.01, (0.2, 0.2)))
    assert heights.sum() == pytest.approx(0.0, abs=1e-12)


def test_firm_soil_springs_back_under_a_foot_that_has_left_and_soil_pushed_onto_it_is_loose():
    heights = np.zeros((90, 90))
    ground, feet, frames = ground_of(heights), SHAPES["wheeled"].feet, 60
    poses = np.column_stack(
        [np.linspace(-0.1, 0.1, frames), *np.zeros((1, frames)), np.full(frames, 0.047), *np.zeros((3, frames))]
    )
    drive(ground, feet, poses)
    assert np.all(ground.firm <= ground.initial)
    pressed = ground.firm < 0.0
    np.testing.assert_allclose(ground.firm.min(), -0.004 * (1.0 - 1.0 / RATIO), atol=1e-9)
    risen = heights > 1e-4
    assert risen.sum() > 50
    assert (ground.firm[risen & ~pressed] == 0.0).all()


def test_a_recorded_stand_presses_the_firm_soil_as_an_imprint_does():
    pose, feet = np.array([[0.0, 0.0, 0.048, 0.02, -0.01, 0.4]] * 2), SHAPES["wheeled"].feet
    mine, recorded = ground_of(np.zeros((90, 90))), ground_of(np.zeros((90, 90)))
    stances = drive(mine, feet, pose)
    recorded.heights[:] = mine.heights
    stand_on(recorded, feet, stances, GIVE, 1, make_row(feet, 0.01))
    np.testing.assert_allclose(recorded.firm, mine.firm, atol=1e-12)
