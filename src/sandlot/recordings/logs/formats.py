"""All log formats in one table.

To read another format, write a file with a function that yields its scans, and add a line to `FORMATS`. Readers are
imported when a log is read, so that a file of no known format is refused at once.
"""

import importlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sandlot.errors import LogError, quote
from sandlot.recordings.logs.bags import mcap, rosbag1, rosbag2
from sandlot.recordings.logs.bags.compression import ZSTD
from sandlot.recordings.logs.bags.files import bag_files, check_compressed
from sandlot.recordings.logs.source import Source

if TYPE_CHECKING:
    from sandlot.recordings.scans import Scan

ROVER5_WORDS = 363
"""Whole numbers in a line of a log of a Rover 5."""


class Format(NamedTuple):
    """A log format.

    Attributes:
        reader: Where the function is that yields the scans of a log.
        recognize: Whether a log that begins with these bytes is of the format; bags are tried first.
        scans: What holds a scan, in words.
        binary: Whether it is a bag, which must not be inside gzip.
    """

    reader: str
    recognize: Callable[[bytes], bool]
    scans: str
    binary: bool = False

    def read(self, source: Source) -> "Iterator[Scan]":
        """Yield the scans of a log."""
        module, _, function = self.reader.partition(":")
        scans: Iterator[Scan] = getattr(importlib.import_module(f"{__package__}.{module}"), function)(source)
        return scans


def _is_posegraph(head: bytes) -> bool:
    return bool(re.search(rb"^VERTEX(2|_SE2)\s", head, re.MULTILINE))


def _is_carmen(head: bytes) -> bool:
    return bool(re.search(rb"^(FLASER|ROBOTLASER1|ODOM|PARAM|RAWLASER1|SYNC)\s", head, re.MULTILINE))


def _is_csv(head: bytes) -> bool:
    return "time" in [cell.strip().strip('"') for cell in _first_line(head).removeprefix("\ufeff").split(",")]


def _is_rover5(head: bytes) -> bool:
    first = _first_line(head)
    return bool(re.fullmatch(r"[-\d\s]+", first)) and len(first.split()) == ROVER5_WORDS


def _first_line(head: bytes) -> str:
    return next((line for line in head.decode(errors="replace").splitlines() if line.strip()), "")


BAG, LASER_SCANS = "bags.reader:read_bag", "messages of sensor_msgs/LaserScan"
FORMATS: dict[str, Format] = {
    "ros1": Format(BAG, lambda head: head.startswith(rosbag1.MAGIC), LASER_SCANS, binary=True),
    "ros2": Format(BAG, lambda head: head.startswith(rosbag2.MAGIC), LASER_SCANS, binary=True),
    "mcap": Format(BAG, lambda head: head.startswith(mcap.MAGIC), LASER_SCANS, binary=True),
    "posegraph": Format("posegraph:read_posegraph", _is_posegraph, "lines of ROBOTLASER1"),
    "carmen": Format("carmen:read_carmen", _is_carmen, "lines of FLASER or ROBOTLASER1"),
    "csv": Format("csv_tables:read_csv", _is_csv, "rows"),
    "rover5": Format("rover5:read_rover5", _is_rover5, f"lines of {ROVER5_WORDS} whole numbers"),
}
"""By name; the first that recognizes a log reads it."""


def check_format(path: Path, kind: str | None) -> None:
    """Refuse a log of no known format, before libraries that read logs are loaded.

    Args:
        path: Of a log, or of a recording.
        kind: Its format; recognized by default.

    Raises:
        LogError: There is no log, or no such format.
    """
    recording = (path / "zarr.json").exists()
    if not recording:
        find_format(Source(path), kind)


def find_format(source: Source, kind: str | None) -> str:
    """The format of a log: the one that is given, or else the one that its content has.

    Raises:
        LogError: There is no such format, or the log is of no known one.
    """
    if kind is not None and kind not in FORMATS:
        raise LogError(f"no format {quote(kind)!r}; known: {', '.join(FORMATS)}")
    return kind or guess_format(source)


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
