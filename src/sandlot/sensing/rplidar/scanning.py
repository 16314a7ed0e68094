"""The turning head of an emulated lidar: what it measures, as packets, with the time at which each is complete."""

import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from sandlot.sensing.rplidar.answers import Answer
from sandlot.sensing.rplidar.capsules import DENSE, EXPRESS, ULTRA
from sandlot.sensing.rplidar.encoding import (
    Packets,
    encode_dense,
    encode_express,
    encode_nodes,
    encode_ultra,
    head_offsets,
)
from sandlot.sensing.rplidar.modes import ScanMode
from sandlot.sensing.rplidar.samples import DEGREE, TURN
from sandlot.sensing.rplidar.scan_decoder import CAPSULES
from sandlot.typing import Array, BoolArray, IntArray

View: TypeAlias = Callable[[Array, Array], Array]
"""Ranges (n,) [m], NaN without a return, of beams in directions (n,), counter-clockwise from the front of the lidar
[rad], at times (n,) [s]."""
USUAL_OFFSET = 7.5
"""Of a beam behind the head [degree]."""
QUALITY = 47
LONGEST = 2.0
"""A host that does not poll for longer loses the samples before [s]."""
FARTHEST = {Answer.STANDARD: 16383, Answer.EXPRESS: 16383, Answer.DENSE: 65535, Answer.ULTRA: 28656}
"""Distance that a packet can hold [mm]."""


class Head:
    """A head that turns clockwise.

    Laser and camera are apart, so a beam is measured some degrees behind the direction of the head, by how much depends
    on the distance. So samples of a standard scan are not in order, and a turn does not begin at the angle 0.

    Args:
        view: What it measures.
        turns: Per second [1/s].
    """

    def __init__(self, view: View, turns: float) -> None:
        self._view, self._turns = view, turns
        self._mode: ScanMode | None = None
        self._since, self._done = 0.0, 0
        self._last = 0.0  # direction of the head at the last sample of a standard scan [degree]
        self._next: int | None = None  # distance of the next sample of an ultra scan, if it is known already [mm]

    def begin(self, mode: ScanMode, time: float) -> None:
        """Measure from a time on, which may be infinite [s]."""
        self._mode, self._since, self._done, self._next = mode, time, 0, None
        self._last = self._direction(np.array([time if math.isfinite(time) else 0.0]))[0]

    def measure(self, now: float) -> Iterator[tuple[float, bytes]]:
        """The packets that were completed until a time [s], and when each was."""
        if self._mode is None or now <= self._since:
            return
        mode, per_packet = self._mode, 1
        if mode.answer in CAPSULES:
            per_packet = CAPSULES[mode.answer].samples
        ahead = 1 if mode.answer is Answer.ULTRA else 0  # the next sample must be known too
        late = int((now - LONGEST - self._since) / mode.period) // per_packet
        if late > self._done:
            self._done, self._next = late, None
        measured = int((now - self._since) / mode.period + 1e-6) - ahead
        count = measured // per_packet - self._done
        if count <= 0:
            return
        numbers = self._done * per_packet + 1.0 + np.arange(count * per_packet + ahead, dtype=np.float64)
        times = self._since + numbers * mode.period
        begins = np.arange(self._done, self._done + count) == 0
        self._done += count
        packets = self._packets(mode.answer, self._direction(times), times, begins)
        ready = times[per_packet - 1 + ahead :: per_packet]
        yield from zip(ready.tolist(), (packet.tobytes() for packet in packets), strict=True)

    def _direction(self, times: Array) -> Array:
        """Of the head, clockwise, not wrapped [degree]; its speed is not quite constant."""
        return 360.0 * self._turns * times + 1.5 * np.sin(2.0 * math.pi * 0.3 * times)

    def _distances(self, angles: Array, times: Array, farthest: int) -> IntArray:
        """Distances in directions, clockwise [degree]: (n,) [1/4 mm], 0 without a return."""
        bearings = np.radians(-np.mod(angles, 360.0))
        found = np.nan_to_num(self._view(bearings, times), nan=0.0, posinf=0.0)
        distances = np.round(4e3 * found).astype(np.int64)
        return np.where(distances // 4 <= farthest, distances, 0)

    def _packets(self, answer: Answer, heads: Array, times: Array, begins: BoolArray) -> Packets:
        """Packets of the samples at directions of the head, clockwise [degree]; of an ultra scan, one sample more."""
        farthest = FARTHEST[answer]
        if answer is Answer.DENSE:
            distances = self._distances(heads, times, farthest).reshape(-1, DENSE)
            return encode_dense(_starts(heads[::DENSE]), distances >> 2, begins)
        offsets = head_offsets(self._distances(heads - USUAL_OFFSET, times, farthest))
        if answer is Answer.STANDARD:
            angles = np.round((heads - offsets) * DEGREE).astype(np.int64)
            distances = self._distances(angles / DEGREE, times, farthest)
            turns = np.floor(np.concatenate([[self._last], heads]) / 360.0)
            self._last = heads[-1]
            return encode_nodes(angles % TURN, distances, np.where(distances > 0, QUALITY, 0), np.diff(turns) > 0)
        if answer is Answer.EXPRESS:
            eighths = np.round(8.0 * offsets).astype(np.int64)
            distances = self._distances(heads - eighths / 8.0, times, farthest).reshape(-1, EXPRESS)
            return encode_express(_starts(heads[::EXPRESS]), distances >> 2, eighths.reshape(-1, EXPRESS), begins)
        distances = self._distances(heads - offsets, times, farthest) >> 2
        if self._next is not None:
            distances[0] = self._next
        self._next = int(distances[-1])
        return encode_ultra(_starts(heads[:-1:ULTRA]), distances[:-1].reshape(-1, ULTRA), self._next, begins)


def _starts(heads: Array) -> IntArray:
    return np.round(heads * DEGREE).astype(np.int64) % TURN
