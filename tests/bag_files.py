"""Writes bags of ROS 1, ROS 2 and MCAP of a simple drive, for tests of their reader."""

import math

import numpy as np
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as Writer2

from sandlot.recordings.logs.bags.decoding import TYPES, typestore

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

    def inertial(self, time, oriented=True, roll=0.0, **changes):
        """Turning left at 0.5 rad/s; ``roll`` is pi for a unit that is mounted upside down."""
        none = np.zeros(9)
        fields = {
            "orientation": self.turned(0.5 * time, roll),
            "orientation_covariance": none if oriented else np.array([-1.0, *none[1:]]),
            "angular_velocity": self.vector(z=0.5 * math.cos(roll)),
            "angular_velocity_covariance": none,
            "linear_acceleration": self.vector(z=9.81),
            "linear_acceleration_covariance": none,
        }
        return self.make("sensor_msgs/msg/Imu", header=self.header(time, "imu_link"), **(fields | changes))

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
    "/odom_2": "Odometry",
    "/imu": "Imu",
    "/imu_2": "Imu",
    "/tf": "TFMessage",
    "/tf_static": "TFMessage",
}


def write_ros1(path, drive, compression=None):
    store = typestore("ros1")
    writer = Writer1(path)
    if compression:
        writer.set_compression(compression)
    with writer as bag:
        fill(bag, drive(Robot(store, ros1=True)), store, store.serialize_ros1)


def write_ros2(folder, drive, plugin=StoragePlugin.MCAP, compress=None):
    store = typestore("cdr")
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
