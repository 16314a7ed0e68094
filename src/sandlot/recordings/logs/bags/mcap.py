"""MCAP files: records of a type byte, a length and data, most of them inside compressed chunks."""

import io
import struct
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from sandlot.recordings.logs.bags.compression import unpack
from sandlot.recordings.logs.bags.messages import ByteReader, Message, kind
from sandlot.recordings.logs.source import DamagedError, Source

MAGIC = b"\x89MCAP0\r\n"
FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END = 0x02, 0x03, 0x04, 0x05, 0x06, 0x0F


@dataclass
class _Known:
    """By their 16-bit numbers, the type of each schema, and the topic, type and encoding of each channel."""

    schemas: dict[int, str] = field(default_factory=dict)
    channels: dict[int, tuple[str, str, str]] = field(default_factory=dict)


def read_mcap(source: Source) -> Iterator[Message]:
    """Read the messages of an MCAP file of ROS 1 or 2, in file order; its end may be missing.

    Raises:
        DamagedError: It cannot be read any further.
    """
    with source.explained(), source.path.open("rb") as file:
        bag = ByteReader(source, file, source.path.stat().st_size)
        if bag.read_up_to(len(MAGIC)) != MAGIC:
            raise DamagedError(f"{source.path} does not begin like an MCAP file")
        ended = yield from _records(bag, _Known(), outside=True)
        if not ended:
            raise bag.damaged("its end is missing")


def _records(bag: ByteReader, known: _Known, outside: bool) -> Generator[Message, None, bool]:
    """All messages; returns whether the end-of-data record was reached."""
    while bag.left:
        if outside:
            bag.source.advance(bag.file.tell())
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


def _chunk(bag: ByteReader, length: int, known: _Known) -> Iterator[Message]:
    """The messages of a chunk, which may be cut off."""
    whole = length <= bag.left
    _, _, size, checksum, letters = struct.unpack("<QQQII", bag.read(32))
    method = bag.read(min(letters, 33)).decode(errors="replace")
    (packed,) = struct.unpack("<Q", bag.read(8))
    if letters > 32 or size > bag.max_bytes or 40 + letters + packed > length:
        raise bag.damaged(f"a chunk of {size:,} bytes contradicts itself or is too large")
    try:
        data = unpack(method, bag.read_up_to(packed), size)
    except ValueError as error:
        raise bag.damaged(str(error)) from error
    bag.count_unpacked(len(data))
    if checksum and whole and zlib.crc32(data) != checksum:
        raise bag.damaged("the checksum of a chunk is wrong")
    yield from _records(ByteReader(bag.source, io.BytesIO(data), len(data)), known, outside=False)
    if not whole or len(data) != size:
        raise bag.damaged("a chunk is not whole")
    bag.skip(length - 40 - letters - packed)


def _learn(bag: ByteReader, op: int, data: bytes, known: _Known) -> None:
    """Keep a schema or a channel."""
    record = ByteReader(bag.source, io.BytesIO(data), len(data))
    if op == SCHEMA:
        (number,) = struct.unpack("<H", record.read(2))
        known.schemas[number] = kind(_text(record))
    else:
        number, schema = struct.unpack("<HH", record.read(4))
        known.channels[number] = (_text(record), known.schemas.get(schema, ""), _text(record))


def _text(record: ByteReader) -> str:
    (length,) = struct.unpack("<I", record.read(4))
    return record.read(length).decode(errors="replace")
