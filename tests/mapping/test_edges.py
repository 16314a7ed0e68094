"""The yaw against edges, estimated from elevation maps: against known geometry with noise, and against its twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

from laser_views import MOUNT, grounds, view
from sandlot.mapping import edges
from sandlot.mapping.edges import disagreement, yaw_from_edges
from sandlot.mapping.elevation_map import CELL, ElevationMap
from sandlot.places.course_kinds import Box, Flat, Ramp, Rubble, Stairs
from sandlot.sensing.panned_laser import PAN_ANGLES, PannedLaser

ALL, FIVE = np.arange(19), np.array([5, 7, 9, 11, 13])
LASER = PannedLaser()
YAWS = st.floats(-0.35, 0.35)
compiled = pytest.mark.skipif(config.DISABLE_JIT, reason="a search takes half a second without compilation")
UP, DOWN = Stairs(distance=0.0, way="up"), Stairs(distance=0.0, way="down")
# A course, where the middle of the body is (x, z) and how it is pitched, and the largest error [deg].
PLACES = {
    "before a box": (Box(distance=0.9, height=0.2), (0.0, 0.1), 0.0, 1.5),
    "before a low box": (Box(distance=1.0, height=0.06), (0.0, 0.1), 0.0, 4.0),
    "before stairs": (Stairs(distance=1.2), (0.0, 0.1), 0.0, 2.0),
    "on stairs up": (UP, (0.5, 0.55), -0.55, 4.0),
    "on stairs down": (DOWN, (0.5, 0.95), 0.55, 1.5),
    "before a ramp": (Ramp(distance=1.0), (0.0, 0.1), 0.0, 1.5),
    "before rubble": (Rubble(distance=0.7, seed=3), (0.0, 0.1), 0.0, 4.0),
}


def seen_map(kind, middle, attitude, seed=0, rows=ALL, laser=LASER):
    """The map of one scan: (1, rows, cells)."""
    rng = np.random.default_rng(seed)
    made, seen = ElevationMap(1, 201, rows), view([middle], [attitude], [rows])
    ranges = laser.scan(grounds(kind.draw(rng)), seen, {0: rng})
    made.add(ranges, seen, laser.fan, np.zeros(1), np.zeros(1))
    return made.read(np.zeros(1), np.array([middle[1]]), np.zeros(1), np.array([attitude[2]]))


def estimate(maps, pitch, rows=ALL):
    return yaw_from_edges(maps, np.full(len(maps), pitch), PAN_ANGLES[rows], MOUNT[0])


@compiled
@pytest.mark.parametrize("place", PLACES)
@given(YAWS, st.floats(-0.04, 0.04), st.integers(0, 999))
def test_the_yaw_is_found_in_spite_of_noise_and_roll(place, yaw, roll, seed):
    kind, middle, pitch, most = PLACES[place]
    noisy = range(seed, seed + 5)
    found = [estimate(seen_map(kind, middle, (roll, pitch, yaw), each), pitch)[0] for each in noisy]
    assert abs(np.degrees(np.median(found) - yaw)) < most


@compiled
@given(YAWS, st.integers(0, 999))
def test_five_rows_are_enough_before_a_box(yaw, seed):
    kind, middle, pitch, _ = PLACES["before a box"]
    (found,) = estimate(seen_map(kind, middle, (0.0, pitch, yaw), seed, FIVE), pitch, FIVE)
    assert abs(np.degrees(found - yaw)) < 4.0


@compiled
@given(YAWS, st.integers(0, 999))
def test_level_ground_has_no_edges(yaw, seed):
    assert np.isnan(estimate(seen_map(Flat(), (0.0, 0.1), (0.0, 0.0, yaw), seed), 0.0)).all()


@compiled
@given(YAWS, st.sampled_from(sorted(PLACES)))
def test_a_mirrored_map_gives_the_opposite_yaw(yaw, place):
    kind, middle, pitch, _ = PLACES[place]
    maps = seen_map(kind, middle, (0.0, pitch, yaw))
    step = np.degrees(edges.FINE)
    np.testing.assert_allclose(
        np.degrees(estimate(maps[:, ::-1], pitch)), -np.degrees(estimate(maps, pitch)), atol=step
    )


def test_robots_of_a_batch_do_not_depend_on_each_other():
    maps = np.concatenate([seen_map(*PLACES["before a box"][:2], (0.0, 0.0, yaw)) for yaw in (0.2, -0.1, 0.3)])
    alone = [estimate(maps[k : k + 1], 0.0)[0] for k in range(3)]
    np.testing.assert_array_equal(estimate(maps, 0.0), alone)


def test_maps_with_nan_or_too_few_cells_show_no_edges():
    assert np.isnan(estimate(np.full((1, 19, 201), np.nan), 0.0)).all()
    assert np.isnan(estimate(np.zeros((1, 19, 10)), 0.0)).all()


def twin(maps, pitch, slopes, yaw):
    """Mean squared deviation from the mean of all rows at each point, in plain NumPy."""
    points = np.arange(edges.NEAR, (maps.shape[1] - 1) * CELL + 1e-9, edges.SPACING)
    profiles = np.full((len(maps), len(points)), np.nan)
    ahead = CELL * np.arange(maps.shape[1])
    for row, heights, slope in zip(profiles, maps, slopes, strict=True):
        left = slope * (ahead * np.cos(pitch) - heights * np.sin(pitch) - MOUNT[0])
        wide = np.abs(left) > edges.WIDE
        number = wide.argmax() if wide.any() else len(wide)
        across = (ahead * np.cos(yaw) - left * np.sin(yaw))[:number]
        if np.cos(yaw) - slope * np.sin(yaw) >= edges.STEEPEST:
            inside = (points > across[0]) & (points <= across[-1])
            row[inside] = np.interp(points[inside], across, heights[:number])
    used = (~np.isnan(profiles)).sum(axis=0) >= edges.LEAST
    chosen = profiles[:, used]
    return np.nanmean((chosen - np.nanmean(chosen, axis=0)) ** 2)


@given(st.integers(0, 999), st.floats(-0.6, 0.6), YAWS)
def test_the_disagreement_agrees_with_its_twin(seed, yaw, pitch):
    rng = np.random.default_rng(seed)
    maps = 0.02 * rng.standard_normal((1, 19, 201)).cumsum(axis=2) * 0.1  # smooth, so that rows never lead back
    slopes, found = np.tan(PAN_ANGLES), np.empty((1, 1))
    sums = np.empty((int((200 * CELL - edges.NEAR) / edges.SPACING) + 1, 3))
    disagreement(maps, np.array([pitch]), slopes, MOUNT[0], np.array([[yaw]]), CELL, sums, found)
    assert found[0, 0] == pytest.approx(twin(maps[0], pitch, slopes, yaw), rel=0.02)


@compiled
@given(st.floats(0.35, 0.7), YAWS, st.integers(0, 999))
def test_before_a_brink_a_yaw_is_right_or_not_reported(away, yaw, seed):
    """Only some rows show the ground below the brink."""
    down = Stairs(distance=away, way="down")
    (found,) = estimate(seen_map(down, (0.0, 6 * down.rise + 0.1), (0.0, 0.03, yaw), seed), 0.03)
    assert np.isnan(found) or abs(np.degrees(found - yaw)) < 8.0
