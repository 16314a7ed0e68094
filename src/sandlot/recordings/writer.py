"""Writes a recording frame by frame, so that a killed process loses only what it had not flushed.

A recording is an ordinary Zarr store. The trick is the order of writing: first
the chunks of every array, then the root ``zarr.json``, which holds the number of
frames and, as consolidated metadata, the shape of every array. Replacing that
one file is the commit; whatever lies beyond it is not seen by any reader.

A quantity that is kept only now and then has a time axis of its own, ``time_<name>``,
and its own, smaller chunks; ``every`` among its attributes says which frames it is of.
"""

import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import zarr
from zarr.codecs import ZstdCodec
from zarr.storage import LocalStore

from sandlot.errors import SandlotError
from sandlot.recordings.frames import Frame, Quantity, check_frame
from sandlot.recordings.logs.columns import Column, rows, time_dim

FORMAT = "sandlot recording"
FORMAT_VERSION = 1
"""Of the layout on disk. Raised when an older reader would misread a newer recording."""

ROOM = 2**48
"""Frames the arrays are opened for, so that they never have to grow; only committed shapes reach the disk."""


CHUNK_BYTES = 2**26
"""Most bytes that wait in memory for a flush, if a frame is smaller than that."""


class Writer:
    """Streams frames into a new recording.

    The process may die at any moment: what `flush` had written is there, exactly,
    and nothing else. (A loss of power is not a death: files are not synced to the disk.)
    If it dies while creating, a hidden ``.name.*.partial`` directory may remain next to the path.

    Args:
        path: Directory to create.
        quantities: What every frame holds. One is ``time``, a number in ``s`` or ``cycle``.
        settings: What the frames were made with; anything JSON can hold.
        seed: Where the randomness came from, if there was any.
        world: Name of the world, or of the robot.
        chunk: Frames per file; a full chunk is flushed by itself. By default 256, fewer if frames are large. Large
            quantities that are kept only now and then have fewer in a file.

    Raises:
        SandlotError: The path exists or cannot be written.
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
        _check_quantities(quantities)
        if chunk is None:
            frame = sum(each.nbytes for each in quantities.values() if each.every == 1)
            chunk = max(1, min(256, CHUNK_BYTES // frame))
        if chunk < 1:
            raise ValueError(f"a chunk of {chunk} frames holds nothing; at least 1")
        self.path = Path(path)
        self._quantities = dict(quantities)
        self._frames = 0
        self._appended = 0
        self._closed = False
        self._amended = False
        self._columns = {name: Column(quantity, chunk) for name, quantity in quantities.items()}
        self._create(
            {
                "format": FORMAT,
                "format_version": FORMAT_VERSION,
                "world": world,
                "settings": _to_json(settings),
                "seed": None if seed is None else int(seed),  # NumPy integers are not JSON
                "version": _version(),
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "frames": 0,
            }
        )

    @property
    def frames(self) -> int:
        """Number of frames that are safe on disk."""
        return self._frames

    def append(self, frame: Frame) -> None:
        """Take one more frame; whenever a file of any quantity is full, all are flushed.

        Raises:
            SandlotError: The disk did not take them; all are kept in memory for the next flush.
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
            SandlotError: The disk did not take them; frames flushed before are still safe.
        """
        if self._appended == self._frames and not self._amended:
            return
        with self._explained("write"):
            for column in self._columns.values():
                column.write()
            self._commit(self.path, self._appended)
        self._frames, self._amended = self._appended, False
        for column in self._columns.values():
            column.committed()

    def amend(self, settings: Mapping[str, Any]) -> None:
        """Replace the settings, when more is known than at the start; safe with the next flush.

        Raises:
            ValueError: They are not JSON.
        """
        self._root["attributes"]["settings"] = _to_json(settings)
        self._amended = True

    def close(self) -> None:
        """Flush, and let readers that ignore consolidated metadata see the frames too."""
        if self._closed:
            return
        self.flush()
        with self._explained("write"):
            self._write_shapes(self.path)
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _create(self, attributes: dict[str, Any]) -> None:
        """Build the empty store under another name, then give it its own in one step."""
        with self._explained("create"):
            if self.path.exists():
                raise SandlotError(f"{self.path} already exists; choose another path or remove it first")
            draft = self.path.with_name(f".{self.path.name}.{uuid4().hex}.partial")
            try:
                store = LocalStore(draft)
                group = zarr.create_group(store)
                for name in self._quantities:
                    self._columns[name].array = self._create_array(group, name)
                arrays = {name: json.loads((draft / name / "zarr.json").read_bytes()) for name in self._quantities}
                self._root: dict[str, Any] = {
                    "zarr_format": 3,
                    "node_type": "group",
                    "attributes": attributes,
                    "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": arrays},
                }
                self._commit(draft, 0)
                self._write_shapes(draft)
                draft.rename(self.path)
                store.root = self.path
            finally:
                shutil.rmtree(draft, ignore_errors=True)

    def _create_array(self, group: zarr.Group, name: str) -> zarr.Array[Any]:
        quantity, chunk = self._quantities[name], self._columns[name].chunk
        sparse = {"every": quantity.every} if quantity.every > 1 else {}
        return group.create_array(
            name,
            shape=(ROOM, *quantity.shape),
            chunks=(chunk, *(max(length, 1) for length in quantity.shape)),
            dtype=quantity.dtype,
            dimension_names=(time_dim(name, quantity), *quantity.dims),
            attributes={"units": quantity.units, "long_name": quantity.long_name, **sparse},
            # One flat directory per array: quick to write, and quick to check for holes.
            chunk_key_encoding={"name": "default", "separator": "."},
            compressors=ZstdCodec(level=1, checksum=True),
            # By default Zarr leaves out chunks of zeros; then a lost one could not be told from an empty one.
            config={"write_empty_chunks": True},
        )

    def _commit(self, path: Path, frames: int) -> None:
        self._root["attributes"]["frames"] = frames
        for name, array in self._root["consolidated_metadata"]["metadata"].items():
            array["shape"][0] = rows(frames, self._columns[name].every)
        _replace(path / "zarr.json", self._root, path / "time" / "commit.partial")

    def _write_shapes(self, path: Path) -> None:
        for name, array in self._root["consolidated_metadata"]["metadata"].items():
            _replace(path / name / "zarr.json", array, path / name / "zarr.partial")

    @contextlib.contextmanager
    def _explained(self, verb: str) -> Iterator[None]:
        """Turn what the disk refuses into one line."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise SandlotError(
                f"could not {verb} recording {self.path}: {reason}; choose a path that is writable and has space"
            ) from error


def _check_quantities(quantities: Mapping[str, Quantity]) -> None:
    """Raise ``ValueError`` unless the quantities fit together in one dataset with a time axis."""
    time = quantities.get("time")
    if time is None or time.dims or time.units not in {"s", "cycle"} or time.every > 1:
        raise ValueError("a recording needs a quantity 'time', a number in 's' or 'cycle', in every frame")
    taken = {time_dim(name, quantity) for name, quantity in quantities.items()}
    lengths: dict[str, int] = {}
    for name, quantity in quantities.items():
        if not name.isidentifier():
            raise ValueError(f"{name!r} cannot name a quantity; use letters, digits and underscores")
        if name in taken - {"time"}:
            raise ValueError(f"{name!r} cannot name a quantity; another one, kept now and then, has its times there")
        if taken & set(quantity.dims) or len(set(quantity.dims)) < len(quantity.dims):
            raise ValueError(f"{name} has dims {quantity.dims}; they must differ, and 'time' is added by the recording")
        for dim, length in zip(quantity.dims, quantity.shape, strict=True):
            if lengths.setdefault(dim, length) != length:
                raise ValueError(f"dim {dim!r} has length {length} in {name} but {lengths[dim]} in another quantity")


def _to_json(settings: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(settings))
    except TypeError as error:
        raise ValueError(f"settings must be plain JSON values: {error}") from error


def _version() -> str:
    try:
        return metadata.version("sandlot")
    except metadata.PackageNotFoundError:
        return "unknown"


def _replace(file: Path, content: dict[str, Any], partial: Path) -> None:
    """Write JSON to ``partial`` and move it onto ``file``, which thus holds the old or the new, never less.

    ``partial`` lies inside an array, where nobody lists files: next to the root's
    ``zarr.json`` a leftover would make Zarr warn about an unknown member.
    """
    partial.write_text(json.dumps(content))
    partial.replace(file)
