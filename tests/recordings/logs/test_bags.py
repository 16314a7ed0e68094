"""Bags of ROS 1, ROS 2 and MCAP: scans with the poses of their moments, and any damage taken well."""

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
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as Writer2

from fuzzing import damaged, survive
from sandlot.errors import SandlotError
from sandlot.recordings.logs.bags import TYPES, read_bag, types
from sandlot.recordings.logs.messages import zstd
from sandlot.recordings.logs.source import DamagedError, Source

START = 1_700_000_000
ALL = ("/scan", "/odom", "/tf", "/tf_static")


class Robot:
    """Messages of a robot that drives along x at 1 m/s and turns left at 0.5 rad/s; odometry comes 10 ms late."""

    def __init__(self, store, ros1=False):
        self.store, self.ros1 = store, ros1

    def make(self, name, **fields):
        return self.store.types[name](**fields)

    def header(self, time, frame):
        nanoseconds = round(time * 1e9)
        stamp = self.make("builtin_interfaces/msg/Time", sec=START + nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
        more = {"seq": 0} if self.ros1 else {}
        return self.make("std_msgs/msg/Header", stamp=stamp, frame_id=frame, **more)

    def vector(self, x=0.0, y=0.0, z=0.0, name="Vector3"):
        return self.make(f"geometry_msgs/msg/{name}", x=float(x), y=float(y), z=float(z))

    def turned(self, yaw, roll=0.0):
        """First about x by ``roll``, then about z by ``yaw``."""
        (sr, cr), (sy, cy) = ((math.sin(a / 2), math.cos(a / 2)) for a in (roll, yaw))
        return self.make("geometry_msgs/msg/Quaternion", x=sr * cy, y=sr * sy, z=cr * sy, w=cr * cy)

    def scan(self, time, beams=5, first=-1.0, **changes):
        ranges = np.float32([1.5, np.inf, 0.01, 30.0, 2.0, *[3.0] * 100])[:beams]
        fields = {"angle_min": first, "angle_max": 1.0, "angle_increment": 0.5, "time_increment": 0.0, "scan_time": 0.1}
        fields |= {"range_min": 0.1, "range_max": 25.0, "ranges": ranges, "intensities": np.zeros(0, np.float32)}
        return self.make("sensor_msgs/msg/LaserScan", header=self.header(time, "laser"), **(fields | changes))

    def odometry(self, time):
        position, orientation = self.vector(time, 0.0, name="Point"), self.turned(0.5 * time)
        pose = self.make("geometry_msgs/msg/Pose", position=position, orientation=orientation)
        twist = self.make("geometry_msgs/msg/Twist", linear=self.vector(1.0), angular=self.vector(z=0.5))
        none = np.zeros(36)
        return self.make(
            "nav_msgs/msg/Odometry",
            header=self.header(time, "odom"),
            child_frame_id="base_link",
            pose=self.make("geometry_msgs/msg/PoseWithCovariance", pose=pose, covariance=none),
            twist=self.make("geometry_msgs/msg/TwistWithCovariance", twist=twist, covariance=none),
        )

    def transform(self, time, parent, child, x=0.0, y=0.0, yaw=0.0, roll=0.0):
        transform = self.make(
            "geometry_msgs/msg/Transform", translation=self.vector(x, y), rotation=self.turned(yaw, roll)
        )
        stamped = self.make(
            "geometry_msgs/msg/TransformStamped",
            header=self.header(time, parent),
            child_frame_id=child,
            transform=transform,
        )
        return self.make(TYPES["TFMessage"], transforms=[stamped])

    def drive(self, topics=ALL, scans=6, mount=(0.2, 0.1, 0.3, 0.0)):
        """Time, topic and message, in the order a robot would log them."""
        if "/tf_static" in topics:
            yield 0.0, "/tf_static", self.transform(0.0, "base_link", "laser", *mount)
        for number in range(scans):
            time = 0.1 * number
            if "/odom" in topics:
                yield time - 0.04, "/odom", self.odometry(time - 0.05)
            if "/tf" in topics:
                yield (
                    time - 0.04,
                    "/tf",
                    self.transform(time - 0.05, "odom", "base_link", time - 0.05, yaw=0.5 * (time - 0.05)),
                )
            if "/scan" in topics:
                yield time, "/scan", self.scan(time)


KINDS = {
    "/scan": "LaserScan",
    "/scan_2": "LaserScan",
    "/odom": "Odometry",
    "/tf": "TFMessage",
    "/tf_static": "TFMessage",
}


def write_ros1(path, drive, compression=None):
    store = types("ros1")
    writer = Writer1(path)
    if compression:
        writer.set_compression(compression)
    with writer as bag:
        fill(bag, drive(Robot(store, ros1=True)), store, store.serialize_ros1)


def write_ros2(folder, drive, plugin=StoragePlugin.MCAP, compress=None):
    store = types("cdr")
    writer = Writer2(folder, version=9, storage_plugin=plugin)
    if compress:
        writer.set_compression(compress, CompressionFormat.ZSTD)
    with writer as bag:
        fill(bag, drive(Robot(store)), store, store.serialize_cdr)


def fill(bag, messages, store, serialize):
    connections = {}
    for time, topic, message in messages:
        name = TYPES[KINDS[topic]]
        if topic not in connections:
            connections[topic] = bag.add_connection(topic, name, typestore=store)
        bag.write(connections[topic], START * 10**9 + round(time * 1e9), serialize(message, name))


def write(tmp_path, kind, drive=Robot.drive):
    """A bag of a kind, as a file."""
    if kind.startswith("ros1"):
        methods = {"bz2": Writer1.CompressionFormat.BZ2, "lz4": Writer1.CompressionFormat.LZ4}
        write_ros1(tmp_path / "a.bag", drive, methods.get(kind[5:]))
        return tmp_path / "a.bag"
    plugin = StoragePlugin.SQLITE3 if "sqlite" in kind else StoragePlugin.MCAP
    modes = {"zstd": CompressionMode.STORAGE, "messages": CompressionMode.MESSAGE}
    write_ros2(tmp_path / "bag", drive, plugin, modes.get(kind.rpartition(" ")[2]))
    return next(file for file in (tmp_path / "bag").iterdir() if file.suffix in (".db3", ".mcap"))


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
        np.testing.assert_allclose((scan.speed, scan.turn), (1.0, 0.5))


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
    """For so long that scans no longer wait for it, too."""
    pause = (1.5, 1.5 + 0.1 * guessed)
    source, found = read(write(tmp_path, "mcap", lambda robot: stops(robot, pause, scans)))
    assert len(found) == scans
    (note,) = (note for note in source.notes if "odometry" in note)
    length, many = re.fullmatch(r"odometry pauses for up to ([\d.]+) s; the poses of (\d+) scans .*", note).groups()
    assert float(length) == pytest.approx(0.1 * guessed + 0.1, abs=0.11)
    # Of those that no longer wait, the ones in the first second are not counted.
    assert guessed - 10 <= int(many) <= guessed + 1


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


def test_beams_that_vary_go_to_the_nearest(tmp_path):
    def drive(robot):
        yield 0.0, "/scan", robot.scan(0.0, beams=4)
        yield 0.1, "/scan", robot.scan(0.1, beams=5)
        yield 0.2, "/scan", robot.scan(0.2, beams=5, first=-1.5)

    source, scans = read(write(tmp_path, "mcap", drive))
    assert [len(scan.ranges) for scan in scans] == [4, 4, 4]
    np.testing.assert_array_equal(scans[1].ranges, scans[0].ranges)
    np.testing.assert_array_equal(scans[2].ranges, np.float32([np.nan, np.nan, np.nan, 2.0]))
    assert any(note.startswith("2 scans had other beams") for note in source.notes)


@pytest.mark.parametrize(
    "changes", [{"angle_min": math.nan}, {"angle_increment": 1e9}, {"ranges": np.zeros(0, np.float32)}]
)
def test_an_impossible_scan(tmp_path, changes):
    with pytest.raises(DamagedError, match="a LaserScan of /scan cannot be read"):
        read(write(tmp_path, "mcap", lambda robot: [(0.0, "/scan", robot.scan(0.0, **changes))]))


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


@pytest.mark.parametrize(("method", "pack"), [("zstd", zstd.compress), ("", bytes)])
def test_a_chunk_that_is_not_what_it_says(tmp_path, method, pack):
    """As many zeros as memory would not hold, and a wrong checksum."""
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


def test_a_ros1_chunk_that_is_not_what_it_says(tmp_path):
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
    with pytest.raises(DamagedError, match="no bag of ROS 2"):
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


def test_sqlite_may_say_what_is_no_text(tmp_path):
    """Its message about a damaged schema quotes the damage."""
    data = sound("sqlite").replace(b"CREATE TABLE topics", b"CREATE TABLE t\xe4pics")
    assert survive(read_bag, tmp_path / "a.db3", data) == []
    assert survive(read_bag, tmp_path / "a.db3", sound("sqlite").replace(b"CREATE TABLE", b"CREATE T\xe4BLE")) == []
