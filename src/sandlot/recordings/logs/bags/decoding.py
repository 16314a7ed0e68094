"""Decodes ROS messages by the definitions of ROS itself; those inside a bag are not used."""

from functools import cache
from typing import TYPE_CHECKING, Any

from sandlot.extras import need
from sandlot.recordings.logs.bags.compression import ZSTD, unpack
from sandlot.recordings.logs.bags.messages import MAX_BYTES, Message

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

TYPES = {
    "LaserScan": "sensor_msgs/msg/LaserScan",
    "Odometry": "nav_msgs/msg/Odometry",
    "Imu": "sensor_msgs/msg/Imu",
    "TFMessage": "tf2_msgs/msg/TFMessage",
    "tfMessage": "tf2_msgs/msg/TFMessage",
}


@cache
def typestore(encoding: str) -> "Typestore":
    """The message types of ROS 2 (``cdr``) or ROS 1."""
    need("rosbags", "logs")
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    if encoding == "cdr":
        return get_typestore(Stores.ROS2_HUMBLE)
    store = get_typestore(Stores.ROS1_NOETIC)
    store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", TYPES["TFMessage"]))
    return store


def decode(message: Message) -> Any:
    """The content of a message.

    Raises:
        ValueError: The message is damaged.
    """
    if message.encoding not in ("cdr", "ros1"):
        raise ValueError(f"its encoding is {message.encoding[:20]!r}; known: cdr, ros1")
    data = message.data
    if data.startswith(ZSTD):
        data = unpack("zstd", data, MAX_BYTES)
    store = typestore(message.encoding)
    try:
        if message.encoding == "cdr":
            return store.deserialize_cdr(data, TYPES[message.kind])
        return store.deserialize_ros1(data, TYPES[message.kind])
    except Exception as error:  # rosbags raises nearly every kind
        raise ValueError(f"{type(error).__name__}: {error}") from error


def measured_at(header: Any, message: Message) -> int:
    """Time stamp in the header of a message [ns]; if it is zero, the time at which the message was logged."""
    return int(header.stamp.sec) * 10**9 + int(header.stamp.nanosec) or message.time


def frame_name(frame: str) -> str:
    """A frame's name without the leading slash of old ROS versions."""
    return frame.lstrip("/")
