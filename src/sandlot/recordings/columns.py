"""One quantity on its way to disk: the rows that wait in memory, and the chunk they belong to."""

from pathlib import Path
from typing import Any

import numpy as np
from numcodecs import Zstd
from numpy.typing import NDArray

from sandlot.recordings.frames import ONCE, Quantity

SPARSE_CHUNK_BYTES = 2**22
"""Largest chunk of a quantity that is not kept in every frame, if one row is smaller than that [bytes]."""
COMPRESSION = Zstd(level=1, checksum=True)
"""Of the chunks, as their metadata say."""


def row_count(frames: int, every: int) -> int:
    """Rows of a quantity that is kept in every ``every``-th of ``frames`` frames, beginning with the first."""
    return -(-frames // every)


def time_dim(name: str, quantity: Quantity) -> str:
    """Name of the time axis of a quantity: its own one if it is not kept in every frame."""
    return "time" if quantity.every == 1 else f"time_{name}"


class Column:
    """Rows of one quantity that wait for a flush.

    A flush has three steps: `hand_over` begins a new buffer, `write` writes the old one, and `committed` frees it.
    Rows can be added from the first step on, while another thread writes.

    Attributes:
        every: The quantity is kept in every so many frames.
        chunk: Rows per file.
        folder: Directory of the Zarr array that the rows go to.
    """

    def __init__(self, quantity: Quantity, chunk: int) -> None:
        """An empty column.

        Args:
            quantity: What the rows hold.
            chunk: Rows per file of a quantity that is kept in every frame; sparse and large ones have fewer.
        """
        sparse = 1 if quantity.every >= ONCE else max(1, SPARSE_CHUNK_BYTES // max(quantity.nbytes, 1))
        self.every = quantity.every
        self.chunk = chunk if self.every == 1 else min(chunk, sparse)
        self.folder: Path
        self._buffer: NDArray[Any] = np.zeros((self.chunk, *quantity.shape), quantity.dtype)
        self._leaving: tuple[int, NDArray[Any]] | None = None  # number of a chunk, and its rows
        self._spare: NDArray[Any] | None = None
        self._number = 0  # of the chunk in the buffer
        self._held = 0  # rows of the buffer in use, flushed or not
        self._changed = False  # since the last flush

    def put(self, value: Any) -> bool:
        """Add one row; returns whether it must be handed over before it takes more."""
        held = self._held
        self._buffer[held] = value
        self._held, self._changed = held + 1, True
        return held + 1 == self.chunk

    @property
    def room(self) -> NDArray[Any]:
        """The rows that can be added before it must be handed over; not a copy."""
        return self._buffer[self._held :]

    def filled(self, rows: int) -> bool:
        """Add so many rows, which were written to `room`; returns whether it must be handed over before more."""
        self._held, self._changed = self._held + rows, self._changed or rows > 0
        return self._held == self.chunk

    def hand_over(self) -> None:
        """Leave the waiting rows to `write`; those of a chunk that is not full are kept for the next flush, too."""
        if not self._changed:
            return
        held, leaving = self._held, self._buffer
        self._buffer = np.zeros_like(leaving) if self._spare is None else self._spare
        self._leaving, self._spare, self._changed = (self._number, leaving), None, False
        if held == self.chunk:
            self._number, self._held = self._number + 1, 0
        else:
            leaving[held:] = 0
            self._buffer[:held] = leaving[:held]

    def write(self) -> None:
        """Write what was handed over to disk; readers ignore it until the recording is committed."""
        if self._leaving is None or not self._leaving[1].size:
            return
        number, rows = self._leaving
        file = self.folder / ".".join(["c", str(number), *("0" for _ in rows.shape[1:])])
        partial = file.with_suffix(".partial")
        # The chunk may hold rows that are committed already, so the file is replaced in one step.
        try:
            partial.write_bytes(COMPRESSION.encode(rows))
            partial.replace(file)
        except OSError:
            partial.unlink(missing_ok=True)
            raise

    def committed(self) -> None:
        """Mark what was handed over as safe."""
        if self._leaving is not None:
            self._spare, self._leaving = self._leaving[1], None


def check_quantities(quantities: dict[str, Quantity]) -> None:
    """Raise ``ValueError`` unless the quantities fit together in one dataset with a time axis."""
    time = quantities.get("time")
    if time is None or time.dims or time.units != "s" or time.every > 1:
        raise ValueError("a recording needs a quantity 'time', a number in s, in every frame")
    time_dims = {time_dim(name, quantity) for name, quantity in quantities.items()}
    lengths: dict[str, int] = {}
    for name, quantity in quantities.items():
        if not name.isidentifier():
            raise ValueError(f"{name!r} cannot name a quantity; use letters, digits and underscores")
        if name in time_dims - {"time"}:
            raise ValueError(f"{name!r} cannot name a quantity; it is the time axis of a quantity with every > 1")
        if time_dims & set(quantity.dims) or len(set(quantity.dims)) < len(quantity.dims):
            raise ValueError(f"{name} has dims {quantity.dims}; they must differ, and 'time' is added by the recording")
        for dim, length in zip(quantity.dims, quantity.shape, strict=True):
            if lengths.setdefault(dim, length) != length:
                raise ValueError(f"dim {dim!r} has length {length} in {name} but {lengths[dim]} in another quantity")
