"""Answers of the lidar: descriptors, and what single answers hold, read from bytes and written to them.

A descriptor has 7 bytes: ``A5 5A``, a little-endian u32 with the length of each packet in its low 30 bits and 1 in the
next bit if packets go on, and a type.
"""

import enum
import re
import struct
from dataclasses import dataclass

BANNER = b"RP LIDAR System."
"""A device that has started says so; more text follows.

The banner and the descriptors of known answers are marks: something new begins, wherever in a stream they stand."""
MAX_CONFIGURATION = 128
"""Longest answer about the configuration that is believed [byte]."""


class Answer(enum.IntEnum):
    """Type of an answer."""

    INFO = 0x04
    HEALTH = 0x06
    SAMPLE_RATE = 0x15
    CONFIGURATION = 0x20
    STANDARD = 0x81
    EXPRESS = 0x82
    ULTRA = 0x84
    DENSE = 0x85
    ACCESSORY_BOARD = 0xFF


LENGTHS = {
    Answer.INFO: 20,
    Answer.HEALTH: 3,
    Answer.SAMPLE_RATE: 4,
    Answer.STANDARD: 5,
    Answer.EXPRESS: 84,
    Answer.ULTRA: 132,
    Answer.DENSE: 84,
    Answer.ACCESSORY_BOARD: 4,
}
"""Of each packet [byte]; those about the configuration differ."""
SCANS = (Answer.STANDARD, Answer.EXPRESS, Answer.ULTRA, Answer.DENSE)
"""Answers whose packets go on until the scan is stopped."""


class Key(enum.IntEnum):
    """Entries of the configuration."""

    DESIRED_ROTATION = 0x01
    MIN_ROTATION = 0x04
    MAX_ROTATION = 0x05
    MODE_COUNT = 0x70
    MODE_PERIOD = 0x71
    MODE_MAX_RANGE = 0x74
    MODE_ANSWER = 0x75
    TYPICAL_MODE = 0x7C
    MODE_NAME = 0x7F


def descriptor(answer: Answer, length: int | None = None) -> bytes:
    """The descriptor that announces an answer."""
    size = LENGTHS[answer] if length is None else length
    return b"\xa5\x5a" + struct.pack("<IB", size | (1 << 30 if answer in SCANS else 0), answer)


_FIXED = {descriptor(answer): (answer, LENGTHS[answer]) for answer in LENGTHS}
_ANY_CONFIGURATION = rb"\xa5\x5a[\x04-" + re.escape(bytes([MAX_CONFIGURATION])) + rb"]\x00\x00\x00\x20"
_DESCRIPTOR = re.compile(b"|".join([*map(re.escape, _FIXED), _ANY_CONFIGURATION]), re.DOTALL)


def find_mark(data: bytes | bytearray) -> tuple[int, bytes] | None:
    """Offset and bytes of the first mark; None if there is none."""
    banner = data.find(BANNER)
    at = data.find(b"\xa5\x5a")
    while at >= 0 and (banner < 0 or at < banner):
        if found := _DESCRIPTOR.match(data, at):
            return at, bytes(found[0])
        at = data.find(b"\xa5\x5a", at + 1)
    return None if banner < 0 else (banner, BANNER)


def read_descriptor(data: bytes) -> tuple[Answer, int]:
    """Type and packet length of a descriptor that `find_mark` has found."""
    return _FIXED.get(data) or (Answer.CONFIGURATION, data[2])


def unfinished_mark(data: bytes | bytearray) -> int:
    """How many bytes at the end of the data may be the beginning of a mark."""
    for size in range(min(len(BANNER) - 1, len(data)), 0, -1):
        tail = bytes(data[-size:])
        if BANNER.startswith(tail) or (size < 7 and _may_begin_descriptor(tail)):
            return size
    return 0


def _may_begin_descriptor(tail: bytes) -> bool:
    if any(each.startswith(tail) for each in _FIXED):
        return True
    if not b"\xa5\x5a".startswith(tail[:2]):
        return False
    return len(tail) < 3 or (4 <= tail[2] <= MAX_CONFIGURATION and not any(tail[3:]))


@dataclass(frozen=True, slots=True)
class Info:
    """What a lidar is.

    Attributes:
        model: Family in the high four bits, 1 to 3 for series A, 4 and 5 for C, 6 to 8 for S; 0x18 is an A1M8.
        firmware: Major and minor version.
        hardware: Revision.
        serial: 32 hexadecimal digits.
    """

    model: int
    firmware: tuple[int, int]
    hardware: int
    serial: str

    @classmethod
    def decode(cls, data: bytes) -> "Info":
        """From the 20 bytes of an answer."""
        return cls(data[0], (data[2], data[1]), data[3], data[4:20].hex().upper())

    def encode(self) -> bytes:
        """The 20 bytes of an answer."""
        return bytes([self.model, self.firmware[1], self.firmware[0], self.hardware]) + bytes.fromhex(self.serial)

    @property
    def series(self) -> str:
        """Letter of the family: A, C, S, T or M."""
        family = self.model >> 4
        return "A" if family < 4 else "C" if family < 6 else "S" if family < 9 else "T" if family < 12 else "M"

    @property
    def name(self) -> str:
        """As in ``A1M8``."""
        family, kind = self.model >> 4, self.model & 15
        first = {"A": 0, "C": 3, "S": 5, "T": 8, "M": 11}[self.series]
        return f"{self.series}{family - first}M{kind}"


class Status(enum.IntEnum):
    """Health of a lidar."""

    GOOD = 0
    WARNING = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Health:
    """Health of a lidar.

    Attributes:
        status: Of `Status`; any other number that a device sends counts as an error. An error means that the device
            has stopped to protect itself: it does not scan until it is reset.
        code: What is wrong, in the maker's own numbers; 0 if nothing is.
    """

    status: Status
    code: int

    @classmethod
    def decode(cls, data: bytes) -> "Health":
        """From the 3 bytes of an answer; the code is little-endian."""
        return cls(Status(min(data[0], Status.ERROR)), data[1] | data[2] << 8)

    def encode(self) -> bytes:
        """The 3 bytes of an answer."""
        return struct.pack("<BH", self.status, self.code)


@dataclass(frozen=True, slots=True)
class SampleRate:
    """Time between two samples, in standard and in express mode [s]."""

    standard: float
    express: float

    @classmethod
    def decode(cls, data: bytes) -> "SampleRate":
        """From the 4 bytes of an answer."""
        standard, express = struct.unpack("<HH", data)
        return cls(1e-6 * standard, 1e-6 * express)

    def encode(self) -> bytes:
        """The 4 bytes of an answer."""
        return struct.pack("<HH", round(1e6 * self.standard), round(1e6 * self.express))


@dataclass(frozen=True, slots=True)
class Configuration:
    """An entry of the configuration: its key, and its bytes, whose meaning depends on the key."""

    key: int
    payload: bytes

    @classmethod
    def decode(cls, data: bytes) -> "Configuration":
        """From the bytes of an answer, at least 4."""
        return cls(struct.unpack("<I", data[:4])[0], data[4:])

    def encode(self) -> bytes:
        """The bytes of an answer."""
        return struct.pack("<I", self.key) + self.payload

    @property
    def number(self) -> int:
        """The bytes as a little-endian number."""
        return int.from_bytes(self.payload[:4], "little")

    @property
    def text(self) -> str:
        """The bytes before the first zero as text."""
        return self.payload.partition(b"\0")[0].decode("ascii", "replace")


@dataclass(frozen=True, slots=True)
class AccessoryBoard:
    """Whether the board of an A2 or A3 controls the speed of the motor."""

    pwm: bool

    @classmethod
    def decode(cls, data: bytes) -> "AccessoryBoard":
        """From the 4 bytes of an answer."""
        return cls(bool(data[0] & 1))

    def encode(self) -> bytes:
        """The 4 bytes of an answer."""
        return struct.pack("<I", self.pwm)


SINGLE: dict[Answer, type[Info] | type[Health] | type[SampleRate] | type[Configuration] | type[AccessoryBoard]] = {
    Answer.INFO: Info,
    Answer.HEALTH: Health,
    Answer.SAMPLE_RATE: SampleRate,
    Answer.CONFIGURATION: Configuration,
    Answer.ACCESSORY_BOARD: AccessoryBoard,
}
"""What single answers are read as."""
