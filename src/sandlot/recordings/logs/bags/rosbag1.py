"""Bags of ROS 1 (format 2.0): records of a header with named fields and data, most of them inside chunks."""

import io
import struct
from collections.abc import Iterator

from sandlot.recordings.logs.bags.compression import unpack
from sandlot.recordings.logs.bags.messages import ByteReader, Message, kind
from sandlot.recordings.logs.source import DamagedError, Source

MAGIC = b"#ROSBAG V2.0\n"
MESSAGE, CHUNK, CONNECTION = 2, 5, 7
MAX_HEADER = 2**20
MAX_CONNECTIONS = 10_000

Fields = dict[bytes, bytes]
Connections = dict[bytes, tuple[str, str]]
"""Topic and type of each connection."""


def read_rosbag1(source: Source) -> Iterator[Message]:
    """Read the messages of a bag of ROS 1, indexed or not, in file order.

    Raises:
        DamagedError: It cannot be read any further.
    """
    with source.explained(), source.path.open("rb") as file:
        bag = ByteReader(source, file, source.size)
        if bag.read_up_to(len(MAGIC)) != MAGIC:
            raise DamagedError(f"{source.path} does not begin like a ROS 1 bag of format 2.0")
        yield from _records(bag, {}, outside=True)


def _records(bag: ByteReader, connections: Connections, outside: bool) -> Iterator[Message]:
    while bag.left:
        if outside:
            bag.source.advance(bag.file.tell())
        fields = _fields(bag, _header(bag))
        length = _length(bag)
        op = fields.get(b"op", b"\0")[0:1]
        if op == bytes([MESSAGE]):
            data = bag.read(length)
            topic, name = connections.get(fields.get(b"conn", b""), ("", ""))
            if len(fields.get(b"time", b"")) != 8:
                raise bag.damaged("a message has no time")
            seconds, nanoseconds = struct.unpack("<II", fields[b"time"])
            yield Message(topic, kind(name), "ros1", seconds * 10**9 + nanoseconds, data)
        elif op == bytes([CONNECTION]):
            more = _fields(bag, bag.read(length))
            if len(connections) >= MAX_CONNECTIONS:
                raise bag.damaged(f"more than {MAX_CONNECTIONS:,} connections")
            topic, name = (
                part.decode(errors="replace") for part in (fields.get(b"topic", b""), more.get(b"type", b""))
            )
            connections[fields.get(b"conn", b"")] = (topic, name)
        elif op == bytes([CHUNK]) and outside:
            yield from _chunk(bag, fields, length, connections)
        else:
            bag.skip(length)


def _chunk(bag: ByteReader, fields: Fields, length: int, connections: Connections) -> Iterator[Message]:
    """The messages of a chunk, which may be cut off."""
    size = struct.unpack("<I", fields.get(b"size", b"\0\0\0\0").ljust(4, b"\0")[:4])[0]
    if size > bag.max_bytes:
        raise bag.damaged(f"a chunk of {size:,} bytes is too large")
    whole = length <= bag.left
    packed = bag.read_up_to(length)
    try:
        data = unpack(fields.get(b"compression", b"").decode(errors="replace"), packed, size)
    except ValueError as error:
        raise bag.damaged(str(error)) from error
    del packed
    bag.count_unpacked(len(data))
    yield from _records(ByteReader(bag.source, io.BytesIO(data), len(data)), connections, outside=False)
    if not whole or len(data) != size:
        raise bag.damaged("a chunk is not whole")


def _length(bag: ByteReader) -> int:
    return int.from_bytes(bag.read(4), "little")


def _header(bag: ByteReader) -> bytes:
    length = _length(bag)
    if length > MAX_HEADER:
        raise bag.damaged(f"a header of {length:,} bytes")
    return bag.read(length)


def _fields(bag: ByteReader, header: bytes) -> Fields:
    fields: Fields = {}
    place = 0
    while place < len(header):
        length = int.from_bytes(header[place : place + 4], "little")
        name, equals, value = header[place + 4 : place + 4 + length].partition(b"=")
        place += 4 + length
        if not equals or place > len(header):
            raise bag.damaged("a record has no header")
        fields[name] = value
    return fields
