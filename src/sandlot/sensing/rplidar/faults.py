"""What goes wrong between a device and its host: lost, flipped and stale bytes, and a host that reads too late."""

import numpy as np
from pydantic import Field

from sandlot.settings import Settings

KERNEL_BUFFER = 4096
"""Bytes that wait for a host that does not read; more are lost."""


class Faults(Settings):
    """Faults on the way from an emulated device to the host.

    Attributes:
        lost: Probability that a byte is lost.
        flipped: Probability that a bit of a byte is flipped.
        stale: Bytes of a scan that still come after it was stopped.
        stall: Time for which nothing is read, every ``stall_every``; what does not fit into the buffer of the operating
            system is lost [s].
        stall_every: [s]
    """

    lost: float = Field(0.0, ge=0.0, le=1.0)
    flipped: float = Field(0.0, ge=0.0, le=1.0)
    stale: int = Field(0, ge=0, le=1_000_000)
    stall: float = Field(0.0, ge=0.0, le=60.0)
    stall_every: float = Field(10.0, gt=0.0)


class Line:
    """Carries bytes to the host, with faults; the same seed and times, the same faults."""

    def __init__(self, faults: Faults, rng: np.random.Generator) -> None:
        self._faults, self._rng = faults, rng
        self._waiting = bytearray()

    def carry(self, data: bytes, now: float) -> bytes:
        """Bytes that the host gets now, of those that are sent now [s]."""
        faults = self._faults
        if faults.lost or faults.flipped:
            values = np.frombuffer(data, np.uint8).copy()
            flipped = self._rng.random(len(values)) < faults.flipped
            values[flipped] ^= (1 << self._rng.integers(0, 8, len(values))).astype(np.uint8)[flipped]
            data = values[self._rng.random(len(values)) >= faults.lost].tobytes()
        self._waiting += data
        if faults.stall and now % faults.stall_every > faults.stall_every - faults.stall:
            del self._waiting[KERNEL_BUFFER:]
            return b""
        arrived = bytes(self._waiting)
        self._waiting.clear()
        return arrived
