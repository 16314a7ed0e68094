"""Decodes the packets of one scan, whatever their format, and gives every sample its time."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sandlot.sensing.rplidar import capsules
from sandlot.sensing.rplidar.answers import LENGTHS, Answer
from sandlot.sensing.rplidar.capsules import PREVIOUS, begin_capsules, find_capsules
from sandlot.sensing.rplidar.clock import Arrivals, steady
from sandlot.sensing.rplidar.modes import PERIODS
from sandlot.sensing.rplidar.nodes import (
    BREAKS,
    GAPS,
    LOST_BYTES,
    POSITION,
    Bytes,
    begin_nodes,
    decode_nodes,
    find_nodes,
)
from sandlot.sensing.rplidar.samples import Samples
from sandlot.typing import IntArray

SYNTHETIC_QUALITY = 0x2F
"""Of a sample with a return in a capsule, which holds no quality; as in the maker's driver."""


class Capsule(NamedTuple):
    """A format of capsules."""

    samples: int
    decode: Callable[..., None]


CAPSULES = {
    Answer.EXPRESS: Capsule(capsules.EXPRESS, capsules.decode_express),
    Answer.DENSE: Capsule(capsules.DENSE, capsules.decode_dense),
    Answer.ULTRA: Capsule(capsules.ULTRA, capsules.decode_ultra),
}


class ScanDecoder:
    """Decodes the packets of one scan.

    Attributes:
        answer: Format of the packets.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self._capsule = CAPSULES.get(answer)
        self._state: IntArray = begin_capsules() if self._capsule else begin_nodes()
        self._counted = np.zeros(3, np.int64)
        self._last_time = math.nan

    def decode(self, data: Bytes, offset: int, arrivals: Arrivals, period: float | None) -> Samples:
        """Decode what is complete.

        Args:
            data: Bytes since what `forget` has named, and new ones.
            offset: Of the data in the stream.
            arrivals: When bytes of the stream arrived.
            period: Time between two samples [s]; None for what is usual.
        """
        size, period = LENGTHS[self.answer], PERIODS[self.answer] if period is None else period
        found = np.empty((len(data) // size + 1, 2), np.int64)
        if self._capsule is None:
            count = find_nodes(data, self._state, found)
        else:
            count = find_capsules(data, size, self._state, found)
        at, lost = np.ascontiguousarray(found[:count].T)
        per_packet = 1 if self._capsule is None else self._capsule.samples
        times = np.empty(count)
        if count:
            arrived = arrivals.at(offset + at + (size - 1))
            steady(arrived, lost, per_packet * period, self._last_time, times)
            self._last_time = float(times[-1])
            times -= size * arrivals.byte_time
        if self._capsule is None:
            return Samples(times, *decode_nodes(data, at), lost.astype(np.bool_))
        angles, distances = np.empty((2, count * per_packet), np.int32)
        starts = np.empty(count * per_packet, np.bool_)
        self._capsule.decode(data, at, angles, distances, starts)
        qualities = np.where(distances > 0, SYNTHETIC_QUALITY, 0).astype(np.uint8)
        gaps = np.zeros((count, per_packet), np.bool_)
        gaps[:, 0] = lost
        # A capsule is sent when its last sample has been measured.
        each = times[:, None] - period * np.arange(per_packet - 1, -1, -1)
        return Samples(each.ravel(), angles, distances, qualities, starts, gaps.ravel())

    def new_losses(self) -> IntArray:
        """Lost bytes, breaks and gaps since the last call: (3,)."""
        now = self._state[[LOST_BYTES, BREAKS, GAPS]]
        new, self._counted = now - self._counted, now
        return new

    def forget(self) -> int:
        """How many bytes of the data are no longer needed; the next data must begin behind them."""
        count = int(self._state[POSITION])
        if self._capsule is not None and self._state[PREVIOUS] >= 0:
            count = int(self._state[PREVIOUS])
            self._state[PREVIOUS] -= count
        self._state[POSITION] -= count
        return count
