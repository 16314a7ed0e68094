"""Exceptions for mistakes that a user can make and correct.

A message is a single line that says what was wrong and what would be right; the command line prints just that line and
exits with status 2. Catch `SandlotError` for all of them, or one kind by its own class.
"""

import errno
from pathlib import Path

QUOTED = 80
"""At most so many characters of a bad input are repeated in a message."""
MAX_MESSAGE = 1000
"""Longer messages are cut, whatever they quote [characters]."""


class SandlotError(Exception):
    """A mistake that the user can correct; the message is one line."""

    def __init__(self, message: str) -> None:
        line = " ".join(message.split())
        super().__init__(line if len(line) <= MAX_MESSAGE else f"{line[: MAX_MESSAGE - 3]}...")


class SettingError(SandlotError):
    """A setting, an option or an argument is unknown or impossible."""


class LogError(SandlotError):
    """A log of a robot cannot be read."""


class RecordingError(SandlotError):
    """A recording cannot be read or written."""


class ModelError(SandlotError):
    """A fitted model or a controller cannot be read, written, or used for this."""


class DivergedError(ModelError):
    """A simulation has diverged: its state is no longer finite."""


class FitError(ModelError, ValueError):
    """A model cannot be fitted to these data or with these settings; a `ValueError` too, as scikit-learn expects."""


class PlaceError(SandlotError):
    """A terrain or a floor plan cannot be read, or has no room."""


class MapError(SandlotError):
    """Scans cannot be put into a map, or a robot cannot be located in one."""


class RobotError(SandlotError):
    """The description of a robot cannot be read, or is of no robot that can be built."""


class RobotWarning(UserWarning):
    """A part of a robot's description is left out, or may not do what its author meant."""


class DeviceError(SandlotError):
    """A device cannot be reached, does not answer, or reports a fault."""


class RunError(SandlotError):
    """A run of a study cannot be read, written or resumed."""


class LinkError(SandlotError):
    """A rover cannot be reached, refuses an order, or sends what cannot be understood."""


class HardwareError(SandlotError):
    """A part of a real robot does not answer, or must not do what was asked."""


class MissingExtraError(SandlotError):
    """An optional part of Sandlot is not installed."""


def quote(value: object) -> str:
    """A bad input as a message shows it: at most `QUOTED` characters."""
    try:
        text = str(value)
    except ValueError:  # Python refuses to write integers of more than 4,300 digits
        return "(a number of too many digits)"
    if len(text) <= QUOTED:
        return text
    # Of a long path, the end says more.
    return f"...{text[3 - QUOTED :]}" if isinstance(value, Path) else f"{text[: QUOTED - 3]}..."


def os_reason(error: OSError, path: str | Path) -> str:
    """Why the operating system refused to read or write ``path``; a full disk and a read-only medium are named."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left on the disk of {path}"
    if error.errno == errno.EFBIG:
        return f"no space left for {path}: it would exceed the largest file size allowed here"
    if error.errno == errno.EROFS:
        return f"{path} is on a read-only medium"
    return quote(error.strerror or error)
