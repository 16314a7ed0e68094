"""Logs of a Rover 5: poses from encoder ticks that wrap around, and ranges."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from data import real_log
from fuzzing import damaged, survive
from sandlot.recordings.logs.rover5 import read_rover5
from sandlot.recordings.logs.source import DamagedError, Source

METRE = (1000 / 3) / (math.pi * 0.0582)
"""Ticks."""


def line(left, right, milliseconds, ranges=(1000, 0)):
    return " ".join(map(str, [left, right, milliseconds, *ranges, *[500] * (360 - len(ranges))])) + "\n"


def read(tmp_path, text, **robot):
    (tmp_path / "a.log").write_text(text)
    source = Source(tmp_path / "a.log")
    return source, list(read_rover5(source, **robot))


def test_ranges_go_clockwise_from_ahead(tmp_path):
    source, (scan,) = read(tmp_path, line(5, 6, 272))
    np.testing.assert_array_equal(scan.ranges[:3], np.float32([1.0, np.nan, 0.5]))
    np.testing.assert_allclose(scan.bearings[[0, 90, 359]], np.radians([0, -90, -359]))
    assert (scan.time, scan.pose) == (0.0, (0, 0, 0))
    assert math.isnan(scan.speed)
    assert source.settings["laser_position"] == [-0.035, 0.0]
    assert source.settings["start"] == 0.272


@pytest.mark.parametrize("first", [0, 12_000, 32_700, -32_768, 65_500])
def test_ticks_and_milliseconds_wrap_around(tmp_path, first):
    ticks = [(first + n) if first > 33_000 else (first + n + 32_768) % 65_536 - 32_768 for n in (0, 300, 600)]
    ticks = [n % 65_536 if first > 33_000 else n for n in ticks]
    times = [65_400, 50, 236]
    _, scans = read(tmp_path, "".join(line(n, n, t) for n, t in zip(ticks, times, strict=True)))
    np.testing.assert_allclose([scan.pose.x for scan in scans], np.array([0, 300, 600]) / METRE)
    np.testing.assert_allclose([scan.time for scan in scans], [0, 0.186, 0.372])
    assert scans[1].speed == pytest.approx(300 / METRE / 0.186)


def test_a_turn_to_the_left(tmp_path):
    quarter = math.pi / 2 * 0.19 / 2 * METRE
    text = "".join(line(-round(n * quarter), round(n * quarter), 200 * n) for n in range(3))
    _, scans = read(tmp_path, text)
    np.testing.assert_allclose(np.degrees([scan.pose.yaw for scan in scans]), [0, 90, 180], atol=0.3)
    np.testing.assert_allclose([scan.pose[:2] for scan in scans], 0.0, atol=1e-9)
    assert scans[1].turn_rate == pytest.approx(math.pi / 2 / 0.2, rel=0.01)


def test_an_arc_ends_where_it_should(tmp_path):
    """A half circle of radius 1 m, in one step and in many."""
    for steps in (2, 50):
        inner, outer = (math.pi * (1 + side * 0.5) * METRE for side in (-1, 1))
        text = "".join(line(round(inner * n / steps), round(outer * n / steps), n) for n in range(steps + 1))
        _, scans = read(tmp_path, text, track_base=1.0)
        np.testing.assert_allclose(scans[-1].pose[:2], (0, 2), atol=0.01)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 2 3\n", "3 numbers; a line has 363"),
        (line(1, 2, 3).replace("\n", " 5 6\n"), "more than 363 numbers"),
        (line(1, 2, 3, [1.5]), "some of its words are not whole numbers"),
        (line(1, 2, 3, [70_000]), "does not fit into 16 bits"),
        (line(1, 2, 3, [10**30]), "does not fit into 16 bits"),
        (line(1, 2, 3, [-5]), "does not fit into 16 bits"),
        (line(99_999, 2, 3), "does not fit into 16 bits"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, text, said):
    with pytest.raises(DamagedError, match=r"a.log, line 2: ") as error:
        read(tmp_path, line(0, 0, 0) + text)
    assert said in str(error.value)


@pytest.mark.parametrize("jump", [30_000, -30_000])
def test_a_jump_of_the_ticks_is_no_motion_and_is_noted(tmp_path, jump):
    ticks = [0, 100, 200 + jump, 300 + jump, 300]
    source, scans = read(tmp_path, "".join(line(n, n, 200 * k) for k, n in enumerate(ticks)))
    np.testing.assert_allclose([scan.pose.x * METRE for scan in scans], [0, 100, 100, 200, 200])
    assert math.isnan(scans[2].speed)
    assert source.notes[0].startswith("the encoder ticks jump 2 times, by up to 30,")


@settings(max_examples=100)
@given(data=damaged("".join(line(n, 2 * n, 182 * n) for n in range(4)).encode()))
def test_damage(tmp_path_factory, data):
    survive(read_rover5, tmp_path_factory.getbasetemp() / "rover5.log", data)


@pytest.mark.parametrize(
    ("name", "count", "distance", "seconds"), [("6aug14", 3936, 56.8, 839.7), ("24jul14", 237, 4.04, 43.4)]
)
def test_the_rover(name, count, distance, seconds):
    scans = list(read_rover5(Source(real_log(f"rover5-rplidar/{name}.log.gz"))))
    assert len(scans) == count
    steps = np.diff([scan.pose[:2] for scan in scans], axis=0)
    assert np.hypot(*steps.T).sum() == pytest.approx(distance, abs=0.05)
    assert scans[-1].time == pytest.approx(seconds, abs=0.1)


def test_beams_go_clockwise_from_ahead():
    """Ranges ahead shrink when the rover drives; obstacles move to the right when it turns left."""
    scans = list(read_rover5(Source(real_log("rover5-rplidar/6aug14.log.gz"))))
    ranges = np.array([scan.ranges for scan in scans])
    speed, turn = (np.array([getattr(scan, name) for scan in scans]) for name in ("speed", "turn_rate"))
    ahead, behind = np.cos(scans[0].bearings) > 0.95, np.cos(scans[0].bearings) < -0.95
    closer = np.diff(ranges, axis=0)[(speed[1:] > 0.15) & (abs(turn[1:]) < 0.1)]
    assert np.nanmedian(closer[:, ahead]) < -0.01
    assert np.nanmedian(closer[:, behind]) > 0.01

    logs = np.log(ranges)
    enough = np.isfinite(logs).sum(axis=1) > 180
    turned, seen = [], []
    for number in np.flatnonzero((abs(turn[1:]) > 0.5) & enough[1:] & enough[:-1])[:150]:
        shifts = range(-15, 16)
        changes = [abs(np.roll(logs[number], shift) - logs[number + 1]) for shift in shifts]
        errors = [np.median(change[np.isfinite(change)]) for change in changes]
        turned.append(turn[number + 1])
        seen.append(shifts[int(np.argmin(errors))])
    assert np.corrcoef(turned, seen)[0, 1] > 0.7
