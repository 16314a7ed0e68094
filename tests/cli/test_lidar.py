"""`sandlot lidar`: a live scan, recorded and mapped; and one clear line when there is no lidar."""

import numpy as np
import pytest

from commands import assert_one_clear_line
from lidar_streams import room
from sandlot.cli.scan_picture import BLANK, reach_of, scan_picture
from sandlot.recordings.logs import read_scans
from sandlot.recordings.scans import Scan
from sandlot.sensing.rplidar import Health, Status
from sandlot.sensing.rplidar.device import Device
from sandlot.sensing.rplidar.serving import serve_tcp
from sandlot.sensing.rplidar.turns import even_bearings


def test_an_emulated_lidar_is_recorded_and_mapped(sandlot_, tmp_path):
    said = sandlot_(
        "lidar",
        "--emulate",
        "apartment",
        "--mode",
        "express",
        "--seconds",
        2.5,
        "--record",
        "kept",
        "--map",
        "chart",
        "--json",
    )
    facts = said.json()
    assert facts["turns"] >= 1  # kernels may compile meanwhile
    assert "A1M8" in facts["source"]
    log = read_scans(tmp_path / "kept")
    assert len(log.scans) == facts["turns"]
    first = log.scans[0]
    assert first.time == 0.0
    assert log.start > 1.6e9
    np.testing.assert_allclose(first.bearings, even_bearings(720))
    assert np.isfinite(first.ranges).sum() > 50
    assert first.ages is not None
    assert 0.1 < first.ages.max() < 0.25
    assert (tmp_path / "chart/map.yaml").exists()
    again = sandlot_("lidar", "--recording", "kept", "--seconds", 0.5)
    assert again.status == 0
    assert "turns, 0 of them with losses" in again.out
    shown = sandlot_("map", "kept", "--out", "later", "--json").json()
    assert shown["scans"] == facts["turns"]


def test_a_lidar_at_a_tcp_port(sandlot_):
    with serve_tcp(Device(room)) as served:
        said = sandlot_("lidar", "--tcp", served.address, "--seconds", 0.6, "--mode", "Express")
    assert said.status == 0
    assert f"RPLIDAR A1M8 at {served.address}, firmware 1.29, mode Express" in said.out
    assert served.device.scanning is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "one of --port, --tcp, --emulate and --recording"),
        (["--port", "/dev/ttyNONE"], "no serial port /dev/ttyNONE"),
        (["--port", "a", "--tcp", "b:1"], "one of --port"),
        (["--tcp", "localhost"], "not HOST:PORT"),
        (["--tcp", "127.0.0.1:9"], "no lidar at 127.0.0.1:9"),
        (["--emulate", "nowhere"], "plan"),
        (["--emulate", "apartment", "--kind", "B7"], "allowed: A1, A2, S2"),
        (["--emulate", "apartment", "--fault", "lost=2"], "lost=2"),
        (["--emulate", "apartment", "--mode", "Turbo"], "no scan mode 'Turbo'; it has: Standard"),
        (["--recording", "nothing"], "nothing"),
    ],
)
def test_a_mistake_is_one_line(sandlot_, arguments, says):
    assert_one_clear_line(sandlot_("lidar", *arguments, "--seconds", 1), says)


def test_what_exists_is_not_replaced(sandlot_, tmp_path):
    (tmp_path / "there").mkdir()
    assert_one_clear_line(sandlot_("lidar", "--emulate", "apartment", "--record", "there"), "there")
    assert_one_clear_line(sandlot_("lidar", "--emulate", "apartment", "--map", "there"), "there")


def test_an_unhealthy_lidar_is_one_line(sandlot_, monkeypatch):
    class Broken(Device):
        def poll(self, now):
            self.health = Health(Status.ERROR, 7)
            return super().poll(now)

    with serve_tcp(Broken(room)) as served:
        assert_one_clear_line(sandlot_("lidar", "--tcp", served.address), "reports a fault, code 7")


def test_what_was_recorded_is_kept_if_the_lidar_goes_away(sandlot_, tmp_path):
    class Leaving(Device):
        begun = None

        def poll(self, now):
            self.begun = now if self.begun is None and self.scanning is not None else self.begun
            if self.begun is not None and now > self.begun + 1.5:
                raise OSError
            return super().poll(now)

    with serve_tcp(Leaving(room)) as served:
        said = sandlot_("lidar", "--tcp", served.address, "--record", "kept", "--mode", "Express")
    assert said.status == 2
    assert "has closed the connection" in said.err
    assert len(read_scans(tmp_path / "kept").scans) >= 4


def test_a_scan_is_drawn_from_above():
    """A return ahead is above the arrow, one on the left is left of it."""
    scan = Scan(0.0, np.array([0.9, 0.9, np.nan], np.float32), np.array([0.0, np.pi / 2, 1.0]))
    lines = scan_picture(scan, 21, 11, 1.0)
    assert [len(line) for line in lines] == [21] * 11
    assert lines[5][10] == "▲"
    marks = {(row, column) for row, line in enumerate(lines) for column, each in enumerate(line) if ord(each) > BLANK}
    ahead, left = sorted(marks)
    assert ahead[0] <= 1
    assert abs(ahead[1] - 10) <= 1
    assert abs(left[0] - 5) <= 1
    assert left[1] <= 2


def test_the_picture_shows_nearly_all_returns():
    ranges = np.array([1.5] * 99 + [11.0], np.float32)
    assert reach_of(Scan(0.0, ranges, even_bearings(100))) == 2.0
    assert reach_of(Scan(0.0, np.full(4, np.nan, np.float32), even_bearings(4))) == 1.0
