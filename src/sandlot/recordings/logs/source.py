"""A log while it is read: its bytes or lines, progress, and notes for the user.

Logs come from anywhere, so everything in them is checked: lines have a maximum length, numbers must be finite, gzip is
unpacked piece by piece.
"""

import gzip
import io
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from sandlot.errors import LogError, os_reason, quote
from sandlot.reading import check_log, check_regular

GZIP = b"\x1f\x8b"
MAX_LINE = 2**22
"""Longest line of a text log [bytes]; one of 100,000 ranges is shorter."""
MAX_IDLE_LINES = 1_000_000
"""Maximum lines in a row without a scan: a small gzip file may unpack to gigabytes of empty lines."""
PROGRESS_BYTES = 2**18
"""Progress is reported each time this many bytes were read."""

Progress = Callable[[int, int], None]


class DamagedError(LogError):
    """A log cannot be read any further; the scans before are sound."""


class Source:
    """A log that is being read.

    Args:
        path: Of the log: a file, or the directory of a ROS 2 bag.
        topic: Of a bag, whose scans to take; the first by default.
        progress: Called with the bytes that were read, and all.

    Attributes:
        size: Of the file, or of the files of a directory [bytes].
        position: Bytes that were read.
        passes: How often a reader goes through the log; ``finished_passes`` of them are over.
        idle_lines: Lines since the last scan; who receives the scans sets it to 0.
        settings: What the recording will say about its origin; readers add to it.
        notes: What the user should know, each once.
    """

    def __init__(self, path: str | Path, topic: str | None = None, progress: Progress | None = None) -> None:
        self.path = Path(path)
        self.topic = topic
        with self.explained():
            check_log(self.path)
            if not self.path.is_dir():
                check_regular(self.path)
            files = self.path.iterdir() if self.path.is_dir() else [self.path]
            self.size = sum(file.stat().st_size for file in files if file.is_file())
        self.position = self._reported = self.idle_lines = self.finished_passes = 0
        self.passes = 1
        self._progress = progress
        self.settings: dict[str, Any] = {"source": self.path.name}
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Note something the user should know."""
        if text not in self.notes:
            self.notes.append(text)

    def advance(self, position: int) -> None:
        """Tell how many bytes of the log were read in this pass."""
        self.position = position
        done = (self.finished_passes * self.size + position) // self.passes
        if self._progress and done >= self._reported + PROGRESS_BYTES:
            self._reported = done
            self._progress(min(done, self.size), self.size)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn an error of the disk into one line."""
        try:
            yield
        except OSError as error:
            raise LogError(f"{quote(self.path)} cannot be read: {os_reason(error, self.path)}") from error

    @property
    def packed(self) -> bool:
        """Whether it is a gzip file."""
        with self.explained():
            if self.path.is_dir():
                return False
            with self.path.open("rb") as file:
                return file.read(2) == GZIP

    def head(self, size: int = 2**16) -> bytes:
        """The first bytes, unpacked if the file is gzip; empty for a directory."""
        if self.path.is_dir():
            return b""
        with self.explained(), self.path.open("rb") as file:
            start = file.read(size)
        if not start.startswith(GZIP):
            return start
        try:
            return zlib.decompressobj(wbits=31).decompress(start, size)
        except zlib.error:
            return b""

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every non-empty line with its number, from 1; gzip is unpacked.

        Raises:
            DamagedError: A line is too long or not text, gzip fails, or a million lines held no scan.
        """
        with self.explained(), self.path.open("rb") as file:
            packed = file.read(2) == GZIP
            file.seek(0)
            stream: BinaryIO = io.BufferedReader(gzip.GzipFile(fileobj=file)) if packed else file
            number = 0
            while True:
                number += 1
                try:
                    line = stream.readline(MAX_LINE + 1)
                except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                    raise self.damaged(number, f"gzip is cut off or damaged ({quote(error)})") from error
                self.advance(file.tell())
                if not line:
                    return
                self.idle_lines += 1
                if self.idle_lines > MAX_IDLE_LINES:
                    raise self.damaged(number, f"{MAX_IDLE_LINES:,} lines in a row without a scan")
                if len(line) > MAX_LINE:
                    raise self.damaged(number, f"longer than {MAX_LINE:,} bytes; this is not a log of scans")
                try:
                    text = line.decode().strip()
                except UnicodeDecodeError as error:
                    raise self.damaged(number, "its bytes are not text; the log is damaged") from error
                if not line.endswith(b"\n"):
                    self.note("the last line has no line break; the log may be cut off")
                if text:
                    yield number, text

    def damaged(self, number: int, reason: str) -> DamagedError:
        """The error to raise about a line."""
        return DamagedError(f"{self.path}, line {number}: {reason}")


def numbers(words: Sequence[str]) -> list[float]:
    """Finite numbers.

    Raises:
        ValueError: One of the words is not a finite number.
    """
    values = []
    for word in words:
        try:
            value = float(word) if "_" not in word else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(f"{word[:20]!r} is not a finite number")
        values.append(value)
    return values


def count(word: str, maximum: int) -> int:
    """A whole number from 0 to ``maximum``.

    Raises:
        ValueError: It is not one.
    """
    if not (word.isascii() and word.isdigit()) or len(word) > 9 or int(word) > maximum:
        raise ValueError(f"{word[:20]!r} is not a count from 0 to {maximum:,}")
    return int(word)
