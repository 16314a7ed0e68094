"""Records scans of a laser as they come, such as of a live lidar."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sandlot.recordings.frames import ONCE
from sandlot.recordings.scans import Scan, quantities
from sandlot.recordings.vocabulary import quantity
from sandlot.recordings.writer import Writer

FLUSHED = 16
"""Scans between two flushes: a killed process loses at most so many."""


class ScanRecorder:
    """Streams scans into a new recording, which `sandlot.recordings.logs.read_scans` reads.

    All scans have the same beams; their ages are those of the first.

    Args:
        path: Directory to create, when the first scan comes.
        settings: What the scans were made with; anything JSON can hold.

    Raises:
        RecordingError: The path exists or cannot be written; by `add`.
    """

    def __init__(self, path: str | Path, settings: Mapping[str, Any]) -> None:
        self.path, self._settings = Path(path), dict(settings)
        self._writer: Writer | None = None

    @property
    def frames(self) -> int:
        """Number of scans that are safe on disk."""
        return 0 if self._writer is None else self._writer.frames

    def add(self, scan: Scan) -> None:
        """Add a scan, whose time is that since the start."""
        frame = dict(scan.frame())
        if scan.ages is not None:
            frame["ages"] = scan.ages
        if self._writer is None:
            beams = len(scan.ranges)
            kept = quantities(beams)
            if scan.ages is not None:
                kept["ages"] = quantity("ages", ("beam",), (beams,), every=ONCE)
            self._writer = Writer(self.path, kept, settings=self._settings, seed=None, world="lidar", chunk=FLUSHED)
        self._writer.append(frame)

    def close(self) -> None:
        """Write what is left."""
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
