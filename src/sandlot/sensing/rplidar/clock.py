"""When samples were measured, from when their bytes arrived.

Bytes are read in pieces, late by what the operating system and the USB bridge need. Delays differ, but never make a
packet early: the earliest arrivals are right, and the steady rate of the samples carries over between them.
"""

import bisect

import numpy as np

from sandlot.kernels import kernel
from sandlot.typing import Array, IntArray

BITS = 10
"""Of a byte on the line, with start and stop bit."""
SLOWER = 1.02
"""A device may take so many times the nominal time for a sample."""
FASTER = 0.5
"""Samples that waited for a late reader come with a later time than the ones after them. Times still go on, by at least
this share of the nominal time, until they are right again."""
MAX_DELAY = 0.1
"""Arrivals are late by at most this [s]; what seems later was lost or is from a slower device."""


class Arrivals:
    """Knows when each byte of a stream arrived.

    Args:
        byte_time: Of a byte on the line [s]; 0 if it is not a serial line.
    """

    def __init__(self, byte_time: float = 0.0) -> None:
        self.byte_time = byte_time
        self._ends: list[int] = []
        self._times: list[float] = []

    def note(self, end: int, time: float) -> None:
        """The stream up to the byte ``end`` was there at a time [s]."""
        self._ends.append(end)
        self._times.append(time)

    def forget(self, before: int) -> None:
        """Bytes before this one are no longer asked for."""
        cut = bisect.bisect_left(self._ends, before)
        del self._ends[:cut], self._times[:cut]

    def at(self, last: IntArray) -> Array:
        """When the bytes at some offsets (n,), which have arrived, were there: (n,) [s].

        Those at the beginning of a piece were there as much earlier as the rest of the piece took on the line.
        """
        which = np.minimum(np.searchsorted(self._ends, last, side="right"), len(self._ends) - 1)
        rest = np.array(self._ends)[which] - 1 - last
        return np.array(self._times)[which] - self.byte_time * rest


@kernel(allocates=False)
def steady(arrived: Array, fresh: IntArray, duration: float, before: float, times: Array) -> None:
    """Remove delays from the times of packets, which always increase.

    Args:
        arrived: (n,) when each packet arrived [s].
        fresh: (n,) 1 where packets before were lost, so that nothing is known from them.
        duration: Of the samples of a packet [s].
        before: Time of the packet before the first; NaN if there is none [s].
        times: (n,) to be filled [s].
    """
    last = before
    for k in range(arrived.shape[0]):
        now = arrived[k]
        if fresh[k] == 0 and last + SLOWER * duration < now:  # false for NaN
            now = max(last + SLOWER * duration, now - MAX_DELAY)
        elif now < last + FASTER * duration:
            now = last + FASTER * duration
        times[k] = last = now
