"""The files of a bag: which container each is, and its messages in file order."""

from collections.abc import Callable, Iterator
from pathlib import Path

from sandlot.errors import LogError
from sandlot.recordings.logs.bags import mcap, rosbag1, rosbag2
from sandlot.recordings.logs.bags.messages import Message
from sandlot.recordings.logs.source import Source

READERS = {mcap.MAGIC: mcap.read_mcap, rosbag2.MAGIC: rosbag2.read_rosbag2, rosbag1.MAGIC: rosbag1.read_rosbag1}


def read_messages(source: Source) -> Iterator[Message]:
    """The messages of a bag in file order, of all its files if it is a directory.

    Raises:
        DamagedError: It cannot be read any further.
    """
    if not source.path.is_dir():
        yield from _reader(source)(source)
        return
    done = 0
    for file in bag_files(source.path):
        part = Source(file)
        for message in _reader(part)(part):
            source.advance(done + part.position)
            yield message
        done += part.size


def bag_files(directory: Path) -> list[Path]:
    """The files of a bag in a directory, in the order they were written."""

    def order(file: Path) -> tuple[int, str]:
        number = file.stem.rpartition("_")[2]
        return int(number) if number.isdecimal() and len(number) < 10 else 0, file.name

    found = (file for file in directory.iterdir() if file.suffix in (".mcap", ".db3") and file.is_file())
    return sorted(found, key=order)


def check_compressed(path: Path) -> None:
    """Refuse a bag whose files were compressed as a whole, with a hint.

    Raises:
        LogError: It is such a bag.
    """
    files = [path] if not path.is_dir() else [file for file in path.iterdir() if file.name.endswith(".zstd")]
    if files:
        raise LogError(f"{files[0]} is compressed as a whole; unpack it first: zstd -d {files[0].name}")


def _reader(source: Source) -> Callable[[Source], Iterator[Message]]:
    """By the first bytes of the file; if they are damaged, by the given format or the suffix."""
    head = source.head(16)
    for magic, reader in READERS.items():
        if head.startswith(magic):
            return reader
    hints = (source.settings.get("format"), source.path.suffix)
    if "mcap" in hints or ".mcap" in hints:
        return mcap.read_mcap
    return rosbag2.read_rosbag2 if "ros2" in hints or ".db3" in hints else rosbag1.read_rosbag1
