"""``render_mode="human"``."""

import gymnasium
import pytest

from sandlot.lab import human


@pytest.fixture(autouse=True)
def no_browser(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    yield opened
    human.close()


def test_a_world_is_shown_as_it_is_stepped(no_browser):
    world = gymnasium.make("sandlot/Water-v0", render_mode="human")
    world.reset(seed=0)
    page = human.opened()
    assert no_browser == [page.address]
    assert page.stage.shows(world.unwrapped)
    before = page.stage._source()[0]
    for _ in range(8):
        world.step(world.action_space.sample())
    assert page.stage._source()[0] is not before
    assert world.render() is None


def test_worlds_share_the_page(no_browser):
    one, two = (gymnasium.make("sandlot/Leveling-v0", render_mode="human") for _ in range(2))
    one.reset(seed=0)
    two.reset(seed=0)
    assert len(no_browser) == 1
    assert human.opened().stage.shows(two.unwrapped)
    one.step(one.action_space.sample())
    assert human.opened().stage.shows(one.unwrapped)


def test_other_worlds_are_not_shown(no_browser):
    gymnasium.make("sandlot/Leveling-v0").reset(seed=0)
    assert human.opened() is None
