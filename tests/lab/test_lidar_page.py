"""The page of a live lidar, in a browser."""

import numpy as np

from lidar_streams import room
from sandlot.lab.lidar_page import LidarPage, scan_scene
from sandlot.mapping.mapper import Mapper
from sandlot.recordings.scans import Scan
from sandlot.sensing.rplidar.turns import even_bearings

BEARINGS = even_bearings(360)
SCAN = Scan(0.0, room(BEARINGS, None).astype(np.float32), BEARINGS)


def test_returns_are_drawn_where_they_are():
    items = {item.name: item for item in scan_scene(SCAN, 4.0).items}
    returns = items["returns"].positions
    assert abs(returns[:, 0]).max() < 2.6
    np.testing.assert_allclose(np.hypot(*returns[:, :2].T), SCAN.ranges, rtol=1e-5)


def test_a_scan_without_returns():
    blind = Scan(0.0, np.full(360, np.nan, np.float32), BEARINGS)
    assert {item.name for item in scan_scene(blind, 1.0).items} == {"robot", "front"}


def test_the_page_shows_the_scan_and_its_map(browser):
    page = LidarPage(0, "RPLIDAR <A1M8>")
    try:
        tab = browser.new_page()
        tab.goto(page.lab.address)
        tab.get_by_text("RPLIDAR <A1M8>").wait_for(timeout=30_000)
        page.show(SCAN, None, "turn 1")
        tab.get_by_text("turn 1").wait_for(timeout=30_000)
        mapper = Mapper()
        mapper.add(SCAN)
        page.show(SCAN, mapper, "turn 2")
        tab.get_by_text("turn 2").wait_for(timeout=30_000)
        assert {item.name for item in page._scene.items} >= {"map", "robot", "scan"}
        tab.close()
    finally:
        page.close()
