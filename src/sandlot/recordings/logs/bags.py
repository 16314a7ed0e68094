"""Bags of ROS: laser scans, and where odometry and tf say the robot was, put together by their times."""

import math
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.recordings.logs.mcap import MAGIC as MCAP_MAGIC
from sandlot.recordings.logs.mcap import read_mcap
from sandlot.recordings.logs.messages import MOST_BYTES, WANTED, ZSTD, Message, unpack
from sandlot.recordings.logs.odometry import Moment, Odometry
from sandlot.recordings.logs.rosbag1 import MAGIC as ROSBAG1_MAGIC
from sandlot.recordings.logs.rosbag1 import read_rosbag1
from sandlot.recordings.logs.scans import MOST_ANGLE, MOST_BEAMS, Pose, Scan, no_returns, placed
from sandlot.recordings.logs.source import DamagedError, Source
from sandlot.recordings.logs.sqlite import MAGIC as SQLITE_MAGIC
from sandlot.recordings.logs.sqlite import read_sqlite
from sandlot.recordings.logs.transforms import Frames, directions, flat, matrix

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

WAITING = 100
"""Most scans that wait for odometry that is newer than they are."""

READERS = {MCAP_MAGIC: read_mcap, SQLITE_MAGIC: read_sqlite, ROSBAG1_MAGIC: read_rosbag1}
BASES = ("base_footprint", "base_link")
TYPES = {
    "LaserScan": "sensor_msgs/msg/LaserScan",
    "Odometry": "nav_msgs/msg/Odometry",
    "TFMessage": "tf2_msgs/msg/TFMessage",
    "tfMessage": "tf2_msgs/msg/TFMessage",
}


class _Laser(NamedTuple):
    """A scan that waits: when [ns], its frame, angles [rad] and ranges [m]."""

    time: int
    frame: str
    angles: NDArray[np.float64]
    ranges: NDArray[np.float32]


def read_bag(source: Source) -> Iterator[Scan]:
    """Read the scans of a bag of ROS 1 or ROS 2, in a file or a directory.

    Poses by odometry are those of the first topic of Odometry, else those of ``odom`` in tf, interpolated between the
    messages before and after a scan. Where tf also has ``map``, the best known pose is on it. The laser's place comes
    from tf. Times count from the first scan.

    Yields:
        One scan for each LaserScan message of ``source.topic``, or else of the first such topic.

    Raises:
        DamagedError: The bag cannot be read any further.
        SandlotError: The topic is not there.
    """
    reader = _Reader(source)
    try:
        for message in _messages(source):
            if message.kind in WANTED:
                yield from reader.take(message)
    except DamagedError:
        yield from reader.rest()
        raise
    yield from reader.rest()
    reader.finish()


def _messages(source: Source) -> Iterator[Message]:
    if not source.path.is_dir():
        yield from _reader(source)(source)
        return
    done = 0
    for file in bag_files(source.path):
        part = Source(file)
        for message in _reader(part)(part):
            source.position = done + part.position
            yield message
        done += part.size


def bag_files(directory: Path) -> list[Path]:
    """The files of a bag in a directory, in the order they were written."""

    def order(file: Path) -> tuple[int, str]:
        number = file.stem.rpartition("_")[2]
        return int(number) if number.isdecimal() and len(number) < 10 else 0, file.name

    return sorted((file for file in directory.iterdir() if file.suffix in (".mcap", ".db3")), key=order)


def _reader(source: Source) -> Callable[[Source], Iterator[Message]]:
    """By how the file begins; if that is damaged, by what it was said to be, or is called."""
    head = source.head(16)
    for magic, reader in READERS.items():
        if head.startswith(magic):
            return reader
    said = (source.settings.get("format"), source.path.suffix)
    if "mcap" in said or ".mcap" in said:
        return read_mcap
    return read_sqlite if "ros2" in said or ".db3" in said else read_rosbag1


class _Reader:
    """Puts messages together to scans."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.topic = source.topic
        self.others: set[str] = set()
        self.odometry_topic: str | None = None
        self.base: str | None = None
        self.odometry = Odometry(2 * WAITING)
        self.waiting: deque[_Laser] = deque()
        self.frames = Frames()
        self.drift: Pose | None = None  # of odometry on the map
        self.start: int | None = None
        self.first: _Laser
        self.bearings: NDArray[np.float64]
        self.refitted = 0

    def take(self, message: Message) -> Iterator[Scan]:
        """Use a message; gives the scans that need not wait any longer."""
        if message.encoding not in ("cdr", "ros1"):
            raise DamagedError(
                f"{self.source.path}: {message.topic} is encoded as {message.encoding[:20]!r}; known: cdr, ros1"
            )
        try:
            content = _decode(message)
            if message.kind == "LaserScan":
                self._take_scan(message, content)
            elif message.kind == "Odometry":
                self._take_odometry(message, content)
            else:
                self._take_transforms(message, content)
        except Exception as error:  # rosbags raises nearly every kind
            reason = f"a {message.kind} of {message.topic[:60]} cannot be read ({type(error).__name__}: {error})"
            raise DamagedError(f"{self.source.path} is damaged: {reason}") from error
        while self.waiting and (self.odometry.covers(self.waiting[0].time) or len(self.waiting) > WAITING):
            yield self._scan(self.waiting.popleft())

    def rest(self) -> Iterator[Scan]:
        """The scans that wait for odometry that never came."""
        while self.waiting:
            yield self._scan(self.waiting.popleft())
        for note in self.odometry.notes():
            self.source.note(note)

    def finish(self) -> None:
        """Say what was left out."""
        if self.source.topic and self.start is None:
            known = ", ".join(sorted(self.others)) or "none"
            raise SandlotError(f"{self.source.path} has no scans on {self.source.topic}; topics of scans: {known}")
        if self.others:
            self.source.note(f"scans of other topics left out: {', '.join(sorted(self.others)[:5])}; choose by --topic")
        if self.refitted:
            self.source.note(f"{self.refitted:,} scans had other beams than the first; each range went to the nearest")

    def _take_scan(self, message: Message, content: Any) -> None:
        if self.topic is None:
            self.topic = message.topic
            self.source.settings["topic"] = message.topic
        if message.topic != self.topic:
            if len(self.others) < 100:
                self.others.add(message.topic)
            return
        beams = len(content.ranges)
        if not 0 < beams <= MOST_BEAMS:
            raise ValueError(f"{beams:,} beams; 1 to {MOST_BEAMS:,} are possible")
        first, step = float(content.angle_min), float(content.angle_increment)
        if not (abs(first) <= MOST_ANGLE and abs(step) <= MOST_ANGLE):
            raise ValueError("its angles are not possible")
        nearest, farthest = float(content.range_min), float(content.range_max)
        if not nearest < farthest:
            nearest, farthest = 0.0, math.inf
        with np.errstate(invalid="ignore"):
            seen = np.asarray(content.ranges, np.float64)
        ranges = no_returns(seen, max(0.0, float(np.nextafter(nearest, -1.0))), farthest)
        angles = first + step * np.arange(beams, dtype=np.float64)
        self.waiting.append(_Laser(_stamp(content.header, message), _name(content.header.frame_id), angles, ranges))

    def _take_odometry(self, message: Message, content: Any) -> None:
        if self.odometry_topic is None:
            self.odometry_topic = message.topic
            self.odometry.clear()  # what tf said before
        if message.topic == self.odometry_topic:
            pose = flat(matrix(content.pose.pose.position, content.pose.pose.orientation))
            speed, turn = float(content.twist.twist.linear.x), float(content.twist.twist.angular.z)
            self.base = _name(content.child_frame_id) or None
            self.odometry.put(Moment(_stamp(content.header, message), pose, speed, turn))

    def _take_transforms(self, message: Message, content: Any) -> None:
        for each in content.transforms:
            parent, child = _name(each.header.frame_id), _name(each.child_frame_id)
            transform = matrix(each.transform.translation, each.transform.rotation)
            if parent == "map" and child == "odom":
                if self.start is not None and self.drift is None:
                    self.source.note("the first scans come before the first pose in the map; theirs are of odometry")
                self.drift = flat(transform)
            elif parent == "odom" and child in BASES and self.odometry_topic is None:
                self.base = child
                self.odometry.put(Moment(_stamp(each.header, message), flat(transform)))
            else:
                self.frames.put(parent, child, transform)

    def _scan(self, laser: _Laser) -> Scan:
        if self.start is None:
            self._begin(laser)
        odometry = self.odometry.at(laser.time)
        pose = placed(odometry.pose, self.drift) if self.drift else odometry.pose
        time = (laser.time - (self.start or 0)) / 1e9
        return Scan(time, self._fit(laser), self.bearings, pose, odometry.pose, odometry.speed, odometry.turn)

    def _begin(self, laser: _Laser) -> None:
        """The first scan settles when time begins, and where the laser is."""
        self.start, self.first = laser.time, laser
        mount = self.frames.seen_from(self.base or "base_link", laser.frame)
        if mount is None:
            self.source.note("the bag does not say where the laser is; it is taken to be in the robot's middle")
            mount = np.eye(4)
        self.bearings = directions(mount, laser.angles)
        self.source.settings["start"] = laser.time / 1e9
        self.source.settings["laser_position"] = [float(mount[0, 3]), float(mount[1, 3])]
        if not self.odometry:
            self.source.note("the first scans have no odometry; their poses are NaN")

    def _fit(self, laser: _Laser) -> NDArray[np.float32]:
        """The ranges at the beams of the first scan; some lasers have a few more or fewer every turn."""
        wanted, given = self.first.angles, laser.angles
        step = wanted[1] - wanted[0] if len(wanted) > 1 else 1.0
        if len(wanted) == len(given) and abs(wanted - given).max() <= abs(step) / 2:
            return laser.ranges
        self.refitted += 1
        fitted = np.full(len(wanted), np.nan, np.float32)
        with np.errstate(all="ignore"):
            places = np.round((given - wanted[0]) / step)
        inside = (places >= 0) & (places < len(wanted)) & np.isfinite(laser.ranges)
        fitted[places[inside].astype(int)] = laser.ranges[inside]
        return fitted


def _stamp(header: Any, message: Message) -> int:
    """When it was measured [ns]; when it was logged, if nobody says."""
    return int(header.stamp.sec) * 10**9 + int(header.stamp.nanosec) or message.time


def _name(frame: str) -> str:
    return frame.lstrip("/")


@cache
def types(encoding: str) -> "Typestore":
    """The message types, as ROS defines them; what a bag says about its own is not believed."""
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    if encoding == "cdr":
        return get_typestore(Stores.ROS2_HUMBLE)
    store = get_typestore(Stores.ROS1_NOETIC)
    store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", TYPES["TFMessage"]))
    return store


def _decode(message: Message) -> Any:
    data = message.data
    if data.startswith(ZSTD):
        data = unpack("zstd", data, MOST_BYTES)
    store = types(message.encoding)
    decode = store.deserialize_cdr if message.encoding == "cdr" else store.deserialize_ros1
    return decode(data, TYPES[message.kind])
