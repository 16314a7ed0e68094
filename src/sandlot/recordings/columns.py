"""One quantity on its way to disk: the rows that wait in memory, and the chunk they belong to."""

from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from sandlot.recordings.frames import ONCE, Quantity

SPARSE_CHUNK_BYTES = 2**22
"""Largest chunk of a quantity that is not kept in every frame, if one row is smaller than that [bytes]."""


def row_count(frames: int, every: int) -> int:
    """Rows of a quantity that is kept in every ``every``-th of ``frames`` frames, beginning with the first."""
    return -(-frames // every)


def time_dim(name: str, quantity: Quantity) -> str:
    """Name of the time axis of a quantity: its own one if it is not kept in every frame."""
    return "time" if quantity.every == 1 else f"time_{name}"


class Column:
    """Rows of one quantity that wait for a flush.

    Attributes:
        every: The quantity is kept in every so many frames.
        chunk: Rows per file.
        array: The Zarr array that the rows go to.
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
        self.array: zarr.Array[Any]
        self._buffer: NDArray[Any] = np.zeros((self.chunk, *quantity.shape), quantity.dtype)
        self._first = 0  # row of the array that the buffer begins with
        self._held = 0  # rows of the buffer in use, flushed or not
        self._changed = False  # since the last flush

    @property
    def full(self) -> bool:
        """Whether it has to be flushed before it takes more rows."""
        return self._held == self.chunk

    def put(self, value: Any) -> None:
        """Add one row."""
        self._buffer[self._held] = value
        self._held += 1
        self._changed = True

    def write(self) -> None:
        """Write the waiting rows to disk; readers ignore them until the recording is committed."""
        if self._changed:
            self._buffer[self._held :] = 0
            # Whole chunks only: Zarr would read a part of one back before writing it.
            self.array[self._first : self._first + self.chunk] = self._buffer

    def committed(self) -> None:
        """Mark all rows as safe, and start a new chunk if this one is full."""
        self._changed = False
        if self.full:
            self._first, self._held = self._first + self.chunk, 0


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
