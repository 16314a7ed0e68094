"""The page in a real browser."""

import re
import time
from io import BytesIO
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

from sandlot.control.trained import TrainedController
from sandlot.lab.lab import Lab
from sandlot.learning.reinforcement import train
from sandlot.learning.training_settings import Training
from sandlot.link.recording import Recorder
from sandlot.worlds.indoor.rover import simulate
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.record import record_world

SIZE = {"width": 700, "height": 700}
COARSE = "?fixedDpr=0.2"
"""Few pixels: these tests share a processor with the drawing."""
PATIENCE = 100.0
"""How long to wait for what must happen at last, on a busy machine [s]."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    made = Lab(0, runs=tmp_path_factory.mktemp("runs"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def page(browser, lab):
    opened = browser.new_page(viewport=SIZE)
    opened.set_default_timeout(1e3 * PATIENCE)
    opened.problems = []
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.goto(lab.address + COARSE)
    opened.get_by_role("tab", name="Worlds").wait_for(timeout=60_000)
    yield opened
    opened.close()


def until(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def settled(value):
    """A number once it has not changed for half a second."""
    before = None
    while before != (now := value()):
        before = now
        time.sleep(0.5)
    return now


def press(page, name):
    """Click a button of the page, also while it is being drawn."""
    page.get_by_role("button", name=name, exact=True).click(force=True)


def choose(page, label, option):
    """Choose from a list of the page."""
    page.get_by_label(label, exact=True).first.click(force=True)
    page.get_by_role("option", name=option, exact=True).click(force=True)


def test_a_world_runs_and_stops(page, lab):
    lab.worlds.open("water", start=False)
    press(page, "start")
    page.get_by_text(re.compile("of episode 1: running")).first.wait_for()
    run = lab.worlds.simulation.runs[0]
    until(lambda: run.steps > 2)
    press(page, "pause")
    until(lambda: not lab.worlds.simulation.running)
    before = settled(lambda: run.steps)
    press(page, "step")
    until(lambda: run.steps > before)
    assert settled(lambda: run.steps) == before + 1
    assert not page.problems


def test_drive_with_the_keyboard(page, lab):
    lab.worlds.open("indoor", controller="keys", settings={"plan": "arena", "people": 0, "start": [5.0, 5.0, 0.0]})
    until(lambda: lab.worlds.simulation.running)
    before = lab.worlds.simulation.latest.frames[0]
    page.keyboard.down("w")
    until(lambda: lab.worlds.simulation.latest.frames[0]["x"] > before["x"] + 0.2)
    page.keyboard.up("w")
    until(lambda: abs(lab.worlds.simulation.latest.frames[0]["speed"]) < 0.01)
    end = time.monotonic() + PATIENCE
    while lab.worlds.simulation.latest.frames[0]["yaw"] <= before["yaw"] + 0.02:
        press(page, "left")  # a click turns the robot for a moment
        assert time.monotonic() < end


def test_pick_another_world_with_its_own_knobs(page, lab):
    lab.worlds.open("water", start=False)
    choose(page, "World", "leveling")
    page.get_by_text("Agents").first.wait_for()
    until(lambda: lab.worlds.simulation.latest.frames[0].get("cell_heights") is not None)
    until(lambda: lab.worlds.simulation.running)


def test_knobs_show_given_settings_and_still_turn(page, lab):
    lab.worlds.open("leveling", settings={"agents": 21, "hill_size": 5.0}, start=False)
    assert lab.worlds._knobs["agents"].value == 21
    assert lab.worlds._knobs["relief"].value == 12
    page.get_by_text("Agents").first.wait_for()
    lab.worlds._knobs["agents"].value = 30
    lab.worlds._restart()
    settings = lab.worlds.simulation.runs[0].world.settings
    assert (settings.agents, settings.hill_size) == (30, 5.0)


def test_two_fidelities_side_by_side(page, lab):
    lab.worlds.open("obstacles", start=False)
    choose(page, "Beside it", "reference")
    until(lambda: len(lab.worlds.simulation.runs) == 2)
    until(lambda: len(lab.stage._canvases) == 2)
    lab.worlds.simulation.start()
    until(lambda: lab.worlds.simulation.latest.time > 0.2)
    lab.worlds.simulation.pause()


def test_what_is_drawn_is_seen(page, lab):
    lab.stage.clear()
    page.wait_for_timeout(1000)
    empty = colours(page)
    lab.worlds.open("leveling", start=False)
    until(lambda: colours(page) > empty + 5)


def colours(page):
    """How many colours the stage shows."""
    shot = np.asarray(Image.open(BytesIO(page.locator("canvas").first.screenshot())).convert("RGB"))
    return len(np.unique(shot.reshape(-1, 3) // 16, axis=0))


def test_a_trained_controller_drives(lab, tmp_path):
    train("water", Training(members=2, horizon=8, batch=16, steps=16, longest=10), tmp_path / "swimmer")
    lab.worlds.open("water", controller=str(tmp_path / "swimmer"), start=False)
    (run,) = lab.worlds.simulation.runs
    assert isinstance(run.controller, TrainedController)
    run.step()
    lab.worlds.open("indoor", start=False)  # another world has other controllers


def test_replay_a_recording_and_scrub(page, lab, tmp_path):
    record_world("water", tmp_path / "water", 100, "swim")
    page.get_by_role("tab", name="Replay").click(force=True)
    lab.replay._path.value = str(tmp_path / "water")
    press(page, "Open")
    until(lambda: len(lab.replay.moments) == 101)
    until(lambda: lab.stage.shows(lab.replay))
    thumb = page.get_by_role("slider").locator("visible=true").first
    until(lambda: thumb.press("End") or lab.replay.position == 100)  # again, until the page knows how long it is
    thumb.press("ArrowLeft")
    until(lambda: lab.replay.position == 99)
    press(page, "back")
    until(lambda: lab.replay.position < 95)
    press(page, "pause")
    page.get_by_text(re.compile("frame .*, episode 1")).first.wait_for()


def test_replay_the_drive_of_a_rover(page, lab, tmp_path):
    recorder = Recorder(tmp_path / "drive.mcap")
    driver, _ = simulate(IndoorSettings(robot="tracked", plan="cluttered"), seed=3)
    scans = 0
    for _ in range(12):
        sensed = driver.drive(0.1, 0.12, 0.2)
        recorder.sensed(sensed)
        scans += len(sensed.scans)
    recorder.close()
    page.get_by_role("tab", name="Replay").click(force=True)
    lab.replay._path.value = str(tmp_path / "drive.mcap")
    press(page, "Open")
    until(lambda: len(lab.replay.moments) == scans and lab.stage.shows(lab.replay))
    press(page, "play")
    until(lambda: lab.replay.position > 3)
    press(page, "pause")
    assert not page.problems


def test_run_a_study(page, lab):
    page.get_by_role("tab", name="Studies").click(force=True)
    lab.studies.choose("leveling.probabilities")
    page.get_by_text(re.compile("Full size")).first.wait_for()
    lab.studies._settings.value = "world.shape=[12,12] replicates=2 probabilities=[0.5,0.3,0.1]"
    press(page, "run")
    page.get_by_text(re.compile("Done: .* claims hold")).first.wait_for(timeout=3e3 * PATIENCE)
    address = page.get_by_text("Open the report").first.get_attribute("href")
    assert page.request.get(lab.address.rstrip("/") + address).ok


def test_map_a_log(page, lab, tmp_path):
    record_world("indoor", tmp_path / "log", 60, settings={"plan": "arena"})
    page.get_by_role("tab", name="Maps").click(force=True)
    lab.maps._path.value = str(tmp_path / "log")
    press(page, "map")
    page.get_by_text(re.compile("61 of 61 scans")).first.wait_for()
    assert lab.stage.shows(lab.maps)
    assert len(lab.maps.mapper.keyframes) > 2


def test_a_wrong_token_shows_nothing(browser):
    lab = Lab(0, "127.0.0.1", "abcdefgh1234", tabs=False)
    try:
        page = browser.new_context().new_page()
        port = urlsplit(lab.address).port
        page.goto(f"http://localhost:{port}/?token=wrong")
        assert page.locator("body").inner_text().strip() == "403 Forbidden"
        page.goto(lab.address)
        page.locator("canvas").first.wait_for(timeout=60_000)
        assert "token" not in page.url
        page.context.close()
    finally:
        lab.close()
