"""Elevation maps: against their twin, and against the ground that was scanned."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laser_views import MOUNT, grounds, view
from sandlot.mapping.elevation_map import ElevationMap
from sandlot.mapping.returns import fill_missing
from sandlot.places.course_kinds import Box, Flat, Ramp, Rubble, Stairs
from sandlot.sensing.panned_laser import PAN_ANGLES, PannedLaser
from sandlot.sensing.rays import bearings
from twins import elevation_map as twin

LASER = PannedLaser()
ANGLES = bearings(LASER.beams, LASER.field_of_view)
ROWS = np.array([5, 9, 13])
KINDS = [Box(distance=1.0), Stairs(distance=1.0), Stairs(distance=1.0, risers=False), Ramp(distance=1.0), Rubble()]
LEVEL = (0.0, 0.0, 0.0)


def scanned(course, laser=LASER, middle=(0.0, 0.1), attitude=LEVEL, ahead=201):
    """The map of one scan along 0 degrees: (ahead,) above the middle."""
    made = ElevationMap(1, ahead, [9])
    seen = view([middle], [attitude], [[9]])
    ranges = laser.scan(grounds(course), seen, {0: np.random.default_rng(0)})
    made.add(ranges, seen, laser.fan, np.zeros(1), np.zeros(1))
    return made.read(np.zeros(1), np.array([middle[1]]), np.zeros(1))[0, 0]


def draw(kind):
    return kind.draw(np.random.default_rng(0))


@given(st.sampled_from(KINDS), st.integers(0, 999), st.sampled_from([0.0, 0.3]))
def test_maps_of_a_drive_agree_with_the_twin(kind, seed, missing):
    """Two robots drive with random attitudes; cells grow old and are forgotten, or are dropped after a turn."""
    rng = np.random.default_rng(seed)
    courses = [kind.draw(rng) for _ in range(2)]
    laser = LASER.model_copy(update={"missing": missing, "ceiling": 2.4})
    made = ElevationMap(2, 201, ROWS, memory=0.5)
    twins = [[twin.Map(201, 0.5, pan) for pan in PAN_ANGLES[ROWS]] for _ in range(2)]
    ground, driven = grounds(*courses), np.zeros(2)
    generators = {k: np.random.default_rng(k) for k in range(2)}
    for now in np.arange(4) * 0.25:
        middles = [(x, course.height(x) + 0.3) for x, course in zip(driven, courses, strict=True)]
        attitudes = rng.uniform(-0.4, 0.4, (2, 3)) * (0.3, 1.0, 0.1)
        seen = view(middles, attitudes, [ROWS] * 2)
        ranges = laser.scan(ground, seen, generators)
        lines = ranges.copy()
        made.add(ranges, seen, laser.fan, driven, np.full(2, now))
        found = made.read(driven, seen.middles[:, 1], np.full(2, now), attitudes[:, 2])
        for k in range(2):
            for row, pan in enumerate(PAN_ANGLES[ROWS]):
                given_ = (ANGLES, pan, attitudes[k], MOUNT, middles[k][1], driven[k], now)
                twins[k][row].add(lines[k, row], *given_)
                expected = twins[k][row].read(driven[k], middles[k][1], now, attitudes[k, 2])
                np.testing.assert_allclose(found[k, row], expected, atol=1e-9)
        driven = driven + rng.uniform(-0.05, 0.3, 2)


@given(st.lists(st.sampled_from([np.nan, 1.0, 2.5, 4.0]), min_size=1, max_size=30))
def test_missing_returns_are_interpolated_between_returns(values):
    ranges = np.array(values)
    expected = twin.fill(ranges)
    fill_missing(ranges)
    np.testing.assert_allclose(ranges, expected)


def test_level_ground_is_level_at_any_attitude():
    for attitude in [(0.0, 0.0, 0.0), (0.0, -0.6, 0.0), (0.0, 0.5, 0.0), (0.2, 0.3, 0.0)]:
        found = scanned(draw(Flat()), LASER.exact(), attitude=attitude, middle=(0.0, 0.3))
        np.testing.assert_allclose(found, -0.3, atol=1e-9)


def test_a_box_is_where_and_as_high_as_it_is():
    found = scanned(draw(Box(distance=1.0, height=0.1, depth=0.5)), LASER.exact(), middle=(0.0, 0.4))
    assert np.abs(found[:99] + 0.4).max() < 1e-9
    np.testing.assert_allclose(found[101:147], -0.3, atol=1e-9)
    assert (np.diff(found[151:181]) < 0.0).all(), "what lies behind it is hidden, and slopes down to what is seen next"
    np.testing.assert_allclose(found[190:], -0.4, atol=1e-9)


def test_stairs_without_risers_are_seen_by_their_edges():
    stairs = Stairs(distance=1.0, risers=False)
    found = scanned(draw(stairs), LASER.exact())
    for k in range(3):
        edge = 100 + round(100 * k * stairs.tread)
        assert found[edge - 1 : edge + 2].max() == pytest.approx(stairs.rise * (k + 1) - 0.1, abs=0.02)


def test_the_ceiling_is_not_ground():
    low = LASER.exact().model_copy(update={"ceiling": 1.5})
    np.testing.assert_allclose(scanned(draw(Flat()), low), -0.1, atol=1e-9)
    before_wall = scanned(draw(Box(distance=1.5, height=3.0, depth=1.0)), low)
    np.testing.assert_allclose(before_wall[:145], -0.1, atol=1e-9)
    assert before_wall[152] > 1.0


def test_a_high_face_is_mapped_up_to_its_edge_in_spite_of_noise():
    """Noise makes one of its points the furthest; those above it must not count as the ceiling."""
    found = scanned(draw(Box(distance=1.0, height=0.4)))
    assert found[101:].max() == pytest.approx(0.3, abs=0.03)
    assert found[110:].min() > 0.2


def test_cells_move_with_the_robot_and_are_dropped_when_old():
    course, made = draw(Box(distance=1.0, height=0.2, depth=0.5)), ElevationMap(1, 201, [9], memory=1.0)
    seen = view([(0.0, 0.4)], [LEVEL], [[9]])
    exact = LASER.exact()
    made.add(exact.scan(grounds(course), seen, {}), seen, exact.fan, np.zeros(1), np.zeros(1))

    def read(driven, zero, now):
        return made.read(np.array([driven]), np.array([zero]), np.array([now]))[0, 0]

    before, after = read(0.0, 0.4, 0.0), read(0.3, 0.5, 1.0)
    np.testing.assert_allclose(after[:171], before[30:] - 0.1, atol=1e-9)
    assert (read(0.3, 0.5, 1.1) == 0.0).all()
    made.forget(np.array([0]))
    assert (read(0.0, 0.4, 0.0) == 0.0).all()
