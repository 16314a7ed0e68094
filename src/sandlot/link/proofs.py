"""How rover and controller show each other that they know the token, without sending it.

Both choose a random number for each connection, so that nothing that was overheard can be used again. A proof is an
HMAC-SHA256 of both numbers, the session, the version and the side; proofs are compared in constant time.
"""

import hmac
import secrets
from typing import Literal

from sandlot.errors import LinkError
from sandlot.link.messages import VERSION

Side = Literal["rover", "controller"]
SHORTEST = 32
"""Of a token [characters]: the proofs of a short one could be guessed from what was overheard."""


def new_token() -> str:
    """256 random bits in hexadecimal digits."""
    return secrets.token_hex(32)


def check_token(token: str) -> str:
    """The token itself, if it is long enough.

    Raises:
        LinkError: If it is not.
    """
    if len(token) < SHORTEST or not token.isascii() or not token.isalnum():
        raise LinkError(f"a token has at least {SHORTEST} letters and digits; `sandlot rover keys` makes one")
    return token


def prove(token: str, side: Side, session: str, of_rover: str, of_controller: str) -> str:
    """The proof of a side.

    Args:
        token: That both know.
        side: Who proves.
        session: Of the controller.
        of_rover: Its random number.
        of_controller: Its random number.
    """
    said = f"sandlot rover link {VERSION} {side} {session} {of_rover} {of_controller}"
    return hmac.new(token.encode(), said.encode(), "sha256").hexdigest()


def proven(given: str, token: str, side: Side, session: str, of_rover: str, of_controller: str) -> bool:
    """Whether a proof is right."""
    return hmac.compare_digest(given, prove(token, side, session, of_rover, of_controller))
