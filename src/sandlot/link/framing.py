"""Packets in a stream of bytes, as the source frames them (6.2.1): bytes in, packets out, no input or output.

A packet is a header, JSON text and a trailer. Neither header nor trailer can occur within the text: `frame` writes the
first letter of such words as an escape sequence of JSON, and only strings can hold them.
"""

from dataclasses import dataclass
from typing import Literal

from sandlot.errors import LinkError

Kind = Literal["message", "data"]
HEADERS: dict[Kind, bytes] = {"message": b"BEGIN TFG MSG", "data": b"BEGIN TFG DATA"}
TRAILERS: dict[Kind, bytes] = {"message": b"END TFG MSG", "data": b"END TFG DATA"}
BEGIN = b"BEGIN TFG "
"""What both headers begin with."""
ESCAPES = ((b"BEGIN TFG", b"\\u0042EGIN TFG"), (b"END TFG", b"\\u0045ND TFG"))
BLANK = b" \t\r\n"
MAX_MESSAGE, MAX_DATA = 16 * 1024, 16 * 1024 * 1024
"""Largest text of a message and of a data packet [bytes]."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet that has arrived as a whole.

    Attributes:
        kind: Of its header.
        text: What was between header and trailer.
    """

    kind: Kind
    text: bytes


def frame(kind: Kind, text: bytes) -> bytes:
    """A packet as bytes.

    Args:
        kind: Of its header.
        text: JSON, as UTF-8 or ASCII.
    """
    for word, escaped in ESCAPES:
        if word in text:
            text = text.replace(word, escaped)
    return HEADERS[kind] + text + TRAILERS[kind]


class Framer:
    """Cuts a stream of bytes into packets.

    Bytes outside of packets are skipped and counted; so is a packet that is cut off by the header of the next one.

    Attributes:
        noise: Number of bytes that were skipped; white space between packets does not count.
    """

    def __init__(self, max_message: int = MAX_MESSAGE, max_data: int = 0) -> None:
        """Begin a stream.

        Args:
            max_message: Largest text of a message [bytes].
            max_data: Largest text of a data packet [bytes]; 0 refuses data packets.
        """
        self.noise = 0
        self._limits: dict[Kind, int] = {"message": max_message, "data": max_data}
        self._buffer, self._searched = bytearray(), 0
        self._kind: Kind | None = None

    def allow(self, max_message: int) -> None:
        """From now on, messages may have so many bytes."""
        self._limits["message"] = max_message

    @property
    def waiting(self) -> int:
        """Bytes of a packet that is not complete."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[Packet]:
        """Take bytes as they come, and return the packets that they complete.

        Raises:
            LinkError: If a packet is larger than allowed; the stream cannot be read any further.
        """
        buffer, packets = self._buffer, []
        buffer += data
        while self._begun():
            assert self._kind is not None
            kind, limit = self._kind, self._limits[self._kind]
            trailer = TRAILERS[kind]
            end = buffer.find(trailer, self._searched)
            again = buffer.find(BEGIN, self._searched, end if end >= 0 else len(buffer))
            if again >= 0:  # the rest of this packet was lost
                self._skip(again)
                self._kind = None
                continue
            if (end if end >= 0 else len(buffer) - len(trailer)) > limit:
                raise LinkError(f"a {kind} packet has more than the {limit:,} bytes that are allowed")
            if end < 0:
                self._searched = max(len(buffer) - max(len(trailer), len(BEGIN)) + 1, 0)
                break
            packets.append(Packet(kind, bytes(buffer[:end])))
            del buffer[: end + len(trailer)]
            self._kind = None
        return packets

    def _begun(self) -> bool:
        """Find the next header and take it off the buffer; returns whether a packet has begun."""
        if self._kind is not None:
            return True
        buffer, longest = self._buffer, max(map(len, HEADERS.values()))
        while True:
            at = buffer.find(BEGIN)
            if at < 0:  # the last bytes may be the first ones of a header
                keep = next((n for n in range(len(BEGIN) - 1, 0, -1) if buffer.endswith(BEGIN[:n])), 0)
                self._skip(len(buffer) - keep)
                return False
            self._skip(at)
            for kind, header in HEADERS.items():
                if buffer.startswith(header):
                    del buffer[: len(header)]
                    self._kind, self._searched = kind, 0
                    return True
            if len(buffer) < longest and any(header.startswith(buffer) for header in HEADERS.values()):
                return False
            self._skip(len(BEGIN))

    def _skip(self, count: int) -> None:
        if count > 0:
            skipped = self._buffer[:count]
            self.noise += count - sum(skipped.count(each) for each in BLANK)
            del self._buffer[:count]
