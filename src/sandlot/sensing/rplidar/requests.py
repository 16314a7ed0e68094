"""Requests to the lidar, as bytes, and how a device reads them back.

A request is ``A5 command``; a command above 0x80 is followed by a length, a payload and the exclusive or of all bytes
before.
"""

import enum
import struct
from dataclasses import dataclass

from sandlot.sensing.rplidar.answers import Key

START = 0xA5
HAS_PAYLOAD = 0x80
PATIENCE = 5.0
"""A device forgets a request whose bytes do not all arrive within this time [s]."""


class Command(enum.IntEnum):
    """What a request asks for."""

    STOP = 0x25
    RESET = 0x40
    SCAN = 0x20
    FORCE_SCAN = 0x21
    GET_INFO = 0x50
    GET_HEALTH = 0x52
    GET_SAMPLE_RATE = 0x59
    EXPRESS_SCAN = 0x82
    GET_CONFIGURATION = 0x84
    SET_CONFIGURATION = 0x85
    SET_MOTOR_RPM = 0xA8
    SET_MOTOR_PWM = 0xF0
    GET_ACCESSORY_BOARD = 0xFF


@dataclass(frozen=True, slots=True)
class Request:
    """A request that a device has received."""

    command: int
    payload: bytes = b""

    def encode(self) -> bytes:
        """The bytes that a host sends."""
        head = bytes([START, self.command])
        if not self.command & HAS_PAYLOAD:
            return head
        body = head + bytes([len(self.payload)]) + self.payload
        return body + bytes([checksum(body)])


def checksum(data: bytes) -> int:
    """Exclusive or of all bytes."""
    result = 0
    for each in data:
        result ^= each
    return result


def plain(command: Command) -> bytes:
    """A request without arguments."""
    return Request(command).encode()


def express_scan(mode: int = 0) -> bytes:
    """Begin to scan in a mode of the device's table; 0 is legacy express, which all have since firmware 1.17."""
    return Request(Command.EXPRESS_SCAN, struct.pack("<BHH", mode, 0, 0)).encode()


def get_configuration(key: Key, mode: int | None = None) -> bytes:
    """Ask for an entry of the configuration, or for that of a scan mode."""
    argument = b"" if mode is None else struct.pack("<H", mode)
    return Request(Command.GET_CONFIGURATION, struct.pack("<I", key) + argument).encode()


def motor_pwm(pwm: int) -> bytes:
    """Set the motor of an A2 or A3 with an accessory board: 0 stops it, 660 is usual, 1023 the most."""
    return Request(Command.SET_MOTOR_PWM, struct.pack("<H", pwm)).encode()


def motor_rpm(rpm: int) -> bytes:
    """Set the motor of a lidar of the series S or C [1/min]; 0 stops it."""
    return Request(Command.SET_MOTOR_RPM, struct.pack("<H", rpm)).encode()


def accessory_board() -> bytes:
    """Ask for what the accessory board can do."""
    return Request(Command.GET_ACCESSORY_BOARD, struct.pack("<I", 0)).encode()


class RequestReader:
    """Finds requests in the bytes that a device receives; broken ones are dropped."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._since = 0.0

    def receive(self, data: bytes, time: float = 0.0) -> list[Request]:
        """The requests that are complete now; ``time`` is that of arrival [s]."""
        if self._buffer and time - self._since > PATIENCE:
            self._buffer.clear()
        if not self._buffer:
            self._since = time
        self._buffer += data
        found: list[Request] = []
        while (start := self._buffer.find(START)) >= 0:
            del self._buffer[:start]
            if len(self._buffer) < 2:
                return found
            command, size = self._buffer[1], 2
            if command & HAS_PAYLOAD:
                if len(self._buffer) < 3 or len(self._buffer) < (size := 4 + self._buffer[2]):
                    return found
                if checksum(bytes(self._buffer[: size - 1])) != self._buffer[size - 1]:
                    del self._buffer[:1]
                    continue
            found.append(Request(command, bytes(self._buffer[3 : size - 1]) if command & HAS_PAYLOAD else b""))
            del self._buffer[:size]
        self._buffer.clear()
        return found
