"""The first pass over a bag: poses by odometry and tf, and which laser, of which layout, made the scans.

Messages of a bag may be in any order, such as all odometry before all scans. This pass keeps every pose in bounded
memory; the second one (`reader`) can then place each scan, whatever the order.
"""

import math
from array import array
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import LogError, quote
from sandlot.recordings.logs.bags.decoding import decode, frame_name, measured_at
from sandlot.recordings.logs.bags.files import read_messages
from sandlot.recordings.logs.bags.inertial import InertialUnit
from sandlot.recordings.logs.bags.messages import WANTED, Message
from sandlot.recordings.logs.bags.trajectory import LAST_TIME, Moment, Trajectory
from sandlot.recordings.logs.bags.transforms import FrameTree, matrix, project
from sandlot.recordings.logs.source import DamagedError, Source
from sandlot.recordings.scans import MAX_ANGLE, MAX_BEAMS, no_returns
from sandlot.typing import Array

BASES = ("base_footprint", "base_link")
"""Frames of the robot in tf, the better one first."""
MAX_STREAMS = 100
"""Topics and frames of scans that are distinguished."""
MAX_ODOMETRY_TOPICS = 8
"""Also of inertial units."""
MAX_LAYOUTS = 1000
"""Layouts of beams that are distinguished; some lasers have a few more or fewer beams every turn."""
SKIPPED = {
    "LaserScan": "without beams, or with impossible angles or times",
    "Odometry": "whose pose is not finite, or whose quaternion is zero",
    "Imu": "whose orientation or turn rate is not finite",
    "TFMessage": "with a pose that is not finite, or a quaternion that is zero",
}


class Layout(NamedTuple):
    """Number of beams, angle of the first and angle between two [rad]."""

    beams: int
    first: float
    step: float

    @property
    def angles(self) -> Array:
        """(beams,) [rad]."""
        return self.first + self.step * np.arange(self.beams, dtype=np.float64)


class LaserScan(NamedTuple):
    """A scan as the laser measured it: when [ns], its frame, layout and ranges [m]."""

    time: int
    frame: str
    layout: Layout
    ranges: NDArray[np.float32]


class Stream:
    """The scans of one topic and frame: when each was logged [ns], in file order, and their layouts."""

    def __init__(self) -> None:
        self.logged = array("q")
        self.layouts: Counter[Layout] = Counter()

    def add(self, time: int, layout: Layout) -> None:
        """Count a scan."""
        self.logged.append(time)
        if layout in self.layouts or len(self.layouts) < MAX_LAYOUTS:
            self.layouts[layout] += 1

    @property
    def layout(self) -> Layout:
        """The most frequent layout; of equally frequent ones, that with the most beams."""
        return min(self.layouts, key=lambda each: (-self.layouts[each], -each.beams, each.first, each.step))


class Survey:
    """What the first pass found.

    Attributes:
        messages: Number of messages before the end or the damage.
        damage: Why reading ended early, if it did.
        topic: Of the scans.
        frame: Of the laser.
        stream: Its scans.
        odometry: Poses by odometry, by the time of measurement.
        inertial: The inertial unit, if there is one.
        corrections: Pose of ``odom`` on the ``map``, by the time of logging.
        mount: (4, 4) transform from laser to robot; None if the bag does not say.
    """

    def __init__(self, source: Source) -> None:
        """Go through all messages.

        Raises:
            LogError: The wanted topic has no scans.
        """
        self.messages = 0
        self.damage: DamagedError | None = None
        self.corrections = Trajectory()
        self._streams: dict[tuple[str, str], Stream] = {}
        self._odometry: dict[str, tuple[int, str, Trajectory]] = {}
        self._units: dict[str, InertialUnit] = {}
        self._tf_odometry = {base: Trajectory() for base in BASES}
        self._frames = FrameTree()
        self._skipped: Counter[str] = Counter()
        try:
            for message in read_messages(source):
                if message.kind in WANTED:
                    self._take(source, message)
                self.messages += 1
        except DamagedError as error:
            self.damage = error
        self.corrections.finish()
        self._choose_odometry(source)
        self._choose_laser(source)
        self.inertial = self._choose_inertial(source)
        for kind, number in sorted(self._skipped.items()):
            source.note(f"{number:,} {kind} messages skipped, {SKIPPED[kind]}")

    def _take(self, source: Source, message: Message) -> None:
        try:
            content = decode(message)
        except ValueError as error:
            reason = f"a {message.kind} of {message.topic[:60]} cannot be read ({quote(error)})"
            raise DamagedError(f"{source.path} is damaged: {reason}") from error
        try:
            if message.kind == "LaserScan":
                scan = read_scan(message, content)
                key = (message.topic, scan.frame)
                if key in self._streams or len(self._streams) < MAX_STREAMS:
                    self._streams.setdefault(key, Stream()).add(message.time, scan.layout)
            elif message.kind == "Odometry":
                self._take_odometry(message, content)
            elif message.kind == "Imu":
                if message.topic in self._units or len(self._units) < MAX_ODOMETRY_TOPICS:
                    unit = self._units.get(message.topic) or InertialUnit(message.time, content)
                    unit.take(message, content)
                    self._units[message.topic] = unit
            else:
                self._take_transforms(message, content)
        except ValueError:
            self._skipped["TFMessage" if message.kind == "tfMessage" else message.kind] += 1

    def _take_odometry(self, message: Message, content: Any) -> None:
        pose = project(matrix(content.pose.pose.position, content.pose.pose.orientation))
        speed, turn_rate = float(content.twist.twist.linear.x), float(content.twist.twist.angular.z)
        known = message.topic in self._odometry
        if not known and len(self._odometry) >= MAX_ODOMETRY_TOPICS:
            return
        first, base, trajectory = self._odometry.get(message.topic, (message.time, "", Trajectory()))
        moment = Moment(pose, _finite(speed), _finite(turn_rate))
        trajectory.put(measured_at(content.header, message), message.time, moment)
        base = base or frame_name(content.child_frame_id)
        self._odometry[message.topic] = (min(first, message.time), base, trajectory)

    def _take_transforms(self, message: Message, content: Any) -> None:
        wrong = None
        for each in content.transforms:
            parent, child = frame_name(each.header.frame_id), frame_name(each.child_frame_id)
            try:
                transform = matrix(each.transform.translation, each.transform.rotation)
                if (parent, child) == ("map", "odom"):
                    self.corrections.put(message.time, message.time, Moment(project(transform)))
                elif parent == "odom" and child in BASES:
                    time = measured_at(each.header, message)
                    self._tf_odometry[child].put(time, message.time, Moment(project(transform)))
                else:
                    self._frames.put(message.time, parent, child, transform)
            except ValueError as error:
                wrong = error
        if wrong:
            raise wrong

    def _choose_odometry(self, source: Source) -> None:
        topics = sorted(self._odometry, key=lambda topic: (self._odometry[topic][0], topic))
        if topics:
            _, base, self.odometry = self._odometry[topics[0]]
        else:
            base = max(reversed(BASES), key=lambda each: len(self._tf_odometry[each]))
            self.odometry = self._tf_odometry[base]
            base = base if len(self.odometry) else ""
        self._base = base or "base_link"
        self.odometry.finish()
        if len(topics) > 1:
            source.note(f"odometry is that of {topics[0]}; other topics left out: {', '.join(topics[1:])}")

    def _choose_inertial(self, source: Source) -> InertialUnit | None:
        topics = sorted(self._units, key=lambda topic: (self._units[topic].first, topic))
        if not topics:
            return None
        source.note(f"turns are also measured by the inertial unit on {topics[0]}")
        if len(topics) > 1:
            source.note(f"other inertial units left out: {', '.join(topics[1:])}")
        chosen = self._units[topics[0]]
        chosen.finish(self._frames, self._base)
        return chosen

    def _choose_laser(self, source: Source) -> None:
        topics = {topic for topic, _ in self._streams}
        if source.topic and source.topic not in topics and self.damage is None:
            known = ", ".join(sorted(topics)) or "none"
            raise LogError(f"{source.path} has no scans on {quote(source.topic)}; topics of scans: {known}")
        first = {topic: min(min(s.logged) for (t, _), s in self._streams.items() if t == topic) for topic in topics}
        self.topic = source.topic or min(topics, key=lambda topic: (first[topic], topic), default="")
        frames = {frame: stream for (topic, frame), stream in self._streams.items() if topic == self.topic}
        self.frame = min(frames, key=lambda frame: (-len(frames[frame].logged), frame), default="")
        self.stream = frames.get(self.frame, Stream())
        self.mount = self._frames.lookup(self._base, self.frame)
        others = sorted(topics - {self.topic})
        if others:
            source.note(f"scans of other topics left out: {', '.join(others[:5])}; choose by --topic")
        for frame in sorted(set(frames) - {self.frame}):
            number = len(frames[frame].logged)
            source.note(f"{number:,} scans on {self.topic} are of another laser, {quote(frame)!r}, and were left out")


def read_scan(message: Message, content: Any) -> LaserScan:
    """The scan in a LaserScan message.

    Raises:
        ValueError: It has no beams, or impossible angles or times.
    """
    layout = Layout(len(content.ranges), float(content.angle_min), float(content.angle_increment))
    time = measured_at(content.header, message)
    if not 0 < layout.beams <= MAX_BEAMS:
        raise ValueError(f"{layout.beams:,} beams; 1 to {MAX_BEAMS:,} are possible")
    if not (abs(layout.first) <= MAX_ANGLE and abs(layout.step) <= MAX_ANGLE):
        raise ValueError("impossible angles")
    if max(abs(time), message.time) > LAST_TIME:
        raise ValueError("impossible time")
    min_range, max_range = float(content.range_min), float(content.range_max)
    if not min_range < max_range:
        min_range, max_range = 0.0, math.inf
    with np.errstate(invalid="ignore"):
        measured = np.asarray(content.ranges, np.float64)
    # A range equal to the minimum is valid.
    ranges = no_returns(measured, max(0.0, float(np.nextafter(min_range, -1.0))), max_range)
    return LaserScan(time, frame_name(content.header.frame_id), layout, ranges)


def _finite(value: float) -> float:
    return value if math.isfinite(value) else math.nan
