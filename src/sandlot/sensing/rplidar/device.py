"""An emulated lidar: requests in, the bytes of a real device out, at the pace of its serial line.

What it measures comes from a view, such as of a floor plan. It has no input or output of its own: `serving` puts it
behind a pseudo-terminal or a TCP port.
"""

import math
import struct
from collections import deque
from dataclasses import dataclass

import numpy as np

from sandlot.sensing.rplidar.answers import (
    BANNER,
    AccessoryBoard,
    Answer,
    Configuration,
    Health,
    Info,
    Key,
    SampleRate,
    Status,
    descriptor,
)
from sandlot.sensing.rplidar.clock import BITS
from sandlot.sensing.rplidar.faults import Faults, Line
from sandlot.sensing.rplidar.modes import A1_MODES, S2_MODES, ScanMode
from sandlot.sensing.rplidar.requests import Command, Request, RequestReader
from sandlot.sensing.rplidar.scanning import Head, View

BOOT = 0.67
"""Time from a reset to the banner [s], as measured of an A1."""
SPIN_UP = 1.0
"""Time from switching the motor on to the first samples [s]."""


@dataclass(frozen=True)
class Kind:
    """A kind of device.

    Attributes:
        info: What it says about itself.
        modes: Its table of scan modes.
        typical: Number of the mode that it recommends.
        baud: Of its serial line [1/s].
        turns: Of its head per second, once it runs [1/s].
        accessory: Whether it has an accessory board that controls the motor. If not, the motor always runs: a
            pseudo-terminal has no line DTR, which controls the motor of an A1.
    """

    info: Info
    modes: tuple[ScanMode, ...]
    typical: int
    baud: int = 115200
    turns: float = 5.5
    accessory: bool = False


KINDS = {
    "A1": Kind(Info(0x18, (1, 29), 7, "5A4D4C4C" * 4), A1_MODES, 3),
    "A2": Kind(Info(0x28, (1, 29), 6, "A20000FF" * 4), A1_MODES, 3, 256000, 10.0, accessory=True),
    "S2": Kind(Info(0x71, (1, 1), 18, "52000001" * 4), S2_MODES, 1, 1_000_000, 10.0),
}


HEALTHY = Health(Status.GOOD, 0)


class Device:
    """An emulated lidar.

    Args:
        view: What it measures.
        kind: Of device.
        faults: Of its line to the host.
        health: At the beginning; a reset mends it.
        seed: Of the faults.

    Attributes:
        scanning: The mode in which it scans; None if it does not.
        health: What it says of its health.
    """

    def __init__(
        self,
        view: View,
        kind: Kind = KINDS["A1"],
        faults: Faults | None = None,
        health: Health = HEALTHY,
        seed: int = 0,
    ) -> None:
        self.kind, self.health = kind, health
        self.scanning: ScanMode | None = None
        self._faults = faults or Faults()
        self._head = Head(view, kind.turns)
        self._line = Line(self._faults, np.random.default_rng(seed))
        self._requests = RequestReader()
        self._queue: deque[tuple[float, bytes]] = deque()  # when each packet is ready [s]
        self._free = 0.0  # when the line has sent all before the queue [s]
        self._boots_until = -math.inf
        self._runs_since = math.inf if kind.accessory else -math.inf
        self._byte_time = BITS / kind.baud

    def receive(self, data: bytes, now: float) -> None:
        """Take bytes from the host at a time [s]."""
        self._advance(now)
        for request in self._requests.receive(data, now):
            if now >= self._boots_until:
                self._obey(request, now)

    def poll(self, now: float) -> bytes:
        """The bytes that have arrived at the host since the last call, at a time [s]."""
        self._advance(now)
        sent = bytearray()
        while self._queue:
            ready, packet = self._queue[0]
            begin = max(self._free, ready)
            count = min(len(packet), int((now - begin) / self._byte_time + 1e-6))
            if count <= 0:
                break
            sent += packet[:count]
            self._free = begin + count * self._byte_time
            if count < len(packet):
                self._queue[0] = ready, packet[count:]
                break
            self._queue.popleft()
        return self._line.carry(bytes(sent), now)

    def _advance(self, now: float) -> None:
        """Measure until a time [s]."""
        if self.scanning is not None:
            self._queue.extend(self._head.measure(now))

    def _send(self, data: bytes, ready: float) -> None:
        if data:
            self._queue.append((ready, data))

    def _answer(self, answer: Answer, data: bytes, now: float) -> None:
        self._send(descriptor(answer, len(data)) + data, now)

    def _end_scan(self, now: float) -> None:
        """Stop measuring; a packet that is on its way is finished, and as many stale bytes come as faults say."""
        if self.scanning is None:
            return
        self.scanning = None
        while len(self._queue) > 1:
            self._queue.pop()
        if self._faults.stale:
            stale = self._head.measure(now + 2.0 * self._faults.stale * self._byte_time)
            self._send(b"".join(packet for _, packet in stale)[: self._faults.stale], now)

    def _obey(self, request: Request, now: float) -> None:
        kind, payload, length = self.kind, request.payload, len(request.payload)
        if request.command not in (Command.SET_MOTOR_PWM, Command.SET_MOTOR_RPM):
            self._end_scan(now)
        match request.command:
            case Command.RESET:
                self._queue.clear()
                self._boots_until = now + BOOT
                self.health = HEALTHY
                major, minor = kind.info.firmware
                text = (
                    f"\r\nFirmware Ver {major}.{minor} - rtm, HW Ver {kind.info.hardware}\r\nModel: {kind.info.model:x}"
                )
                self._send(BANNER + text.encode() + b"\r\n", self._boots_until)
            case Command.GET_INFO:
                self._answer(Answer.INFO, kind.info.encode(), now)
            case Command.GET_HEALTH:
                self._answer(Answer.HEALTH, self.health.encode(), now)
            case Command.GET_SAMPLE_RATE:
                rate = SampleRate(kind.modes[0].period, kind.modes[min(1, len(kind.modes) - 1)].period)
                self._answer(Answer.SAMPLE_RATE, rate.encode(), now)
            case Command.GET_ACCESSORY_BOARD if kind.accessory:
                self._answer(Answer.ACCESSORY_BOARD, AccessoryBoard(True).encode(), now)
            case Command.GET_CONFIGURATION if length >= 4:
                self._configuration(payload, now)
            case Command.SET_MOTOR_PWM if kind.accessory and length == 2:
                runs = struct.unpack("<H", payload)[0] > 0
                self._runs_since = min(self._runs_since, now) if runs else math.inf
                if self.scanning is not None:
                    self._head.begin(self.scanning, self._runs_since + SPIN_UP)
            case Command.SCAN | Command.FORCE_SCAN:
                self._scan(kind.modes[0], now)
            case Command.EXPRESS_SCAN if length == 5:
                wanted = payload[0] or next((m.number for m in kind.modes if m.answer is Answer.EXPRESS), 0)
                if wanted < len(kind.modes):
                    self._scan(kind.modes[wanted], now)

    def _configuration(self, payload: bytes, now: float) -> None:
        key, number = struct.unpack("<I", payload[:4])[0], int.from_bytes(payload[4:6], "little")
        modes = self.kind.modes
        if key == Key.MODE_COUNT:
            value = struct.pack("<H", len(modes))
        elif key == Key.TYPICAL_MODE:
            value = struct.pack("<H", self.kind.typical)
        elif number >= len(modes):
            return
        elif key == Key.MODE_PERIOD:
            value = struct.pack("<I", round(modes[number].period * 256e6))
        elif key == Key.MODE_MAX_RANGE:
            value = struct.pack("<I", round(modes[number].max_range * 256))
        elif key == Key.MODE_ANSWER:
            value = bytes([modes[number].answer])
        elif key == Key.MODE_NAME:
            value = modes[number].name.encode() + b"\0"
        else:
            return
        self._answer(Answer.CONFIGURATION, Configuration(key, value).encode(), now)

    def _scan(self, mode: ScanMode, now: float) -> None:
        if self.health.status is Status.ERROR:
            return  # it protects itself until it is reset
        self.scanning = mode
        self._send(descriptor(mode.answer), now)
        self._head.begin(mode, max(now, self._runs_since + SPIN_UP))
