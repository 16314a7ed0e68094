"""The planner: its plans stand by a check that shares nothing with it, and it finds what is surely possible."""

import numpy as np
import pytest
from numba import config

from sandlot.control.climbing.planner import ADVANCE, BEND, FALL, GIVE, ROCK, limit, plan
from sandlot.errors import PlaceError
from sandlot.places.course_kinds import Box, Flat, Ramp, Stairs
from sandlot.robots.climber import load_climber, mass_centre
from twins.statics import depth, stands

CLIMBER = load_climber()
LIFT = BEND * (CLIMBER.track.reach + CLIMBER.track.tip)
pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="a search takes minutes without compilation")


def draw(kind):
    return kind.draw(np.random.default_rng(0))


@pytest.mark.parametrize(
    "kind",
    [Box(height=0.4, depth=0.5), Stairs(riser=0.2, tread=0.28, steps=2), Ramp(slope=0.5, height=0.3)],
    ids=lambda kind: kind.kind,
)
def test_the_robot_stands_along_a_plan(kind):
    course = draw(kind)
    found = plan(CLIMBER, course)
    assert found is not None
    assert found.position[0, 0] < course.near - CLIMBER.reach
    assert found.position[-1, 0] >= course.end + CLIMBER.reach
    rows = range(0, len(found.pitch), max(len(found.pitch) // 6, 1))
    for k in rows:
        pose = found.position[k], found.pitch[k], found.axles[k]
        assert depth(CLIMBER, course, *pose) < 0.002
        # The twin takes outlines as points half a millimetre apart, so it sees gaps a little larger.
        assert stands(CLIMBER, course, *pose, GIVE + 0.003)


def test_neighbours_of_a_plan_are_close_also_on_a_finer_grid():
    fine = 2
    found = plan(CLIMBER, draw(Box(height=0.2, depth=0.3)), fine)
    assert found is not None
    assert np.abs(np.diff(found.position[:, 0])).max() < 1.01 * ADVANCE / fine
    assert np.abs(np.diff(found.pitch)).max() <= ROCK
    assert np.abs(np.diff(found.axles, axis=0)).max() < 1.01 * BEND / fine
    rise = np.diff(found.position[:, 1] + mass_centre(CLIMBER, found.pitch, found.axles)[:, 1])
    assert rise.min() >= -FALL - 1e-6
    assert rise.max() <= LIFT / fine + 1e-6


@pytest.mark.parametrize("depth_", [0.1, 0.3, 1.0])
def test_a_box_lower_than_the_wheels_radius_is_always_possible(depth_):
    assert plan(CLIMBER, draw(Box(height=0.9 * CLIMBER.track.wheel, depth=depth_))) is not None


def test_no_robot_climbs_a_wall_or_ice():
    assert plan(CLIMBER, draw(Box(height=1.4, depth=0.1))) is None
    track, body = (part.model_copy(update={"friction": 0.02}) for part in (CLIMBER.track, CLIMBER.body))
    ice = CLIMBER.model_copy(update={"track": track, "body": body})
    assert plan(ice, draw(Ramp(slope=0.3, height=0.2, length=0.1))) is None
    assert plan(ice, draw(Flat())) is not None


def highest(climber, levels, guess):
    return limit(climber, lambda height: draw(Box(height=height, depth=0.5)), levels, guess)


def test_weak_axles_climb_less_high():
    weak = CLIMBER.model_copy(update={"axles": CLIMBER.axles.model_copy(update={"torque": 5.0})})
    levels = [0.2, 0.5]
    assert highest(weak, levels, 2) < highest(CLIMBER, levels, 2) == 2


@pytest.mark.parametrize("guess", [0, 1, 4, 9])
@pytest.mark.parametrize("able", range(8))
def test_the_limit_is_found_from_any_guess(monkeypatch, guess, able):
    monkeypatch.setattr("sandlot.control.climbing.planner.plan", lambda _, course, fine: course < able or None)
    assert limit(CLIMBER, lambda level: level, list(range(7)), guess) == min(able, 7)


def test_overhangs_are_refused():
    with pytest.raises(PlaceError, match="overhangs"):
        plan(CLIMBER, draw(Stairs(risers=False)))
