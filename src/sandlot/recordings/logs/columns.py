"""One quantity on its way to the disk: which of its rows wait in memory, and in which chunk they belong."""

from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from sandlot.recordings.frames import ONCE, Quantity

FEW_BYTES = 2**22
"""Most that a chunk of a quantity that is kept only now and then holds, if a row of it is smaller than that."""


def rows(frames: int, every: int) -> int:
    """How many of so many frames keep a quantity that is kept every so often."""
    return -(-frames // every)


def time_dim(name: str, quantity: Quantity) -> str:
    """The axis of a quantity along which time goes by: one of its own if it is not kept in every frame."""
    return "time" if quantity.every == 1 else f"time_{name}"


class Column:
    """Rows of one quantity that wait for a flush.

    Attributes:
        every: It is kept in every so many frames.
        chunk: Rows per file.
        array: Where the rows go.
    """

    def __init__(self, quantity: Quantity, chunk: int) -> None:
        """Nothing waits yet.

        Args:
            quantity: What is kept.
            chunk: Rows per file, of one that is kept in every frame; others have fewer if they are large.
        """
        few = 1 if quantity.every >= ONCE else max(1, FEW_BYTES // max(quantity.nbytes, 1))
        self.every = quantity.every
        self.chunk = chunk if self.every == 1 else min(chunk, few)
        self.array: zarr.Array[Any]
        self._buffer: NDArray[Any] = np.zeros((self.chunk, *quantity.shape), quantity.dtype)
        self._first = 0  # number of the row in the buffer's first
        self._held = 0  # rows in use, flushed or not
        self._changed = False  # since the last flush

    @property
    def full(self) -> bool:
        """Whether it has to be flushed before it takes more."""
        return self._held == self.chunk

    def put(self, value: Any) -> None:
        """Take one more row."""
        self._buffer[self._held] = value
        self._held += 1
        self._changed = True

    def write(self) -> None:
        """Bring what waits to the disk; it does not count until it is committed, and may be written again."""
        if self._changed:
            self._buffer[self._held :] = 0
            # Whole chunks only: Zarr would read a part of one back before writing it.
            self.array[self._first : self._first + self.chunk] = self._buffer

    def committed(self) -> None:
        """Forget what is safe."""
        self._changed = False
        if self.full:
            self._first, self._held = self._first + self.chunk, 0
