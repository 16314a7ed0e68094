"""What can be turned on the page."""

import pytest

from sandlot.lab.knobs import PANELS, merge, shown, without
from sandlot.lab.plots import choices, number
from sandlot.settings import build
from sandlot.worlds import WORLDS, load


def positions(knob):
    """Every choice, or both ends of a number."""
    return knob.options or (knob.low, knob.high)


def test_every_world_has_a_panel():
    assert PANELS.keys() == WORLDS.keys()


@pytest.mark.parametrize("name", PANELS)
def test_every_position_of_every_knob_gives_settings(name):
    panel, kind = PANELS[name], load(name).Settings
    start = {knob.name: knob.value for knob in panel.knobs}
    for robot in panel.robots:
        for knob in panel.knobs:
            for value in (knob.value, *positions(knob)):
                build(kind, panel.settings({**start, knob.name: value}, robot))


@pytest.mark.parametrize("name", PANELS)
def test_a_knob_that_does_not_act_at_once_changes_the_settings(name):
    panel, kind = PANELS[name], load(name).Settings
    start = {knob.name: knob.value for knob in panel.knobs}
    for knob in panel.knobs:
        made = {build(kind, panel.settings({**start, knob.name: value}, panel.robots[0])) for value in positions(knob)}
        assert (len(made) > 1) == (not knob.live), knob.name


@pytest.mark.parametrize("name", PANELS)
def test_quantities_that_are_plotted_at_first_exist(name):
    world = load(name)()
    world.reset(seed=0)
    frame, known = world.frame(), choices(world.quantities)
    for text, (quantity, index) in known.items():
        assert isinstance(number(frame, quantity, index), float), text
    assert {quantity for quantity, _ in known.values()} >= set(PANELS[name].plotted)


def test_tables_are_merged():
    assert merge({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 4}, "e": 5}) == {"a": {"b": 1, "c": 4}, "d": 3, "e": 5}


@pytest.mark.parametrize("name", PANELS)
def test_knobs_show_the_settings_that_they_make(name):
    panel = PANELS[name]
    start = {knob.name: knob.value for knob in panel.knobs if not knob.live}
    gait = {knob.name: knob.value for knob in panel.knobs if knob.live}
    for robot in panel.robots:
        for knob in panel.knobs:
            for value in () if knob.live else positions(knob):
                values = {**start, knob.name: value}
                if name == "terrain" and robot == "both" and values["count"] == 1:
                    continue  # one rover alone is a wheeled one
                if name == "terrain" and values["ground"] != "soil":
                    values.pop("soil")  # other ground has none
                settings = panel.settings({"soil": "soft", **values, **gait}, robot)
                found = panel.read(settings)
                assert found.pop("robot", robot) == robot
                assert _close(found, values)
                assert not without(settings, settings)


def _close(found, values):
    return found.keys() == values.keys() and all(
        abs(value - found[key]) < 1e-9 if isinstance(value, float) else value == found[key]
        for key, value in values.items()
    )


def test_what_a_knob_cannot_show_is_left_over():
    panel = PANELS["water"]
    given = {"current": [0.3, 0.2], "distance": 45.0, "snake": {"links": 12, "mass": 2.0}}
    found = panel.read(given)
    assert found == {"current": 0.3, "distance": 45.0, "robot": "12 links"}
    assert without(given, panel.settings(found, "12 links")) == {"current": [0.3, 0.2], "snake": {"mass": 2.0}}
    assert not shown(panel.knobs[0], 9.0)
    assert not shown(PANELS["terrain"].knobs[1], "moon dust")
