"""A controller's end of one connection, without input or output: greeting, then what the rover says."""

import secrets
from typing import Any, NamedTuple

from numpy.typing import NDArray

from sandlot.errors import LinkError
from sandlot.link.data import unpack
from sandlot.link.framing import MAX_DATA, Framer
from sandlot.link.messages import VERSION, Challenge, Descriptor, FromRover, Hello, Proof, Refusal, read_rover
from sandlot.link.proofs import prove, proven

LONGEST = 1024 * 1024
"""Largest message of a rover [bytes]: a path may be long."""


class Received(NamedTuple):
    """What a rover has said: a message, and the array that it announces, if it is a descriptor."""

    message: FromRover
    array: NDArray[Any] | None = None


class Conversation:
    """Talks to a rover.

    Attributes:
        answers: Packets that are to be sent; whoever sends them empties the list.
    """

    def __init__(self, token: str, session: str) -> None:
        """Begin a connection."""
        self._token, self._session, self._nonce = token, session, secrets.token_hex(32)
        self._framer = Framer(LONGEST, 2 * MAX_DATA)
        self._announced: Descriptor | None = None
        self._proven = False
        self.answers: list[bytes] = []

    def greeting(self) -> bytes:
        """The first packet."""
        return Hello(version=VERSION, session=self._session, nonce=self._nonce).packet()

    def feed(self, data: bytes) -> list[Received]:
        """Take bytes as they come, and return what the rover has said.

        Raises:
            LinkError: If the rover refuses, does not know the token, or cannot be understood.
        """
        received = []
        for packet in self._framer.feed(data):
            if packet.kind == "data":
                if self._announced is None or not self._proven:
                    raise LinkError("data came that was not announced")
                announced, self._announced = self._announced, None
                received.append(Received(announced, unpack(packet.text, announced)))
                continue
            message = read_rover(packet.text)
            if isinstance(message, Refusal):
                raise LinkError(f"the rover refuses: {message.reason}")
            if isinstance(message, Challenge):
                self._answer(message)
            elif not self._proven:
                raise LinkError("the rover has not proven that it knows the token")
            elif isinstance(message, Descriptor):
                self._announced = message
            else:
                received.append(Received(message))
        if self._framer.noise:
            raise LinkError("what was sent is no message")
        return received

    def _answer(self, challenge: Challenge) -> None:
        if challenge.version != VERSION:
            raise LinkError(f"the rover speaks version {challenge.version} of the link, not {VERSION}")
        both = self._session, challenge.nonce, self._nonce
        if self._proven or not proven(challenge.proof, self._token, "rover", *both):
            raise LinkError("not authorised: the rover does not know the token")
        self._proven = True
        self.answers.append(Proof(proof=prove(self._token, "controller", *both)).packet())
