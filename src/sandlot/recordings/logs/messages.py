"""What bags are made of, whoever wrote them: messages with a topic, a type and bytes.

Containers (`rosbag1`, `mcap`, `sqlite`) are read from front to
back, without the index at their end: so a bag of a robot that lost power can be read as far as it goes, and no count in
it is believed before there are as many bytes.
"""

import bz2
import sys
from typing import Any, BinaryIO, NamedTuple

from lz4.frame import LZ4FrameDecompressor

from sandlot.recordings.logs.source import DamagedError, Source

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST_BYTES = 2**26
"""Of a chunk, uncompressed, unless the file is larger still."""

ZSTD = b"\x28\xb5\x2f\xfd"
"""How compressed data begins, and no message does."""

WANTED = {"LaserScan", "Odometry", "TFMessage", "tfMessage"}
"""Types that scans are made of."""


class Message(NamedTuple):
    """One message of a bag.

    Attributes:
        topic: Where it was sent to.
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


class Bytes:
    """Reads a container from front to back.

    Args:
        source: The log.
        file: Its bytes.
        size: How many there are.
    """

    def __init__(self, source: Source, file: BinaryIO, size: int) -> None:
        self.source, self.file, self.size = source, file, size
        self.most = max(MOST_BYTES, size)

    @property
    def left(self) -> int:
        """Bytes that have not been read."""
        return self.size - self.file.tell()

    def read(self, length: int) -> bytes:
        """So many bytes.

        Raises:
            DamagedError: There are fewer, or more than fit into memory are asked for.
        """
        if length > self.left or length > self.most:
            raise self.damaged(f"a part of {length:,} bytes does not fit in what is left")
        return self.file.read(length)

    def rest(self, length: int) -> bytes:
        """So many bytes, or as many as there are."""
        return self.file.read(max(0, min(length, self.left, self.most)))

    def skip(self, length: int) -> None:
        """Pass over so many bytes."""
        if length > self.left:
            raise self.damaged(f"a part of {length:,} bytes does not fit in what is left")
        self.file.seek(length, 1)

    def damaged(self, reason: str) -> DamagedError:
        """What to raise about what was read last; the byte is the last place where all was well."""
        return DamagedError(f"{self.source.path} is damaged or cut off after byte {self.source.position:,}: {reason}")


def unpack(method: str, data: bytes, most: int) -> bytes:
    """Undo a compression, but never give more than ``most`` bytes; of data that is cut off, as much as there is.

    Raises:
        ValueError: The method is not known, or the data is damaged from the start.
    """
    if method in ("", "none"):
        return data[:most]
    makers: dict[str, Any] = {"bz2": bz2.BZ2Decompressor, "lz4": LZ4FrameDecompressor, "zstd": zstd.ZstdDecompressor}
    if method not in makers:
        raise ValueError(f"its compression {method[:20]!r} is not known; known: bz2, lz4, zstd")
    try:
        return bytes(makers[method]().decompress(data, max_length=most))
    except (RuntimeError, OSError, EOFError, zstd.ZstdError) as error:
        raise ValueError(f"{method} fails: {error}") from error
