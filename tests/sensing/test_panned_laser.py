"""The panned laser: exact rays in the plane of each line, and its errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laser_views import MOUNT, grounds, view
from sandlot.places.course_kinds import Box, Flat, Rubble, Stairs, Trench
from sandlot.sensing.panned_laser import PAN_ANGLES, PANS, PannedLaser
from sandlot.sensing.rays import bearings
from twins import elevation_map as twin

KINDS = [Box(distance=1.0), Stairs(distance=1.0), Stairs(distance=1.0, risers=False), Trench(distance=1.0), Rubble()]
LASER = PannedLaser()
ANGLES = bearings(LASER.beams, LASER.field_of_view)


def look(laser, courses, middles, attitudes, pans=None, seed=0):
    generators = {k: np.random.default_rng(seed + k) for k in range(len(courses))}
    return laser.scan(grounds(*courses), view(middles, attitudes, pans), generators)


@given(
    st.sampled_from(KINDS),
    st.integers(0, 99),
    st.floats(-1.4, 1.4),
    st.floats(-0.5, 0.5),
    st.floats(-0.3, 0.3),
    st.sampled_from([None, 2.4]),
)
def test_it_measures_as_its_twin(kind, seed, pitch, roll, yaw, ceiling):
    rng = np.random.default_rng(seed)
    course, x = kind.draw(rng), rng.uniform(0.0, 0.8)
    middle, attitude = (x, course.height(x) + rng.uniform(0.3, 0.8)), (roll, pitch, yaw)
    laser = LASER.exact().model_copy(update={"ceiling": ceiling})
    (found,) = look(laser, [course], [middle], [attitude])
    for line, pan in zip(found, PAN_ANGLES, strict=True):
        ranges = twin.scan(course.outlines(), middle, attitude, MOUNT, pan, ANGLES, laser.max_range, ceiling)
        # A beam along the very end of a segment may hit or miss it.
        same = np.isclose(line, ranges, rtol=1e-7, atol=1e-7, equal_nan=True)
        assert same.mean() > 0.995


def test_level_ground_ahead_and_to_the_side():
    """The lowest beams of a level robot meet the ground at the laser's height over the sine of their depression."""
    course = Flat().draw(np.random.default_rng(0))
    (found,) = look(LASER.exact(), [course], [(0.0, 0.1)], [(0.0, 0.0, 0.0)])
    expected = 0.22 / np.sin(-ANGLES[:200])
    np.testing.assert_allclose(found[:, :200], np.tile(expected, (PANS, 1)), rtol=1e-9)
    assert np.isnan(found[:, 256:]).all(), "above the horizon there is nothing"


def test_a_wall_to_the_side_is_further_away_by_the_pan_angle():
    course = Box(distance=1.0, height=2.0).draw(np.random.default_rng(0))
    (found,) = look(LASER.exact(), [course], [(0.0, 0.1)], [(0.0, 0.0, 0.0)])
    np.testing.assert_allclose(found[:, 256], 0.85 / (np.cos(PAN_ANGLES) * np.cos(ANGLES[256])), rtol=1e-9)


def test_a_raised_nose_looks_up():
    course = Box(distance=1.0, height=2.0).draw(np.random.default_rng(0))
    flat, raised = look(LASER.exact(), [course] * 2, [(0.0, 0.1)] * 2, [(0.0, 0.0, 0.0), (0.0, -0.5, 0.0)])
    assert flat[9, 200] < 1.0, "hits the ground or the foot of the wall"
    # The beam of the level robot 0.5 rad higher has the same direction.
    step = LASER.field_of_view / LASER.beams
    assert abs(raised[9, 256 - round(0.5 / step)] - 0.85) < 0.15


def test_errors_have_their_sizes():
    course = Flat().draw(np.random.default_rng(0))
    level = [(0.0, 0.1)], [(0.0, 0.0, 0.0)]
    exact, noisy = look(LASER.exact(), [course], *level), look(LASER, [course], *level)
    returned = np.isfinite(exact)
    assert np.isnan(noisy[~returned]).all()
    assert np.isnan(noisy[returned]).mean() == pytest.approx(LASER.missing, abs=0.005)
    errors = (noisy - exact)[np.isfinite(noisy)] / (LASER.noise + LASER.noise_growth * exact[np.isfinite(noisy)])
    assert errors.std() == pytest.approx(1.0, abs=0.05)
    assert abs(errors.mean()) < 0.05


def test_a_scan_does_not_depend_on_other_robots():
    course = Stairs(distance=1.0).draw(np.random.default_rng(0))
    views = [(0.0, 0.1), (0.3, 0.2)], [(0.0, 0.0, 0.0), (0.1, -0.3, 0.2)]
    both = look(LASER, [course] * 2, *views)
    alone = look(LASER, [course], *([each[1]] for each in views), seed=1)
    assert np.array_equal(both[1], alone[0], equal_nan=True)


def test_lines_that_are_not_scanned_return_nothing():
    course = Flat().draw(np.random.default_rng(0))
    (found,) = look(LASER, [course], [(0.0, 0.1)], [(0.0, 0.0, 0.0)], pans=[[9, -1]])
    assert np.isfinite(found[0]).any()
    assert np.isnan(found[1]).all()


def test_the_pan_angle_sweeps_to_and_fro():
    laser = LASER.model_copy(update={"lines": 5})
    seen = laser.sweep(np.arange(8)).ravel()
    assert seen[:20].tolist() == [*range(19), 17]
    assert (np.abs(np.diff(seen)) == 1).all()
    assert LASER.sweep(np.array([3])).tolist() == [list(range(19))]
