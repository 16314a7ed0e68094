"""A simulated rover whose scans are the bytes of an emulated lidar, and a whole drive of it over the link."""

import time

import numpy as np
import pytest

import chromium
from link.rovers import serving, until
from sandlot.control.navigation.avoiding import load_avoider
from sandlot.control.navigation.near import Avoidance, Near
from sandlot.errors import SandlotError
from sandlot.lab.replay import read_moments, to_html
from sandlot.link import client as client_module
from sandlot.link.client import Client
from sandlot.link.lidar_rover import LidarRover, Trace
from sandlot.link.recording import Recorder
from sandlot.mapping.mapper import Mapper
from sandlot.recordings.logs import read_scans
from sandlot.recordings.streams import read_streams
from sandlot.sensing.rplidar.faults import Faults
from sandlot.worlds.indoor.settings import IndoorSettings

ROOM = """
[[walls]]
rectangle = [0, 0, 6, 4]
[[walls]]
rectangle = [0, 4, 2, 5.5]
[[circles]]
centre = [3.0, 2.05]
radius = 0.15
"""
WAYPOINTS = ((3.8, 0.0), (0.3, -0.6))
"""The first lies behind the pillar [m]."""
LONG = 120.0


@pytest.fixture
def room(tmp_path):
    path = tmp_path / "room.toml"
    path.write_text(ROOM, encoding="utf-8")
    return IndoorSettings(robot="tracked", plan=path, start=(1.0, 2.0, 0.0))


def test_a_trace_is_linear_between_its_poses_and_rests_outside():
    trace = Trace(1.0, np.array([0.0, 0.0, 3.0]))
    np.testing.assert_array_equal(trace(np.array([0.0, 2.0])), [[0.0, 0.0, 3.0]] * 2)
    trace.add(2.0, np.array([2.0, 0.0, -3.0]))
    found = trace(np.array([0.5, 1.5, 9.0]))
    np.testing.assert_allclose(found[:, 0], [0.0, 1.0, 2.0])
    np.testing.assert_allclose(np.abs(found[1, 2]), np.pi)  # the shorter way around
    trace.add(2.0, np.array([3.0, 0.0, 0.0]))
    np.testing.assert_allclose(trace(np.array([2.0]))[0], [3.0, 0.0, 0.0])


def test_orders_take_their_time_and_scans_show_where_the_rover_is(room):
    rover = LidarRover(room, seed=1)
    try:
        (first,) = rover.scan().scans
        begin = time.monotonic()
        sensed = rover.drive(0.2, 0.2, 1.0)
        assert 0.9 < time.monotonic() - begin < 3.0
        assert 3 <= len(sensed.scans) <= 8  # 5.5 turns a second, the first of which began before
        assert np.all(np.diff([scan.time for scan in sensed.scans]) > 0.0)
        (last,) = rover.scan().scans
        mapper = Mapper()
        for scan in (first, *sensed.scans, last):
            mapper.add(scan)
        assert 0.1 < rover.truth.moved[0] < 0.4
        assert np.hypot(*(mapper.pose[:2] - rover.truth.moved[:2])) < 0.05
        assert last.speed == 0.0
    finally:
        rover.close()


def test_tracks_go_on_until_the_next_order(room):
    rover = LidarRover(room, seed=1)
    try:
        rover.drive(0.2, 0.2, 0.1)
        time.sleep(0.5)
        rover.halt()
        moved = rover.truth.moved[0]
        assert moved > 0.05  # 0.1 s alone are at most 0.02 m
        time.sleep(0.3)
        rover.halt()
        assert rover.truth.moved[0] == moved
    finally:
        rover.close()


def test_a_lidar_that_loses_everything_is_one_clear_line(room):
    with pytest.raises(SandlotError):
        LidarRover(room, faults=Faults(lost=1.0))


@pytest.mark.slow
def test_a_whole_drive_over_the_link(room, tmp_path):
    """Explore, map, two waypoints, a pillar that the avoider passes, a cut in the middle; recorded and mapped again."""
    path = tmp_path / "drive.mcap"
    rover, recorder = LidarRover(room, seed=3, faults=Faults(lost=1e-4, flipped=1e-4)), Recorder(path)
    avoidance = Avoidance(load_avoider(), Near(threshold=1.0))
    beat, ends = client_module.BEAT, []
    try:
        with (
            serving(rover, recorder=recorder, avoidance=avoidance) as served,
            Client(port=served.port, token=served.token, patience=60.0) as client,
        ):
            client.mode("AUTO", LONG)
            until(lambda: client.status is not None and client.status.time > 6.0, LONG)
            client.halt().wait(LONG)
            client.mode("SEMI", LONG)
            _, cells = client.map(LONG)
            for number, waypoint in enumerate(WAYPOINTS):
                ticket = client.go_to(*waypoint)
                if number == 0:
                    until(lambda: client.status.state == "driving" and served.server.executor.wheels.moving, LONG)
                    client_module.BEAT = 1000.0  # the controller falls silent
                    client.cut()
                    until(lambda: client.status is not None and client.status.held, LONG)
                    assert not served.server.executor.wheels.moving
                    assert not ticket.done
                    client_module.BEAT = beat
                    client.cut()
                    client.go_on().wait(LONG)
                ends.append((ticket.wait(LONG), rover.truth.moved))
                assert client.status.state == "arrived"
    finally:
        client_module.BEAT = beat
        recorder.close()
        rover.close()
    for waypoint, (result, moved) in zip(WAYPOINTS, ends, strict=True):
        assert (result.outcome, result.report[:10]) == ("done", "arrived at")
        assert np.hypot(*(moved[:2] - waypoint)) < 0.35  # it coasts
    assert rover.truth.bumps == 0
    assert avoidance.decisions > 0
    assert (cells[0] >= 2).sum() > 100
    assert {"/scan", "/odom", "/pose", "/map", "/link/orders", "/link/results"} <= set(read_streams(path))
    mapper = Mapper()
    for scan in read_scans(path).scans:
        mapper.add(scan)
    assert np.hypot(*(mapper.pose[:2] - rover.truth.moved[:2])) < 0.3
    kept = read_moments(path)
    seen = kept[-1].scene.looked_at[0][:2]
    assert np.hypot(*(seen - rover.truth.moved[:2])) < 0.3
    html = tmp_path / "drive.html"
    html.write_text(to_html(kept), encoding="utf-8")
    check_in_a_browser(html)


def check_in_a_browser(html):
    """The page draws something, and neither fails nor asks the network."""
    if (chromium_path := chromium.find()) is None:
        return
    asked, problems = [], []
    with pytest.importorskip("playwright.sync_api").sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=chromium.FLAGS)
        page = browser.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(html.as_uri())
        page.locator("canvas").first.wait_for(timeout=120_000)
        page.wait_for_timeout(15_000)
        page.screenshot(path=html.with_suffix(".png"))
        browser.close()
    assert not problems
    assert not [url for url in asked if url.startswith(("http:", "https:", "ws:"))]
    assert html.with_suffix(".png").stat().st_size > 20_000  # not an empty page
