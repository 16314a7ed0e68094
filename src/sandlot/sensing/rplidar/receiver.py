"""Bytes of a lidar in, events out: the protocol without any input or output of its own.

The stream is cut where a known descriptor or the banner of a device that has started stands, whatever came before. So
an answer is found behind stale bytes, and a device that restarts in the middle of a scan is noticed. How the stream is
chunked changes nothing.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sandlot.sensing.rplidar.answers import (
    BANNER,
    SCANS,
    SINGLE,
    AccessoryBoard,
    Answer,
    Configuration,
    Health,
    Info,
    SampleRate,
    find_mark,
    read_descriptor,
    unfinished_mark,
)
from sandlot.sensing.rplidar.clock import BITS, Arrivals
from sandlot.sensing.rplidar.samples import Samples
from sandlot.sensing.rplidar.scan_decoder import ScanDecoder

STALE = 3
"""Place of stale bytes among the losses."""


@dataclass(frozen=True, slots=True)
class Restarted:
    """The device has started, after a reset or a loss of power; it does not scan."""


@dataclass(frozen=True, slots=True)
class ScanBegun:
    """Packets of a scan follow.

    Attributes:
        answer: Their format.
    """

    answer: Answer


Event: TypeAlias = Info | Health | SampleRate | Configuration | AccessoryBoard | Restarted | ScanBegun | Samples


@dataclass(frozen=True, slots=True)
class Losses:
    """What was lost since the receiver was made.

    Attributes:
        bytes: Of scans, that gave no samples: damaged, between packets, or of capsules whose neighbour is damaged.
        breaks: How often packets of a scan were damaged or cut.
        gaps: How often samples are missing between packets that are whole.
        stale: Bytes outside answers and scans, such as the rest of a scan that was stopped. Banners count too.
    """

    bytes: int = 0
    breaks: int = 0
    gaps: int = 0
    stale: int = 0


class Receiver:
    """Decodes the bytes that come from a lidar.

    Args:
        baud: Of the serial line [1/s]; None for any other link. Used for times.

    Attributes:
        period: Time between two samples [s]; None for what is usual in the mode. Used for times.

    Examples:
        >>> receiver = Receiver(115200)
        >>> for event in receiver.receive(data, time.monotonic()):
        ...     print(event)
    """

    def __init__(self, baud: int | None = None) -> None:
        self.period: float | None = None
        self._buffer = bytearray()
        self._offset = 0  # of the buffer in the stream
        self._arrivals = Arrivals(0.0 if baud is None else BITS / baud)
        self._losses = np.zeros(4, np.int64)
        self._single: tuple[Answer, int] | None = None
        self._scan: ScanDecoder | None = None

    @property
    def scanning(self) -> Answer | None:
        """Format of the scan that is being received; None if none is."""
        return None if self._scan is None else self._scan.answer

    @property
    def losses(self) -> Losses:
        """What was lost until now."""
        return Losses(*self._losses.tolist())

    def end_scan(self) -> None:
        """Take what comes as stale, until a descriptor comes: to be called when a request is sent."""
        self._single, self._scan = None, None

    def receive(self, data: bytes, time: float = 0.0) -> list[Event]:
        """Take bytes, and return what they complete.

        Args:
            data: Any number of bytes.
            time: When the last of them had arrived [s].
        """
        if not data:
            return []
        events: list[Event] = []
        self._buffer += data
        self._arrivals.note(self._offset + len(self._buffer), time)
        while self._read_single(events) and (found := find_mark(self._buffer)):
            self._read(found[0], events)
            rest = self._buffer.index(found[1])
            self._losses[STALE] += rest
            self._drop(rest + len(found[1]))
            self._begin(found[1], events)
        if self._single is None:
            self._read(len(self._buffer) - unfinished_mark(self._buffer), events)
        self._arrivals.forget(self._offset)
        return events

    def _begin(self, mark: bytes, events: list[Event]) -> None:
        self.end_scan()
        if mark == BANNER:
            events.append(Restarted())
            return
        answer, length = read_descriptor(mark)
        if answer in SCANS:
            self._scan = ScanDecoder(answer)
            events.append(ScanBegun(answer))
        else:
            self._single = answer, length

    def _read_single(self, events: list[Event]) -> bool:
        """Read an answer that is due; returns whether none is due any more."""
        if self._single is not None:
            answer, length = self._single
            if len(self._buffer) < length:
                return False
            events.append(SINGLE[answer].decode(bytes(self._buffer[:length])))
            self._drop(length)
            self._single = None
        return True

    def _read(self, end: int, events: list[Event]) -> None:
        """Decode samples up to an offset in the buffer, before which no mark is; without a scan, bytes are stale."""
        if self._scan is None:
            self._losses[STALE] += end
            self._drop(end)
            return
        data = np.frombuffer(bytes(self._buffer[:end]), np.uint8)
        samples = self._scan.decode(data, self._offset, self._arrivals, self.period)
        self._losses[:STALE] += self._scan.new_losses()
        if len(samples):
            events.append(samples)
        self._drop(self._scan.forget())

    def _drop(self, count: int) -> None:
        del self._buffer[:count]
        self._offset += count
