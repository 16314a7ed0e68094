"""The tab of a rover: what is drawn, and its buttons in a real browser."""

import time

import numpy as np
import pytest

from link.rovers import ToyRover, serving
from sandlot.lab.lab import Lab
from sandlot.lab.rover_tab import rover_scene
from sandlot.link.client import Client
from sandlot.link.remote import Remote
from sandlot.recordings.scans import Pose
from sandlot.robots.remote import RemoteMap, View

PATIENCE = 60.0


def until(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def view(**given):
    kinds = np.zeros((4, 6), np.uint8)
    kinds[1], kinds[2, :3] = 1, 3
    reputation = np.zeros((4, 6), np.float32)
    reputation[2, :3] = 0.0, 0.5, 1.0
    known = RemoteMap(kinds, reputation, (-1.0, 2.0), 0.1)
    return View(connected=True, mode="SEMI", pose=Pose(0.5, 2.0, 0.0), map=known, **given)


def test_walls_are_as_dark_as_their_reputation():
    items = {item.name: item for item in rover_scene(view()).items}
    darkness = [sum(colour) for colour in items["walls"].colours]
    assert darkness[0] > darkness[1] > darkness[2]
    np.testing.assert_allclose(items["walls"].positions[0], [-0.95, 2.25, 0.02])
    assert len(items["free"].positions) == 6
    assert "path" not in items


def test_path_scan_and_waypoint_are_drawn():
    seen = view(path=np.array([[0.5, 2.0], [1.0, 2.0]]), points=np.ones((5, 2)), waypoint=np.array([1.0, 2.0]))
    names = {item.name for item in rover_scene(seen).items}
    assert {"path", "scan", "waypoint", "rover", "front"} <= names


@pytest.fixture(scope="module")
def served():
    with serving(ToyRover(), pace=1.0) as made:
        yield made


@pytest.fixture(scope="module")
def lab(served, tmp_path_factory):
    def connect(address):
        return Remote(Client("127.0.0.1", int(address.rpartition(":")[2]), served.token))

    made = Lab(0, runs=tmp_path_factory.mktemp("runs"), connect=connect)
    yield made
    made.close()


@pytest.fixture(scope="module")
def page(browser, lab):
    opened = browser.new_page(viewport={"width": 900, "height": 1000})
    opened.set_default_timeout(1e3 * PATIENCE)
    opened.goto(lab.address + "?fixedDpr=0.3")
    opened.get_by_role("tab", name="Rover").click(force=True)
    yield opened
    opened.close()


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click(force=True)


def test_a_wrong_address_is_said(lab):
    lab.rover.open("127.0.0.1:1")
    assert "no link" in lab.rover._status.content


def test_connect_drive_and_halt(page, lab, served):
    lab.rover._address.value = f"127.0.0.1:{served.port}"
    press(page, "Connect")
    until(lambda: lab.rover.seen.connected and lab.rover.seen.telemetry)
    page.get_by_text("MANUAL", exact=True).first.wait_for()
    page.get_by_text("telemetry").first.wait_for()
    press(page, "forwards")
    until(lambda: served.driver.x > 0.05)
    until(lambda: not served.driver.moving)
    lab.rover.rover.move("left", 2.0)
    until(lambda: served.driver.moving)
    press(page, "HALT")
    until(lambda: "halt" in served.driver.orders and not served.driver.moving)


def test_a_click_on_the_map_is_a_waypoint(page, lab, served):
    """Through the handler of the page's clicks: a busy browser loses clicks that come before it has drawn the map."""
    press(page, "SEMI")
    until(lambda: lab.rover.seen.mode == "SEMI")
    until(lambda: lab.stage.shows(lab.rover))
    given = []
    lab.rover.rover.go_to = lambda x, y: given.append((x, y))
    lab.rover.click(np.array([0.0, 0.0, 5.0]), np.array([0.1, 0.0, -1.0]))
    assert len(given) == 1
    press(page, "HALT")
    until(lambda: not served.driver.moving)
