"""Bags of ROS 1, ROS 2 and MCAP: scans with the pose of their moment, in any file order, damaged or not."""

import bz2
import math
import re
import struct
import zlib
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bag_files import START, write
from fuzzing import damaged, survive
from sandlot.errors import SandlotError
from sandlot.recordings.logs import DamagedError, Source, import_log
from sandlot.recordings.logs.bags import reader, trajectory
from sandlot.recordings.logs.bags.compression import zstd
from sandlot.recordings.logs.bags.reader import read_bag

BAGS = ("ros1", "ros1 bz2", "ros1 lz4", "mcap", "mcap zstd", "mcap messages", "sqlite", "sqlite messages")


def read(path, topic=None):
    source = Source(path, topic)
    return source, list(read_bag(source))


@pytest.mark.parametrize("kind", BAGS)
def test_a_drive(tmp_path, kind):
    source, scans = read(write(tmp_path, kind))
    assert len(scans) == 6
    assert source.settings["topic"] == "/scan"
    assert source.settings["start"] == START
    np.testing.assert_allclose(source.settings["laser_position"], (0.2, 0.1))
    assert source.notes == []
    for number, scan in enumerate(scans):
        np.testing.assert_array_equal(scan.ranges, np.float32([1.5, np.nan, np.nan, np.nan, 2.0]))
        np.testing.assert_allclose(scan.bearings, 0.3 + np.arange(-1.0, 1.1, 0.5))
        assert scan.time == pytest.approx(0.1 * number)
        known = min(0.1 * number, 0.45)  # no odometry after the last scan
        np.testing.assert_allclose(scan.pose, (known, 0, 0.5 * known), atol=1e-9)
        assert scan.odometry == scan.pose
        np.testing.assert_allclose((scan.speed, scan.turn_rate), (1.0, 0.5))


def test_a_directory(tmp_path):
    path = write(tmp_path, "sqlite")
    assert len(read(path.parent)[1]) == 6
    path.with_name("metadata.yaml").unlink()
    assert len(read(path.parent)[1]) == 6


def test_tf_stands_in_for_odometry(tmp_path):
    _, scans = read(write(tmp_path, "mcap", lambda robot: robot.drive(("/scan", "/tf", "/tf_static"))))
    np.testing.assert_allclose(scans[2].pose, (0.2, 0, 0.1), atol=1e-9)
    assert math.isnan(scans[2].speed)


def test_the_map_is_better_than_odometry(tmp_path):
    def drive(robot):
        yield -0.1, "/tf", robot.transform(0.0, "map", "odom", 5.0, 1.0, math.pi / 2)
        yield from robot.drive(("/scan", "/odom"))

    source, scans = read(write(tmp_path, "ros1", drive))
    np.testing.assert_allclose(scans[3].odometry, (0.3, 0, 0.15), atol=1e-9)
    np.testing.assert_allclose(scans[3].pose, (5, 1.3, math.pi / 2 + 0.15), atol=1e-9)
    assert "where the laser is" in source.notes[0]


def test_without_any_odometry(tmp_path):
    source, scans = read(write(tmp_path, "mcap", lambda robot: robot.drive(("/scan",))))
    assert len(scans) == 6
    assert np.isnan(scans[0].pose).all()
    assert any("no odometry" in note for note in source.notes)


def stops(robot, pause, scans):
    """A drive whose odometry says nothing during a pause [s]."""
    for time, topic, message in robot.drive(("/scan", "/odom"), scans):
        if topic != "/odom" or not pause[0] < time < pause[1]:
            yield time, topic, message


def test_odometry_that_begins_late(tmp_path):
    source, scans = read(write(tmp_path, "mcap", lambda robot: stops(robot, (-1.0, 5.05), 126)))
    assert scans[0].pose == scans[40].pose
    (note,) = (note for note in source.notes if "odometry" in note)
    assert note.startswith("odometry begins 5.")
    assert note.endswith(" scans before it have its first pose")


def test_odometry_that_ends_before_the_scans(tmp_path):
    source, scans = read(write(tmp_path, "mcap", lambda robot: stops(robot, (0.5, math.inf), 126)))
    assert len(scans) == 126
    assert scans[60].pose == scans[-1].pose == pytest.approx((0.45, 0.0, 0.225), abs=1e-9)
    (note,) = (note for note in source.notes if "odometry" in note)
    assert note == "odometry ends 12.1 s before the last scan; scans after it keep its last pose"


@pytest.mark.parametrize(("scans", "guessed"), [(60, 30), (200, 140)])
def test_odometry_that_pauses(tmp_path, scans, guessed):
    pause = (1.5, 1.5 + 0.1 * guessed)
    source, found = read(write(tmp_path, "mcap", lambda robot: stops(robot, pause, scans)))
    assert len(found) == scans
    (note,) = (note for note in source.notes if "odometry" in note)
    length, many = re.fullmatch(r"odometry pauses for up to ([\d.]+) s; the poses of (\d+) scans .*", note).groups()
    assert float(length) == pytest.approx(0.1 * guessed + 0.1, abs=0.11)
    assert guessed <= int(many) <= guessed + 1


def test_odometry_that_is_slow_is_not_missed(tmp_path):
    def drive(robot):
        for number in range(30):
            if number % 20 == 0:
                yield number, "/odom", robot.odometry(number)
            yield number, "/scan", robot.scan(number)

    assert not any("odometry" in note for note in read(write(tmp_path, "mcap", drive))[0].notes)


def test_a_laser_upside_down_sees_the_other_way_round(tmp_path):
    drive = lambda robot: robot.drive(mount=(0.0, 0.0, 0.25, math.pi))  # noqa: E731
    _, scans = read(write(tmp_path, "mcap", drive))
    np.testing.assert_allclose(scans[0].bearings, 0.25 - np.arange(-1.0, 1.1, 0.5), atol=1e-6)


def test_topics_can_be_chosen(tmp_path):
    def drive(robot):
        for time, topic, message in robot.drive():
            yield time, topic, message
            if topic == "/scan":
                yield time, "/scan_2", robot.scan(time, beams=3)

    path = write(tmp_path, "mcap", drive)
    source, scans = read(path)
    assert len(scans[0].ranges) == 5
    assert "/scan_2" in source.notes[0]
    assert len(read(path, "/scan_2")[1][0].ranges) == 3
    with pytest.raises(SandlotError, match=r"no scans on /nothing; topics of scans: /scan, /scan_2"):
        read(path, "/nothing")


def test_beams_that_vary_go_to_the_nearest_of_most_scans(tmp_path):
    """A short first scan does not set the number of beams."""

    def drive(robot):
        yield 0.0, "/scan", robot.scan(0.0, beams=1)
        yield 0.1, "/scan", robot.scan(0.1, beams=4)
        yield 0.2, "/scan", robot.scan(0.2, beams=4)
        yield 0.3, "/scan", robot.scan(0.3, beams=5, first=-1.5)

    source, scans = read(write(tmp_path, "mcap", drive))
    assert [len(scan.ranges) for scan in scans] == [4, 4, 4, 4]
    np.testing.assert_array_equal(scans[0].ranges, np.float32([1.5, np.nan, np.nan, np.nan]))
    np.testing.assert_array_equal(scans[1].ranges, np.float32([1.5, np.nan, np.nan, np.nan]))
    np.testing.assert_array_equal(scans[3].ranges, np.float32([np.nan, np.nan, np.nan, 2.0]))
    assert any(note.startswith("2 scans had other beams") for note in source.notes)


@pytest.mark.parametrize(
    "changes", [{"angle_min": math.nan}, {"angle_increment": 1e9}, {"ranges": np.zeros(0, np.float32)}]
)
def test_an_impossible_scan_is_skipped_and_counted(tmp_path, changes):
    def drive(robot):
        yield 0.0, "/scan", robot.scan(0.0, **changes)
        yield from robot.drive()

    source, scans = read(write(tmp_path, "mcap", drive))
    assert len(scans) == 6
    assert source.notes == ["1 LaserScan messages skipped, without beams, or with impossible angles or times"]


def test_a_bag_of_impossible_scans_says_why_it_has_none(tmp_path):
    path = write(tmp_path, "mcap", lambda robot: [(0.0, "/scan", robot.scan(0.0, angle_min=math.nan))])
    with pytest.raises(SandlotError, match=r"has no scans; .* 1 LaserScan messages skipped"):
        import_log(path, tmp_path / "out")


@pytest.mark.parametrize("kind", ["ros1", "mcap", "sqlite"])
def test_an_impossible_pose_is_skipped_and_counted(tmp_path, kind):
    def drive(robot):
        for number, (time, topic, message) in enumerate(robot.drive(("/scan", "/odom", "/tf"), 20)):
            if number in (3, 9):
                pose = robot.odometry(time)
                pose.pose.pose.position.x = math.nan
                yield time, "/odom", pose
                pose = robot.odometry(time)
                pose.pose.pose.orientation.z = pose.pose.pose.orientation.w = 0.0
                yield time, "/odom", pose
                yield time, "/tf", robot.transform(time, "odom", "base_link", math.inf)
            yield time, topic, message

    source, scans = read(write(tmp_path, kind, drive))
    assert np.isfinite([scan.pose for scan in scans]).all()
    np.testing.assert_allclose(scans[10].pose, (1.0, 0, 0.5), atol=1e-9)
    assert "4 Odometry messages skipped, whose pose is not finite, or whose quaternion is zero" in source.notes
    assert any(note.startswith("2 TFMessage messages skipped") for note in source.notes)


ORDERS = {
    "odometry first": lambda message: message[1] != "/odom",
    "scans first": lambda message: message[1] != "/scan",
    "transforms last": lambda message: message[1].startswith("/tf"),
    "backwards": lambda message: -message[0],
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["ros1", "mcap zstd", "sqlite"])
def test_the_order_of_messages_in_the_file_does_not_matter(tmp_path, kind, order):
    def drive(robot):
        yield from robot.drive(scans=300)
        for time in range(0, 30, 4):
            yield time + 0.5, "/tf", robot.transform(time + 0.5, "map", "odom", 0.1 * time, yaw=0.01 * time)

    def shuffled(robot):
        return sorted(sorted(drive(robot), key=lambda message: message[0]), key=ORDERS[order])

    def interleaved(robot):
        return sorted(drive(robot), key=lambda message: message[0])

    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    source, scans = read(write(tmp_path / "one", kind, shuffled))
    expected_source, expected = read(write(tmp_path / "other", kind, interleaved))
    assert len(scans) == len(expected) == 300
    np.testing.assert_allclose(expected[250].odometry, (25.0, 0.0, math.remainder(12.5, 2 * math.pi)), atol=1e-6)
    for scan, other in zip(scans, expected, strict=True):
        assert (scan.time, scan.pose, scan.odometry, scan.speed) == (
            other.time,
            other.pose,
            other.odometry,
            other.speed,
        )
        np.testing.assert_array_equal(scan.ranges, other.ranges)
        np.testing.assert_array_equal(scan.bearings, other.bearings)
    assert source.settings["start"] == expected_source.settings["start"]
    assert source.notes == expected_source.notes


def test_scans_in_any_order_are_sorted_in_little_memory(tmp_path, monkeypatch):
    def backwards(robot):
        return sorted(robot.drive(scans=50), key=lambda message: -message[0])

    path = write(tmp_path, "mcap", backwards)
    monkeypatch.setattr(reader, "SORT_BYTES", 7 * 520)
    _, scans = read(path)
    np.testing.assert_allclose([scan.time for scan in scans], 0.1 * np.arange(50))


def test_a_long_trajectory_is_thinned(tmp_path, monkeypatch):
    monkeypatch.setattr(trajectory, "MAX_POSES", 64)
    source, scans = read(write(tmp_path, "mcap", lambda robot: robot.drive(scans=500)))
    np.testing.assert_allclose([scan.pose.x for scan in scans][:450], 0.1 * np.arange(450), atol=1e-9)
    assert any("500 odometry messages; one in" in note for note in source.notes)


def test_a_second_odometry_topic_is_noted(tmp_path):
    def drive(robot):
        for time, topic, message in robot.drive():
            yield time, topic, message
            if topic == "/odom":
                yield time + 0.001, "/odom_2", robot.odometry(time + 100.0)

    source, scans = read(write(tmp_path, "mcap", drive))
    np.testing.assert_allclose(scans[3].pose.x, 0.3)
    assert source.notes == ["odometry is that of /odom; other topics left out: /odom_2"]


def test_of_two_lasers_on_one_topic_the_one_with_more_scans_is_read(tmp_path):
    def drive(robot):
        for time, topic, message in robot.drive():
            yield time, topic, message
            if topic == "/scan" and time > 0.25:
                behind = robot.scan(time, ranges=np.float32([9] * 5))
                behind.header.frame_id = "laser_behind"
                yield time, "/scan", behind

    source, scans = read(write(tmp_path, "mcap", drive))
    assert len(scans) == 6
    assert all(np.nanmax(scan.ranges) < 9 for scan in scans)
    assert source.notes == ["3 scans on /scan are of another laser, 'laser_behind', and were left out"]


@pytest.mark.parametrize("whole", [True, False])
def test_a_bag_compressed_as_a_whole_gets_a_hint(tmp_path, whole):
    path = write(tmp_path, "sqlite")
    packed = path.with_name(path.name + ".zstd")
    packed.write_bytes(zstd().compress(path.read_bytes()))
    path.unlink()
    with pytest.raises(SandlotError, match=r"compressed as a whole; unpack it first: zstd -d \S+\.db3\.zstd"):
        import_log(packed.parent if whole else packed, tmp_path / "out")


@pytest.mark.parametrize("kind", ["ros1", "ros1 lz4", "mcap", "mcap zstd"])
def test_of_a_bag_that_is_cut_off_all_before_is_read(tmp_path, kind):
    path = write(tmp_path, kind, lambda robot: robot.drive(scans=200))
    data = path.read_bytes()
    many = []
    for share in (0.3, 0.4, 0.5):
        path.write_bytes(data[: int(share * len(data))])
        scans = read_bag(Source(path))
        many.append(0)
        with pytest.raises(DamagedError, match="cut off"):  # noqa: PT012
            while next(scans):
                many[-1] += 1
    assert many == sorted(many)
    assert many[-1] > 50


@pytest.mark.parametrize(("method", "pack"), [("zstd", zstd().compress), ("", bytes)])
def test_a_chunk_with_a_wrong_size_or_checksum(tmp_path, method, pack):
    """A chunk that unpacks to more than fits into memory, and one with a wrong checksum."""
    head = b"\x89MCAP0\r\n" + b"\x01" + struct.pack("<QII", 8, 0, 0)

    def chunk(packed, size, checksum=0):
        content = struct.pack("<QQQII", 0, 0, size, checksum, len(method)) + method.encode()
        content += struct.pack("<Q", len(packed)) + packed
        return head + b"\x06" + struct.pack("<Q", len(content)) + content

    zeros = pack(bytes(2**27 if method else 2**16))
    for size in (2**27, 2**40, 2**20):
        assert survive(read_bag, tmp_path / "a.mcap", chunk(zeros, size)) == []
    (tmp_path / "a.mcap").write_bytes(chunk(pack(b"abc"), 3, zlib.crc32(b"abd")))
    with pytest.raises(DamagedError, match="checksum"):
        read(tmp_path / "a.mcap")


def test_a_ros1_chunk_with_a_wrong_size(tmp_path):
    def field(name, value):
        return struct.pack("<I", len(name) + 1 + len(value)) + name + b"=" + value

    packed = bz2.compress(bytes(2**25), 1)
    for size in (2**32 - 1, 2**27, 2**20):
        header = field(b"op", b"\x05") + field(b"compression", b"bz2") + field(b"size", struct.pack("<I", size))
        data = b"#ROSBAG V2.0\n" + struct.pack("<I", len(header)) + header + struct.pack("<I", len(packed)) + packed
        assert survive(read_bag, tmp_path / "a.bag", data) == []


def test_another_database(tmp_path):
    import sqlite3

    with sqlite3.connect(tmp_path / "a.db3") as database:
        database.execute("CREATE TABLE topics (id INTEGER)")
        database.execute("CREATE VIEW messages AS SELECT * FROM topics")
    database.close()
    with pytest.raises(DamagedError, match="not a ROS 2 bag"):
        read(tmp_path / "a.db3")


@cache
def sound(kind):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        return write(Path(folder), kind, lambda robot: robot.drive(scans=4)).read_bytes()


@settings(max_examples=250)
@given(data=st.sampled_from(("ros1", "ros1 bz2", "ros1 lz4")).flatmap(lambda kind: damaged(sound(kind))))
def test_damaged_ros1(tmp_path_factory, data):
    survive(read_bag, tmp_path_factory.getbasetemp() / "a.bag", data)


@settings(max_examples=250)
@given(data=st.sampled_from(("mcap", "mcap zstd", "mcap messages")).flatmap(lambda kind: damaged(sound(kind))))
def test_damaged_mcap(tmp_path_factory, data):
    survive(read_bag, tmp_path_factory.getbasetemp() / "a.mcap", data)


@settings(max_examples=200)
@given(data=st.sampled_from(("sqlite", "sqlite messages")).flatmap(lambda kind: damaged(sound(kind))))
def test_damaged_sqlite(tmp_path_factory, data):
    survive(read_bag, tmp_path_factory.getbasetemp() / "a.db3", data)


def test_an_error_of_sqlite_may_quote_bytes_that_are_not_text(tmp_path):
    """Its message about a damaged schema quotes the damage."""
    data = sound("sqlite").replace(b"CREATE TABLE topics", b"CREATE TABLE t\xe4pics")
    assert survive(read_bag, tmp_path / "a.db3", data) == []
    assert survive(read_bag, tmp_path / "a.db3", sound("sqlite").replace(b"CREATE TABLE", b"CREATE T\xe4BLE")) == []
