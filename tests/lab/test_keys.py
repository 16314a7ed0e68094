"""Keys that drive."""

import numpy as np
import pytest

from sandlot.lab.door import KEY_LISTENER
from sandlot.lab.keys import BACK, CODES, FORWARD, HINTS, LEFT, RIGHT, Driven, Keys
from sandlot.worlds import load


def test_keys_of_all_viewers_count():
    keys = Keys()
    keys.hold("one", ["KeyW", "KeyX"])
    keys.hold("two", ["ArrowLeft"])
    assert keys.axis(FORWARD, BACK) == 1.0
    assert keys.axis(LEFT, RIGHT) == 1.0
    keys.hold("two", ["KeyS"])
    assert keys.axis(FORWARD, BACK) == 0.0
    keys.leave("one")
    assert keys.axis(FORWARD, BACK) == -1.0


def test_a_click_holds_a_key_for_a_moment(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    keys = Keys()
    keys.press("ArrowUp")
    assert keys.axis(FORWARD, BACK) == 1.0
    now[0] += 1.0
    assert keys.axis(FORWARD, BACK) == 0.0


@pytest.mark.parametrize("name", HINTS)
def test_actions_are_possible_in_the_world(name):
    world = load(name)()
    observation, _ = world.reset(seed=0)
    keys = Keys()
    driven = Driven(keys, world)
    driven.reset([np.random.SeedSequence(0)])
    for held in ([], ["KeyW"], ["KeyS", "KeyA"], ["KeyD", "KeyR", "KeyG"]):
        keys.hold("viewer", held)
        (action,) = driven.act(observation[None])
        assert world.action_space.contains(action.astype(world.action_space.dtype))
        assert bool(np.any(action)) == bool(held)


def test_the_climber_keeps_the_angle_of_its_tracks():
    world = load("obstacles")()
    observation, _ = world.reset(seed=0)
    keys = Keys()
    driven = Driven(keys, world)
    keys.hold("viewer", ["KeyR"])
    for _ in range(5):
        (raised,) = driven.act(observation[None])
    keys.hold("viewer", [])
    (kept,) = driven.act(observation[None])
    assert raised[0] > 0.1
    assert kept[0] == raised[0]
    assert raised[1] == 0.0


def test_only_the_first_rover_is_driven():
    world = load("terrain")(rovers=["wheeled", "tracked"])
    observation, _ = world.reset(seed=0)
    keys = Keys()
    keys.hold("viewer", ["KeyW"])
    (action,) = Driven(keys, world).act(observation[None])
    assert action[0, 0] > 0.0
    assert not action[1].any()


def test_the_script_of_the_page_knows_the_same_keys():
    text = KEY_LISTENER.read_text(encoding="utf-8")
    assert set(next(line for line in text.splitlines() if "ArrowUp" in line).split('"')[1].split()) == CODES
