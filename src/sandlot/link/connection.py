"""One connection of a controller to the rover's server."""

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING, cast

from sandlot.errors import LinkError
from sandlot.link.gate import UNAUTHORISED, Gate
from sandlot.link.messages import Halt, Heartbeat, Order, Refusal, Welcome
from sandlot.link.sessions import Session

if TYPE_CHECKING:
    from sandlot.link.server import Server

AT_ONCE = 16
"""Messages of a connection that are handled before others have their turn."""
BACKLOG = 1024 * 1024
"""Bytes of messages that wait; the connection is not read while there are more, until half of them are left."""
GREETING = 5.0
"""Time for a controller to prove who it is, and for the rest of a message that has begun [s]."""
SILENT = 10.0
"""A connection without a word for so long is closed [s]."""
SLOW, STUCK = 256 * 1024, 2 * 1024 * 1024
"""Of bytes that a controller has not read: reports are left out, and the connection is cut."""
CONNECTIONS = 128
"""At most so many at a time."""
HALT = b"HALT_OVERRIDE"


class Connection(asyncio.Protocol):
    """Reads messages, and handles some of them whenever the server gives it a turn; a halt goes before all others.

    Attributes:
        session: Of the controller, once it was let in.
        since: When the connection was made, by `time.monotonic` [s].
    """

    def __init__(self, server: "Server") -> None:
        """Belong to a server."""
        self._server, self.session = server, cast(Session | None, None)
        self._gate = Gate(server.token, time.monotonic())
        self._transport: asyncio.Transport | None = None
        self._texts: deque[tuple[bytes, bool]] = deque()  # and whether they came within the rate
        self._out: list[bytes] = []
        self.since = self._heard = self._begun = time.monotonic()
        self._closed, self._waiting = False, 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast(asyncio.Transport, transport)
        if len(self._server.connections) >= CONNECTIONS:
            # Those who know the token prove it at once; whoever has waited longest for that makes room.
            waiting = min((each for each in self._server.connections if each.session is None), key=_since, default=self)
            waiting.abort()
            self._server.connections.discard(waiting)
            if waiting is self:
                return
        self._server.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        """End."""
        self._closed = True
        self._server.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        """Take bytes; act on a halt at once, and on all others in turn, after all connections were read."""
        if self._closed:
            return
        try:
            texts = self._gate.feed(data)
            if texts or not self._gate.waiting:
                self._begun = time.monotonic()
            if self._gate.open:
                self._halt_first(texts)
        except LinkError as problem:
            self.refuse(str(problem))
            return
        if texts and not self._texts:
            self._server.turns.add(self.work)
        now = time.monotonic()
        self._texts += [(text, self._gate.allow(now)) for text in texts]
        self._waiting += sum(map(len, texts))
        if self._waiting > BACKLOG and self._transport is not None:
            self._transport.pause_reading()

    def say(self, packet: bytes, optional: bool = False) -> None:
        """Send a packet; an optional one is left out if the controller reads slowly, or was not let in."""
        if self._closed or self._transport is None or (optional and self.session is None):
            return
        waiting = self._transport.get_write_buffer_size()
        if waiting > STUCK:
            self.abort()
        elif not (optional and waiting > SLOW):
            self._out.append(packet)

    def abort(self) -> None:
        """Close at once."""
        self._closed = True
        if self._transport is not None:
            self._transport.abort()

    def flush(self) -> None:
        """Send what was said."""
        if self._out and self._transport is not None and not self._closed:
            self._transport.write(b"".join(self._out))
        self._out.clear()

    def refuse(self, reason: str) -> None:
        """Say why, and close."""
        if not self._closed and self._transport is not None:
            self.say(Refusal(reason=reason).packet())
            self.flush()
            self._transport.close()
        self._closed = True
        self._server.connections.discard(self)

    def mind(self, now: float) -> None:
        """Close the connection if it is half open or too slow."""
        if self._transport is None or self._closed:
            return
        late = not self._gate.open and now - self.since > GREETING
        slow = self._gate.waiting > 0 and self._transport.is_reading() and now - self._begun > GREETING
        if late or slow or now - self._heard > SILENT:
            self.refuse(UNAUTHORISED if late else "too slow" if slow else "silent")
            if self._transport.get_write_buffer_size():
                self._transport.abort()

    def _halt_first(self, texts: list[bytes]) -> None:
        """Act on halts among messages that wait; they are acknowledged in their turn."""
        for text in texts:
            if HALT in text:
                message = self._gate.read(text)
                if isinstance(message, Halt) and self.session is not None and self.session.last < message.N:
                    self._server.halt(self.session, message)

    def work(self) -> bool:
        """Handle some of the messages that wait; returns whether there are more."""
        if self._closed or self._transport is None:
            return False
        try:
            for _ in range(min(AT_ONCE, len(self._texts))):
                text, within = self._texts.popleft()
                self._waiting -= len(text)
                self._handle(text, within)
        except LinkError as problem:
            self.refuse(str(problem))
            return False
        except Exception:  # a fault of the program ends one connection, not all
            self.abort()
            raise
        self.flush()
        if self._waiting <= BACKLOG // 2 and not self._transport.is_reading():
            self._begun = time.monotonic()  # it was not slow: it was not read
            self._transport.resume_reading()
        return bool(self._texts)

    def _handle(self, text: bytes, within: bool) -> None:
        was_open = self._gate.open
        message = self._gate.read(text)
        now = self._heard = time.monotonic()
        self._out += self._gate.answers
        self._gate.answers.clear()
        if self._gate.open and not was_open:
            self._welcome(now)
        if message is None or self.session is None:
            return
        self.session.heard = now
        if isinstance(message, Heartbeat):
            self.session.confirm(message.N)
        else:
            self._server.receive(self, self.session, cast(Order, message), within)

    def _welcome(self, now: float) -> None:
        self.session, known = self._server.sessions.open(self._gate.session, now)
        for other in list(self._server.connections):
            if other is not self and other.session is self.session:
                other.refuse("the controller has connected again")
        self.say(Welcome(N=self.session.last, boot=self._server.boot, known=known).packet() + self._server.last_status)
        for result in self.session.results.values():
            self.say(result.packet())


def _since(connection: Connection) -> float:
    return connection.since
