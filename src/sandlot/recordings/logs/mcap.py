"""MCAP files: records of a byte that says what they are, a length and data, most of them packed into chunks."""

import io
import struct
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from sandlot.recordings.logs.messages import Bytes, Message, kind, unpack
from sandlot.recordings.logs.source import DamagedError, Source

MAGIC = b"\x89MCAP0\r\n"
FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END = 0x02, 0x03, 0x04, 0x05, 0x06, 0x0F


@dataclass
class _Known:
    """Schemas, each with its name, and channels: topic, type and encoding of each; by their 16 bit numbers."""

    schemas: dict[int, str] = field(default_factory=dict)
    channels: dict[int, tuple[str, str, str]] = field(default_factory=dict)


def read_mcap(source: Source) -> Iterator[Message]:
    """Read the messages of an MCAP file of ROS 1 or 2, finished or not.

    Raises:
        DamagedError: It cannot be read any further.
    """
    with source.explained(), source.path.open("rb") as file:
        bag = Bytes(source, file, source.path.stat().st_size)
        if bag.rest(len(MAGIC)) != MAGIC:
            raise DamagedError(f"{source.path} does not begin as an MCAP file does")
        ended = yield from _records(bag, _Known(), outside=True)
        if not ended:
            raise bag.damaged("its end is missing")


def _records(bag: Bytes, known: _Known, outside: bool) -> Generator[Message, None, bool]:
    """All messages; returns whether the data came to its proper end."""
    while bag.left:
        if outside:
            bag.source.position = bag.file.tell()
        op, length = struct.unpack("<BQ", bag.read(9))
        if op == MESSAGE:
            data = bag.read(length)
            if length < 22:
                raise bag.damaged("a message is too short")
            channel, _, time, _ = struct.unpack_from("<HIQQ", data)
            topic, name, encoding = known.channels.get(channel, ("", "", ""))
            yield Message(topic, name, encoding, time, data[22:])
        elif op in (SCHEMA, CHANNEL):
            _learn(bag, op, bag.read(length), known)
        elif op == CHUNK and outside:
            yield from _chunk(bag, length, known)
        elif op in (DATA_END, FOOTER) and outside:
            return True
        else:
            bag.skip(length)
    return not outside


def _chunk(bag: Bytes, length: int, known: _Known) -> Iterator[Message]:
    """The messages of a chunk, of one that is cut off too."""
    whole = length <= bag.left
    _, _, size, checksum, letters = struct.unpack("<QQQII", bag.read(32))
    method = bag.read(min(letters, 33)).decode(errors="replace")
    (packed,) = struct.unpack("<Q", bag.read(8))
    if letters > 32 or size > bag.most or 40 + letters + packed > length:
        raise bag.damaged(f"a chunk of {size:,} bytes contradicts itself or is more than fits")
    try:
        data = unpack(method, bag.rest(packed), size)
    except ValueError as error:
        raise bag.damaged(str(error)) from error
    if checksum and whole and zlib.crc32(data) != checksum:
        raise bag.damaged("the checksum of a chunk is wrong")
    yield from _records(Bytes(bag.source, io.BytesIO(data), len(data)), known, outside=False)
    if not whole or len(data) != size:
        raise bag.damaged("a chunk is not whole")
    bag.skip(length - 40 - letters - packed)


def _learn(bag: Bytes, op: int, data: bytes, known: _Known) -> None:
    """Take note of a schema or a channel."""
    record = Bytes(bag.source, io.BytesIO(data), len(data))
    if op == SCHEMA:
        (number,) = struct.unpack("<H", record.read(2))
        known.schemas[number] = kind(_text(record))
    else:
        number, schema = struct.unpack("<HH", record.read(4))
        known.channels[number] = (_text(record), known.schemas.get(schema, ""), _text(record))


def _text(record: Bytes) -> str:
    (length,) = struct.unpack("<I", record.read(4))
    return record.read(length).decode(errors="replace")
