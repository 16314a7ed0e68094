"""The rover's end of one connection, without input or output: who is let in, and how much may be said.

Before the controller has proven that it knows the token, it may say two short messages and nothing else.
"""

import secrets
from typing import Literal

from sandlot.errors import LinkError
from sandlot.link.framing import MAX_MESSAGE, Framer
from sandlot.link.messages import VERSION, Challenge, FromController, Hello, Proof, read_controller
from sandlot.link.proofs import prove, proven

RATE, BURST = 1000.0, 2000.0
"""Messages a second of a connection, and how many at once."""
SHORT = 512
"""Largest message before the proof [bytes]."""
UNAUTHORISED = "not authorised"


class Gate:
    """Lets a controller in, and checks what it says.

    Attributes:
        session: Of the controller; empty until it has proven who it is.
        answers: Packets that are to be sent to it; whoever sends them empties the list.
        refused: Number of messages beyond the rate.
    """

    def __init__(self, token: str, now: float) -> None:
        """Begin a connection.

        Args:
            token: That the controller must know.
            now: Time [s].
        """
        self._token, self._framer = token, Framer(SHORT)
        self._state: Literal["hello", "proof", "open"] = "hello"
        self._hello: Hello | None = None
        self._nonce = secrets.token_hex(32)
        self._budget, self._time = BURST, now
        self.session, self.refused = "", 0
        self.answers: list[bytes] = []

    @property
    def open(self) -> bool:
        """Whether the controller was let in."""
        return self._state == "open"

    @property
    def waiting(self) -> int:
        """Bytes of a message that is not complete."""
        return self._framer.waiting

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes as they come, and return the texts of complete messages.

        Raises:
            LinkError: If the bytes are no messages; the connection must be closed.
        """
        packets = self._framer.feed(data)
        if self._framer.noise:
            raise LinkError("what was sent is no message" if self.open else UNAUTHORISED)
        if any(packet.kind != "message" for packet in packets):
            raise LinkError("a controller sends no data")
        if not self.open and len(packets) > 2:
            raise LinkError(UNAUTHORISED)
        return [packet.text for packet in packets]

    def read(self, text: bytes) -> FromController | None:
        """Check a message; None if it belongs to the greeting.

        Raises:
            LinkError: If it must not be said; the connection must be closed.
        """
        if self.open:
            message = read_controller(text)
            if isinstance(message, Hello | Proof):
                raise LinkError(f"{message.type} comes first, and once")
            return message
        try:
            message = read_controller(text)
        except LinkError:
            raise LinkError(UNAUTHORISED) from None
        if self._state == "hello" and isinstance(message, Hello):
            if message.version != VERSION:
                raise LinkError(f"the rover speaks version {VERSION} of the link, the controller {message.version}")
            self._hello, self._state = message, "proof"
            own = prove(self._token, "rover", message.session, self._nonce, message.nonce)
            self.answers.append(Challenge(version=VERSION, nonce=self._nonce, proof=own).packet())
            return None
        if self._state == "proof" and isinstance(message, Proof) and self._hello is not None:
            hello = self._hello
            if proven(message.proof, self._token, "controller", hello.session, self._nonce, hello.nonce):
                self._state, self.session = "open", hello.session
                self._framer.allow(MAX_MESSAGE)
                return None
        raise LinkError(UNAUTHORISED)

    def allow(self, now: float) -> bool:
        """Whether a message that has come now [s] is within the rate."""
        self._budget = min(self._budget + (now - self._time) * RATE, BURST)
        self._time = now
        if self._budget >= 1.0:
            self._budget -= 1.0
            return True
        self.refused += 1
        return False
