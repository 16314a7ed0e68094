"""Writes a recording frame by frame; a killed process loses only the frames it had not flushed."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

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
        background: Whether full chunks are written by another thread, while frames go on being appended; what the disk
            refuses is then raised later, by a call that waits for that thread: `flush`, `close`, or the `append` that
            fills the next chunk.

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
        background: bool = False,
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
        self._checked: Frame = {}
        self._thread = ThreadPoolExecutor(1) if background else None
        self._full = False  # a column has to be handed over before it takes more rows
        self._leaving: int | None = None  # number of frames, once what was handed over is written
        self._writing: Future[None] | None = None
        self._columns = {name: Column(quantity, chunk) for name, quantity in quantities.items()}
        self._dense = [(name, column) for name, column in self._columns.items() if column.every == 1]
        self._sparse = [(name, column) for name, column in self._columns.items() if column.every > 1]
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
        self._check_open()
        self._check(frame)
        if self._full:  # an earlier flush failed
            self._begin()
        for name, column in self._dense:
            self._full |= column.put(frame[name])
        for name, column in self._sparse:
            if self._appended % column.every == 0:
                self._full |= column.put(frame[name])
        self._appended += 1
        if self._full:
            self._begin()

    def room(self) -> dict[str, NDArray[Any]]:
        """Room for the next frames, at least one, of the quantities that are kept in every frame.

        Whoever makes many frames at once writes them there, without copies, and calls `filled`.

        Raises:
            RecordingError: The disk refused earlier frames; all are kept in memory for the next flush.
            ValueError: The writer is closed.
        """
        self._check_open()
        if self._full:  # an earlier flush failed
            self._begin()
        return {name: column.room for name, column in self._dense}

    def filled(self, frames: int, last: Frame) -> None:
        """Add so many frames, which were written to `room`.

        Args:
            frames: At most as many as there is room for, and at most `until_sparse`.
            last: The quantities of the last of them that are not kept in every frame; others are ignored.

        Raises:
            RecordingError: The disk refused them; all are kept in memory for the next flush.
        """
        if frames > self.until_sparse:
            raise ValueError(f"{frames} frames, of which one before the last keeps more; at most {self.until_sparse}")
        for _, column in self._dense:
            self._full |= column.filled(frames)
        self._appended += frames
        for name, column in self._sparse:
            if (self._appended - 1) % column.every == 0:
                self._full |= column.put(last[name])
        if self._full:
            self._begin()

    @property
    def until_sparse(self) -> int:
        """Number of frames up to the next one that keeps a quantity which is not kept in every frame."""
        return min((1 + -self._appended % column.every for _, column in self._sparse), default=CHUNK_BYTES)

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError(f"recording {self.path} is closed")

    def _check(self, frame: Frame) -> None:
        """Check a frame, unless it has the same arrays as the last one, with other numbers in them."""
        last = self._checked
        if len(frame) == len(last) and all(last.get(name) is value for name, value in frame.items()):
            return
        check_frame(frame, self._quantities)
        # Only arrays: others are made anew for every frame.
        self._checked = dict(frame) if all(isinstance(value, np.ndarray) for value in frame.values()) else {}

    def flush(self) -> None:
        """Make every frame appended so far safe.

        Raises:
            RecordingError: The disk refused them; frames flushed before are still safe.
        """
        self._finish()
        if self._appended > self._frames or self._amended:
            self._begin()
            self._finish()

    def _begin(self) -> None:
        """Write all frames appended so far, or let the other thread begin to."""
        self._finish()
        for column in self._columns.values():
            column.hand_over()
        self._leaving, self._amended = self._appended, False
        if self._thread is None:
            self._finish()
        else:
            self._writing = self._thread.submit(self._write, self._appended)
        self._full = False

    def _finish(self) -> None:
        """Write what was handed over; wait for the other thread, if it is doing that."""
        writing, self._writing = self._writing, None
        with self._explained():
            if writing is not None:
                writing.result()
            elif self._leaving is not None:
                self._write(self._leaving)
        self._leaving = None

    def _write(self, frames: int) -> None:
        for column in self._columns.values():
            column.write()
        self._store.commit(frames)
        self._frames = frames
        for column in self._columns.values():
            column.committed()

    def amend(self, settings: Mapping[str, Any]) -> None:
        """Replace the settings, when more is known than at the start; safe with the next flush.

        Raises:
            ValueError: They are not JSON.
        """
        self._store.attributes["settings"] = _to_json(settings)
        self._amended = True

    def note_outcomes(self, outcomes: list[dict[str, float]]) -> None:
        """Keep the outcomes of the episodes that have ended, in place of those before; safe with the next flush."""
        plain = [{key: value if value == value else None for key, value in each.items()} for each in outcomes]
        self._store.attributes["outcomes"] = json.dumps(plain)
        self._amended = True

    def close(self) -> None:
        """Flush, and let readers that ignore consolidated metadata see the frames too."""
        if self._closed:
            return
        self.flush()
        with self._explained():
            self._store.write_shapes()
        if self._thread is not None:
            self._thread.shutdown()
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
