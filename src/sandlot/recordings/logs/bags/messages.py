"""Messages of a bag, and the bytes they are read from.

Containers (`rosbag1`, `rosbag2`, `mcap`) are read from front to back without the index at their end, so that the bag
of a robot that lost power can be read as far as it goes. A length in the file is used only if so many bytes follow.
"""

from typing import BinaryIO, NamedTuple

from sandlot.recordings.logs.source import DamagedError, Source

MAX_BYTES = 2**26
"""Largest chunk or message, unpacked, unless the file is larger still [bytes]."""
WANTED = {"LaserScan", "Odometry", "Imu", "TFMessage", "tfMessage"}
"""Message types that scans are made from."""


class Message(NamedTuple):
    """One message of a bag.

    Attributes:
        topic: It was published on.
        kind: Its type, without its package.
        encoding: Of the data, ``cdr`` (ROS 2) or ``ros1``.
        time: When it was logged [ns].
        data: Its bytes.
    """

    topic: str
    kind: str
    encoding: str
    time: int
    data: bytes


def kind(name: str) -> str:
    """A type without its package: ``LaserScan`` for ``sensor_msgs/msg/LaserScan``."""
    return name.rpartition("/")[2]


class ByteReader:
    """Reads a container from front to back.

    Args:
        source: The log.
        file: Its bytes.
        size: Number of bytes.
    """

    def __init__(self, source: Source, file: BinaryIO, size: int) -> None:
        self.source, self.file, self.size = source, file, size
        self.max_bytes = max(MAX_BYTES, size)
        self._unpacked = 0

    @property
    def left(self) -> int:
        """Bytes that have not been read."""
        return self.size - self.file.tell()

    def read(self, length: int) -> bytes:
        """Read so many bytes.

        Raises:
            DamagedError: There are fewer, or the length is more than fits into memory.
        """
        if length > self.left or length > self.max_bytes:
            raise self.damaged(f"a part of {length:,} bytes does not fit in what is left")
        return self.file.read(length)

    def read_up_to(self, length: int) -> bytes:
        """Read so many bytes, or as many as there are."""
        return self.file.read(max(0, min(length, self.left, self.max_bytes)))

    def skip(self, length: int) -> None:
        """Pass over so many bytes."""
        if length > self.left:
            raise self.damaged(f"a part of {length:,} bytes does not fit in what is left")
        self.file.seek(length, 1)

    def count_unpacked(self, length: int) -> None:
        """Count unpacked bytes; refuse a small file that unpacks without end.

        Raises:
            DamagedError: They are more than a hundred times the file.
        """
        self._unpacked += length
        if self._unpacked > 2 * MAX_BYTES + 100 * self.size:
            raise self.damaged(f"its chunks unpack to more than {self._unpacked:,} bytes")

    def damaged(self, reason: str) -> DamagedError:
        """The error to raise about what was read last; it names the last byte before the damage."""
        return DamagedError(f"{self.source.path} is damaged or cut off after byte {self.source.position:,}: {reason}")
