"""A log while it is read: its bytes or lines, how far reading has come, and what is worth a note.

Logs come from elsewhere, so nothing in them is believed: a line has a longest
length, a number has to be one, and gzip is undone piece by piece.
"""

import gzip
import io
import math
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from sandlot.errors import SandlotError

GZIP = b"\x1f\x8b"
LONGEST_LINE = 2**22
"""Of a text log [bytes]. One of 100,000 ranges is shorter."""


class DamagedError(SandlotError):
    """A log cannot be read any further; what was read before is sound."""


class Source:
    """A log that is being read.

    Args:
        path: Of the log.

    Attributes:
        size: Of the file, or of the files of a directory [bytes].
        position: How far reading has come [bytes].
        settings: What the recording will say about where it comes from; importers add to it.
        notes: What the user should know, in plain words, each once.
        topic: Of a bag, which scans are wanted; the first by default.
    """

    def __init__(self, path: str | Path, topic: str | None = None) -> None:
        self.path = Path(path)
        self.topic = topic
        with self.explained():
            if not self.path.exists():
                raise SandlotError(f"there is no log at {self.path}; check the path")
            files = self.path.iterdir() if self.path.is_dir() else [self.path]
            self.size = sum(file.stat().st_size for file in files if file.is_file())
        self.position = 0
        self.settings: dict[str, Any] = {"source": self.path.name}
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Note something the user should know."""
        if text not in self.notes:
            self.notes.append(text)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what the disk refuses into one line."""
        try:
            yield
        except OSError as error:
            raise SandlotError(
                f"{self.path} cannot be read: {error.strerror or error}; check its permissions"
            ) from error

    @property
    def packed(self) -> bool:
        """Whether it is gzip."""
        with self.explained():
            if self.path.is_dir():
                return False
            with self.path.open("rb") as file:
                return file.read(2) == GZIP

    def head(self, size: int = 2**16) -> bytes:
        """The first bytes, of what is inside if it is gzip; empty for a directory."""
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
        """Every line that is not empty, with its number from 1, gzip or not.

        Raises:
            DamagedError: A line is too long or not text, or gzip fails.
        """
        with self.explained(), self.path.open("rb") as file:
            packed = file.read(2) == GZIP
            file.seek(0)
            stream: BinaryIO = io.BufferedReader(gzip.GzipFile(fileobj=file)) if packed else file
            number = 0
            while True:
                number += 1
                try:
                    line = stream.readline(LONGEST_LINE + 1)
                except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                    raise DamagedError(
                        f"{self.path} is damaged at line {number}: its gzip ends or breaks ({error})"
                    ) from error
                self.position = file.tell()
                if not line:
                    return
                if len(line) > LONGEST_LINE:
                    raise DamagedError(
                        f"{self.path}, line {number}: longer than {LONGEST_LINE:,} bytes; this is no log of scans"
                    )
                try:
                    text = line.decode().strip()
                except UnicodeDecodeError as error:
                    raise DamagedError(
                        f"{self.path}, line {number}: these bytes are no text; the log is damaged"
                    ) from error
                if not line.endswith(b"\n"):
                    self.note("its last line has no end; it may have been cut off")
                if text:
                    yield number, text

    def damaged(self, number: int, reason: str) -> DamagedError:
        """What to raise about a line."""
        return DamagedError(f"{self.path}, line {number}: {reason}")


def numbers(words: Sequence[str]) -> list[float]:
    """Finite numbers.

    Raises:
        ValueError: One of the words is not a number, or not finite.
    """
    values = []
    for word in words:
        value = float(word)
        if not math.isfinite(value) or "_" in word:
            raise ValueError(f"{word[:20]!r} is not a finite number")
        values.append(value)
    return values


def count(word: str, most: int) -> int:
    """A whole number from 0 to ``most``.

    Raises:
        ValueError: It is not.
    """
    if not (word.isascii() and word.isdigit()) or len(word) > 9 or int(word) > most:
        raise ValueError(f"{word[:20]!r} is not a count from 0 to {most:,}")
    return int(word)
