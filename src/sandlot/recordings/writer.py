"""Writes a recording frame by frame; a killed process loses only the frames it had not flushed."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sandlot.errors import RecordingError, os_reason, quote
from sandlot.recordings.columns import Column, check_quantities
from sandlot.recordings.frames import Frame, Quantity, check_frame
from sandlot.recordings.zarr_store import FORMAT, FORMAT_VERSION, ZarrStore
from sandlot.version import __version__

CHUNK_BYTES = 2**26
"""Maximum bytes that wait in memory for a flush, if a frame is smaller than that."""


class Writer:
    """Streams frames into a new recording.

    The process may be killed at any moment: the recording then holds exactly the flushed frames. (Files are not synced,
    so a loss of power can lose more.) A process killed while it creates the recording may leave a hidden
    ``.sandlot-*.partial`` directory next to the path, which the next recording there removes.

    Args:
        path: Directory to create.
        quantities: What every frame holds. One is ``time``, a number in ``s`` or ``cycle``.
        settings: What the frames were made with; anything JSON can hold.
        seed: Seed of the random numbers, if there were any.
        world: Name of the world, or of the robot.
        chunk: Frames per file; a full chunk is flushed by itself. By default 256, fewer if frames are large. Large
            quantities that are not kept in every frame have fewer rows in a file.

    Raises:
        RecordingError: The path exists or cannot be written.
        ValueError: The quantities contradict each other, or settings are not JSON.

    Examples:
        >>> with Writer("recordings/a", world.quantities, settings={}, seed=1, world="Water-v0") as writer:
        ...     writer.append(world.frame())
    """

    def __init__(
        self,
        path: str | Path,
        quantities: Mapping[str, Quantity],
        *,
        settings: Mapping[str, Any],
        seed: int | None,
        world: str,
        chunk: int | None = None,
    ) -> None:
        self._quantities = dict(quantities)
        check_quantities(self._quantities)
        if chunk is None:
            frame = sum(each.nbytes for each in quantities.values() if each.every == 1)
            chunk = max(1, min(256, CHUNK_BYTES // frame))
        if chunk < 1:
            raise ValueError(f"chunk={chunk}; a chunk has at least 1 frame")
        self.path = Path(path)
        self._frames = 0
        self._appended = 0
        self._closed = False
        self._amended = False
        self._columns = {name: Column(quantity, chunk) for name, quantity in quantities.items()}
        attributes = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "world": world,
            "settings": _to_json(settings),
            "seed": None if seed is None else int(seed),  # NumPy integers are not JSON
            "version": __version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        self._store = ZarrStore(self.path, self._quantities, self._columns, attributes)

    @property
    def frames(self) -> int:
        """Number of frames that are safe on disk."""
        return self._frames

    def append(self, frame: Frame) -> None:
        """Add one frame; whenever a chunk of any quantity is full, all quantities are flushed.

        Raises:
            RecordingError: The disk refused them; all are kept in memory for the next flush.
            ValueError: The frame is not as declared, or the writer is closed.
        """
        if self._closed:
            raise ValueError(f"recording {self.path} is closed")
        check_frame(frame, self._quantities)
        if self._any_full():  # an earlier flush failed
            self.flush()
        for name, column in self._columns.items():
            if self._appended % column.every == 0:
                column.put(frame[name])
        self._appended += 1
        if self._any_full():
            self.flush()

    def _any_full(self) -> bool:
        return any(column.full for column in self._columns.values())

    def flush(self) -> None:
        """Make every frame appended so far safe.

        Raises:
            RecordingError: The disk refused them; frames flushed before are still safe.
        """
        if self._appended == self._frames and not self._amended:
            return
        with self._explained():
            for column in self._columns.values():
                column.write()
            self._store.commit(self._appended)
        self._frames, self._amended = self._appended, False
        for column in self._columns.values():
            column.committed()

    def amend(self, settings: Mapping[str, Any]) -> None:
        """Replace the settings, when more is known than at the start; safe with the next flush.

        Raises:
            ValueError: They are not JSON.
        """
        self._store.attributes["settings"] = _to_json(settings)
        self._amended = True

    def close(self) -> None:
        """Flush, and let readers that ignore consolidated metadata see the frames too."""
        if self._closed:
            return
        self.flush()
        with self._explained():
            self._store.write_shapes()
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn an error of the disk into one line."""
        try:
            yield
        except OSError as error:
            kept = f"; it holds the {self._frames:,} frames before" if self._frames else ""
            raise RecordingError(
                f"could not write recording {quote(self.path)}: {os_reason(error, self.path)}{kept}; "
                "choose a path that is writable and has space"
            ) from error


def _to_json(settings: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(settings))
    except TypeError as error:
        raise ValueError(f"settings must be plain JSON values: {error}") from error
