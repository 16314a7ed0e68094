"""How limits are found, by robots that climb until they fail."""

import numpy as np
import pytest

from sandlot.control.climbing.reactive import Reactive
from sandlot.control.climbing.reinforced import Reinforced
from sandlot.control.controller import Controller
from sandlot.places.course_kinds import Box
from sandlot.robots.climber import load_climber
from sandlot.studies.obstacles import ladder
from sandlot.studies.obstacles.ladder import climb, make_controller
from sandlot.worlds.obstacles.settings import ObstaclesSettings

CLIMBER = load_climber()
SHORT = ObstaclesSettings(patience=2.0, seconds=15.0)


def box(depth, height):
    return Box(distance=0.7, depth=depth, height=height)


def test_robots_climb_until_they_fail():
    found = climb(SHORT, Reactive(CLIMBER), box, [0.3, 0.6], [0.05, 0.15, 0.9, 1.0], lanes=2, attempts=2, seed=0)
    np.testing.assert_allclose(found, 0.15)


def test_a_robot_that_never_passes_has_reached_nothing_and_one_that_always_does_ends_at_the_top():
    assert climb(SHORT, Reactive(CLIMBER), box, [0.3], [0.9], lanes=1, attempts=1, seed=0) == 0.0
    assert climb(SHORT, Reactive(CLIMBER), box, [0.3], [0.05], lanes=1, attempts=1, seed=0) == 0.05


def test_trials_are_repeated_after_a_failure(monkeypatch):
    """Results of two robots on levels 1 to 3: the first fails once at 2, the second twice in a row at 1."""
    script = iter([[True, False], [False, False], [True, True], [False, True], [False, True]])
    tried = []

    def attempt(world, controller, kinds, seed):
        tried.append([getattr(kind, "height", None) for kind in kinds])
        return np.array(next(script))

    monkeypatch.setattr(ladder, "attempt", attempt)
    found = climb(SHORT, Reactive(CLIMBER), box, [0.1, 0.2], [0.1, 0.2, 0.3], lanes=1, attempts=2, seed=0)
    assert tried == [[0.1, 0.1], [0.2, 0.1], [0.2, None], [0.3, None], [0.3, None]]
    np.testing.assert_allclose(found[:, 0], [0.2, 0.0])


def test_what_a_robot_learned_is_kept_from_trial_to_trial():
    made = Reinforced(CLIMBER)
    climb(SHORT, made, box, [0.3], [0.4], lanes=1, attempts=1, seed=0)
    first = made.nets.hidden.copy()
    climb(SHORT, made, box, [0.3], [0.4], lanes=1, attempts=1, seed=0)
    assert (made.nets.hidden != first).any()


@pytest.mark.parametrize("name", ["reactive", "reinforced", "free", "trained"])
def test_every_controller_can_be_made(name):
    assert isinstance(make_controller(name, CLIMBER), Controller)
    assert ladder.map_rows(name) == 1


def test_the_neural_controller_sees_five_rows():
    assert make_controller("neural", CLIMBER).net.sizes[0] == 10 + 5 * 201
    assert ladder.map_rows("neural") == 5
