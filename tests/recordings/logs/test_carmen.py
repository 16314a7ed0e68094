"""CARMEN logs: each value is read from its place, and a malformed line is named."""

import gzip
import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data import real_log
from fuzzing import damaged, survive
from sandlot.errors import SandlotError
from sandlot.recordings.logs import import_log
from sandlot.recordings.logs.carmen import read_carmen
from sandlot.recordings.logs.source import MAX_LINE, DamagedError, Source

FLASER = "FLASER 4 1.5 81.83 2.25 0 {x} 2 0.5 {x} 2.5 0.4 {time} host {time}"
ROBOTLASER = (
    "ROBOTLASER1 0 -1.5 3.0 0.5 50.0 0.1 0 3 4.5 50.0 81.83 2 7 8 1.1 2 0.25 1 2 0.25 0.3 0.1 0 0 0 {time} host 1.0"
)
LOG = "\n".join(
    [
        "# a comment",
        "PARAM robot_frontlaser_offset 0.0 nohost 0",
        "ODOM 0 0 0 0.7 -0.2 0 9.0 host 9.0",
        FLASER.format(x=1, time=10),
        "NEFF 3 4",
        FLASER.format(x=1.5, time=10.5),
        "",
    ]
)


def read(tmp_path, text, name="a.log"):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    source = Source(tmp_path / name)
    return source, list(read_carmen(source))


def test_flaser(tmp_path):
    source, (first, second) = read(tmp_path, LOG)
    np.testing.assert_array_equal(first.ranges, np.float32([1.5, np.nan, 2.25, np.nan]))
    np.testing.assert_allclose(first.bearings, np.radians([-90, -45, 0, 45]))
    assert first.pose == (1, 2, 0.5)
    assert first.odometry == (1, 2.5, 0.4)
    assert (first.time, second.time) == (0.0, 0.5)
    assert (first.speed, first.turn_rate) == (0.7, -0.2)
    assert source.settings == {"source": "a.log", "start": 10.0, "laser_position": [0.0, 0.0]}
    assert source.notes == ["lines left out: NEFF (1)"]


def test_an_odd_number_of_beams_has_one_at_each_end(tmp_path):
    _, (scan,) = read(tmp_path, "FLASER 3 1 1 1 0 0 0 0 0 0 1 host 1\n")
    np.testing.assert_allclose(scan.bearings, np.radians([-90, 0, 90]))
    assert math.isnan(scan.speed)


def test_a_laser_in_front_is_not_where_the_robot_is(tmp_path):
    source, (scan,) = read(tmp_path, "PARAM robot_frontlaser_offset 0.5 x 0\nFLASER 1 1 0 2 1.5708 0 0 0 1 host 1\n")
    np.testing.assert_allclose(scan.pose, (0, 1.5, 1.5708), atol=1e-4)
    assert source.settings["laser_position"] == [0.5, 0.0]


def test_robotlaser(tmp_path):
    source, (scan,) = read(tmp_path, ROBOTLASER.format(time=5) + "\n")
    np.testing.assert_array_equal(scan.ranges, np.float32([4.5, np.nan, np.nan]))
    np.testing.assert_allclose(scan.bearings, [-1.5, -1.0, -0.5])
    assert scan.pose == scan.odometry == (1, 2, 0.25)
    assert (scan.speed, scan.turn_rate) == (0.3, 0.1)
    np.testing.assert_allclose(source.settings["laser_position"], (0.1 * np.cos(0.25), -0.1 * np.sin(0.25)), atol=1e-6)


def test_of_two_lasers_the_first_is_read(tmp_path):
    source, scans = read(tmp_path, LOG + ROBOTLASER.format(time=11) + "\n")
    assert [len(scan.ranges) for scan in scans] == [4, 4]
    assert source.notes == ["lines left out: NEFF (1), ROBOTLASER1 (1)"]


def test_gzip_is_the_same(tmp_path):
    plain, packed = (read(tmp_path, data)[1] for data in (LOG, gzip.compress(LOG.encode())))
    assert [scan.pose for scan in plain] == [scan.pose for scan in packed]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("FLASER", "ends before its number of readings"),
        ("FLASER 0 1 2 3 4 5 6 7 h 8", "has no readings"),
        ("FLASER 180 1.0 2.0", "says 180 readings but has only 4 words"),
        ("FLASER 1 1 2 0 0 0 0 0 0 1 h 1", "has 13 words, not 12"),
        ("FLASER 999999999999 1.0", "is not a count from 0 to 100,000"),
        ("FLASER -1 1.0", "is not a count"),
        ("FLASER 1 x 0 0 0 0 0 0 1 h 1", "is not a finite number"),
        ("FLASER 1 nan 0 0 0 0 0 0 1 h 1", "'nan' is not a finite number"),
        ("FLASER 1 1e400 0 0 0 0 0 0 1 h 1", "is not a finite number"),
        ("ODOM 1 2", "3 words"),
        ("fl@ser 1", "CARMEN has no message"),
        ("A" * (MAX_LINE + 5), "longer than"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, said):
    with pytest.raises(DamagedError, match="line 7: ") as error:
        read(tmp_path, LOG + line + "\n")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("more", "said"),
    [("2 99999 1", "not a count from 0 to 1"), ("2 1 5 0 0 0", "says 1 readings and 1 remissions but has 15 words")],
)
def test_a_wrong_robotlaser_is_named(tmp_path, more, said):
    with pytest.raises(DamagedError, match=said):
        read(tmp_path, f"ROBOTLASER1 0 1 1 1 1 1 1 1 {more}\n")


def test_a_laser_that_turns_too_far(tmp_path):
    with pytest.raises(DamagedError, match="impossible angles"):
        read(tmp_path, ROBOTLASER.format(time=5).replace("-1.5 3.0 0.5", "-1.5 3.0 1e308") + "\n")


def test_a_line_without_an_end_is_noted(tmp_path):
    source, _ = read(tmp_path, LOG.rstrip("\n"))
    assert "cut off" in source.notes[0]


def test_gzip_that_is_cut_off(tmp_path):
    with pytest.raises(DamagedError, match="gzip"):
        read(tmp_path, gzip.compress(LOG.encode() * 50)[:-40])


BOTH = (LOG + "\n").encode(), (ROBOTLASER.format(time=5) + "\n").encode() * 3


@settings(max_examples=150)
@given(data=st.sampled_from(BOTH).flatmap(damaged), packed=st.booleans())
def test_damage(tmp_path_factory, data, packed):
    survive(read_carmen, tmp_path_factory.getbasetemp() / "carmen.log", gzip.compress(data) if packed else data)


@settings(max_examples=50)
@given(data=damaged(gzip.compress(BOTH[0] * 20, mtime=0)))
def test_damaged_gzip(tmp_path_factory, data):
    survive(read_carmen, tmp_path_factory.getbasetemp() / "carmen.gz", data)


@pytest.mark.parametrize("line", [b"1 ", b"FLASER 1 1 0 0 0 0 0 0 1 h 1\n", b"\n", b"\0"])
def test_gzip_may_hold_a_thousand_times_as_much(tmp_path, line):
    many = 2**23 if line in (b"1 ", b"\0") else 3_000
    survive(read_carmen, tmp_path / "bomb.gz", gzip.compress(line * many))


@pytest.mark.parametrize("line", [b"\n", b"#\n"])
def test_gzip_that_unpacks_to_endless_lines_without_a_scan_is_refused(tmp_path, line):
    (tmp_path / "bomb.log.gz").write_bytes(gzip.compress(LOG.encode() + line * 2_000_000, 1))
    with pytest.raises(SandlotError, match="1,000,000 lines in a row without a scan"):
        import_log(tmp_path / "bomb.log.gz", tmp_path / "out")


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_only_regular_files_are_read(tmp_path, make):
    make(tmp_path / "a.log")
    with pytest.raises(SandlotError, match="is not a regular file"):
        Source(tmp_path / "a.log")


def test_a_line_of_very_many_numbers(tmp_path):
    assert len(survive(read_carmen, tmp_path / "a.log", b"FLASER 100000 " + b"1.25 " * 100_006 + b"1 h 1\n")) == 1
    assert not survive(read_carmen, tmp_path / "a.log", b"FLASER 99999 " + b"12 " * 300_000 + b"\n")


def test_the_intel_lab(tmp_path):
    source = Source(real_log("intel-lab/intel-corrected.log.gz"))
    scans = list(read_carmen(source))
    assert len(scans) == 910
    assert {len(scan.ranges) for scan in scans} == {180}
    assert all(np.nanmax(scan.ranges) < 80 for scan in scans)
    steps = np.diff([scan.pose[:2] for scan in scans], axis=0)
    assert np.hypot(*steps.T).sum() == pytest.approx(499.5, abs=0.1)
    assert not any(math.isnan(scan.speed) for scan in scans)
