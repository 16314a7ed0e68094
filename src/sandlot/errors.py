"""Exceptions for mistakes that a user can make and mend.

A message is a single line that says what was wrong and what would be right; the command line prints just that line and
exits with status 2. Catch `SandlotError` for all of them, or one kind by its own class.
"""

QUOTED = 80
"""At most so many characters of a bad input are repeated in a message."""


class SandlotError(Exception):
    """A mistake that a user can mend; the message is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class SettingError(SandlotError):
    """A setting, an option or an argument is unknown or impossible."""


class LogError(SandlotError):
    """A log of a robot cannot be read."""


class RecordingError(SandlotError):
    """A recording cannot be read or written."""


class ModelError(SandlotError):
    """A fitted model or a controller cannot be read, written, or used for this."""


class PlaceError(SandlotError):
    """A terrain or a floor plan cannot be read, or has no room."""


class RunError(SandlotError):
    """A run of a study cannot be read, written or resumed."""


class MissingExtraError(SandlotError):
    """An optional part of Sandlot is not installed."""


def quote(value: object) -> str:
    """A bad input as a message shows it: at most `QUOTED` characters."""
    text = str(value)
    return text if len(text) <= QUOTED else f"{text[: QUOTED - 3]}..."
