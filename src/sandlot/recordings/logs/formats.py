"""All log formats in one table.

To read another format, write a file with a function that yields its scans and one that recognizes the first bytes, and
add a line to `FORMATS`.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sandlot.errors import LogError
from sandlot.recordings.logs.bags import mcap, rosbag1, rosbag2
from sandlot.recordings.logs.bags.compression import ZSTD
from sandlot.recordings.logs.bags.files import bag_files, check_compressed
from sandlot.recordings.logs.bags.reader import read_bag
from sandlot.recordings.logs.carmen import is_carmen, read_carmen
from sandlot.recordings.logs.csv_tables import is_csv, read_csv
from sandlot.recordings.logs.posegraph import is_posegraph, read_posegraph
from sandlot.recordings.logs.rover5 import WORDS, is_rover5, read_rover5
from sandlot.recordings.logs.source import Source
from sandlot.recordings.scans import Scan


class Format(NamedTuple):
    """A log format.

    Attributes:
        read: Yields the scans of a log.
        recognize: Whether a log that begins with these bytes is of the format; bags are tried first.
        scans: What holds a scan, in words.
        binary: Whether it is a bag, which must not be inside gzip.
    """

    read: Callable[[Source], Iterator[Scan]]
    recognize: Callable[[bytes], bool]
    scans: str
    binary: bool = False


LASER_SCANS = "messages of sensor_msgs/LaserScan"
FORMATS: dict[str, Format] = {
    "ros1": Format(read_bag, lambda head: head.startswith(rosbag1.MAGIC), LASER_SCANS, binary=True),
    "ros2": Format(read_bag, lambda head: head.startswith(rosbag2.MAGIC), LASER_SCANS, binary=True),
    "mcap": Format(read_bag, lambda head: head.startswith(mcap.MAGIC), LASER_SCANS, binary=True),
    "posegraph": Format(read_posegraph, is_posegraph, "lines of ROBOTLASER1"),
    "carmen": Format(read_carmen, is_carmen, "lines of FLASER or ROBOTLASER1"),
    "csv": Format(read_csv, is_csv, "rows"),
    "rover5": Format(read_rover5, is_rover5, f"lines of {WORDS} whole numbers"),
}
"""By name; the first that recognizes a log reads it."""


def guess_format(source: Source) -> str:
    """The format of a log, by its content.

    Raises:
        LogError: No known format.
    """
    if source.path.is_dir():
        with source.explained():
            if bag_files(source.path):
                return "ros2"
            check_compressed(source.path)
        raise LogError(f"{source.path} is a directory without a ROS 2 bag, a .db3 or .mcap file")
    head = source.head()
    for name, form in FORMATS.items():
        if form.recognize(head):
            if form.binary and source.packed:
                raise LogError(f"{source.path} is a bag inside gzip; unpack it first, as with gunzip")
            return name
    if head.startswith(ZSTD):
        check_compressed(source.path)
    what = "is empty" if not head else "is not of a known log format, or its beginning is damaged"
    raise LogError(f"{source.path} {what}; known formats: {', '.join(FORMATS)}")
