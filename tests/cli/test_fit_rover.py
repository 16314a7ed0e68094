"""The commands ``fit motion`` and ``fit ground`` on small recordings, some of them too short."""

import re

import pytest

from commands import assert_one_clear_line
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.motion_model import SHIPPED, load_motion
from sandlot.worlds.record import record_world

FRAMES = {"long": 200, "short": 20, "shortest": 3, "nothing": 2}
SMALL = ("members=1", "hidden=[4, 4]", "epochs=2", "stretch=10", "batch=40")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Recordings by name, with as many frames."""
    folder = tmp_path_factory.mktemp("recordings")
    given = {"fidelity": "learned", "terrain": "flat", "shape": (120, 120)}
    for name, frames in FRAMES.items():
        record_world("terrain", folder / name, frames - 1, "session", seed=1, settings=given)
    return {name: folder / name for name in FRAMES}


def rows(page):
    """Cells of the table of a page, by the first of each row."""
    found = [re.findall("<td[^>]*>([^<]*)</td>", line) for line in page.read_text().splitlines()]
    return {row[0]: row[1:] for row in found if row}


def words(option, values):
    return [word for value in values for word in (option, value)]


def test_fit_motion_skips_what_is_too_short(sandlot_, recorded, tmp_path):
    pytest.importorskip("torch")
    tests = words("--test", recorded.values())
    said = sandlot_("fit", "motion", recorded["long"], "--out", "rover", *words("--set", SMALL), *tests)
    assert said.status == 0, said.err
    assert "R^2 of the speed one frame ahead [1]" in load_motion(tmp_path / "rover").card.errors
    found = rows(tmp_path / "rover" / "report.html")
    assert list(found) == list(FRAMES)
    assert int(found["long"][3]) >= 1
    assert found["nothing"][3:] == ["0", "too short"]


def test_fit_motion_keeps_a_model_that_was_tested_without_free_runs(sandlot_, recorded, tmp_path):
    pytest.importorskip("torch")
    given = (*words("--set", SMALL), "--test", recorded["shortest"])
    said = sandlot_("fit", "motion", recorded["long"], "--out", "rover", *given)
    assert said.status == 0, said.err
    assert load_motion(tmp_path / "rover").card.kind == "motion"
    assert rows(tmp_path / "rover" / "report.html")["shortest"][3] == "0"


def test_fit_motion_needs_a_second_of_driving(sandlot_, recorded):
    said = sandlot_("fit", "motion", recorded["short"], "--out", "rover")
    assert_one_clear_line(said, "a fit needs at least 1 s")


def test_fit_motion_goes_on_with_a_model_that_comes_with_sandlot(sandlot_, recorded, tmp_path):
    pytest.importorskip("torch")
    small = words("--set", ("epochs=1", "stretch=10", "batch=40", "rate=0.0001"))
    said = sandlot_("fit", "motion", recorded["long"], "--out", "rover", "--start", "wheeled", "--soil", "mid", *small)
    assert said.status == 0, said.err
    assert len(load_motion(tmp_path / "rover").drives) == len(load_motion(SHIPPED / "wheeled").drives)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--start", "tracked"), "the model to start with is of another rover"),
        (("--start", "nowhere"), "nowhere"),
        (("--soil", "moon"), "--soil moon is not possible; allowed: "),
        (("--soil", "moon.toml"), "moon.toml"),
    ],
)
def test_a_wrong_start_or_soil_gets_one_line(sandlot_, recorded, given, said):
    pytest.importorskip("torch")
    assert_one_clear_line(sandlot_("fit", "motion", recorded["long"], "--out", "rover", *given), said)


def test_recordings_for_testing_are_read_before_the_fit(sandlot_, recorded, tmp_path):
    pytest.importorskip("torch")
    said = sandlot_("fit", "motion", recorded["long"], "--out", "rover", "--test", recorded["nothing"])
    assert_one_clear_line(said, "no episode of at least 3 frames")
    assert not (tmp_path / "rover").exists()


def test_fit_ground_skips_what_is_too_short(sandlot_, recorded, tmp_path):
    said = sandlot_("fit", "ground", recorded["long"], recorded["short"], "--out", "ground.toml", "--seconds", 1)
    assert said.status == 0, said.err
    GroundModel.load(tmp_path / "ground.toml")
    found = rows(tmp_path / "ground.html")
    assert found["long"][0] == "1"
    assert found["short"] == ["0", "too short"]


def test_fit_ground_needs_more_than_a_second(sandlot_, recorded):
    said = sandlot_("fit", "ground", recorded["short"], "--out", "ground.toml")
    assert_one_clear_line(said, "no episode that is longer than 1 s")
