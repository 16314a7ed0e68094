"""Whether a reader takes an input well: fine or one line, within 10 s of processor time and 500 MB."""

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sandlot.errors import SandlotError

MAX_SECONDS = 10.0
MAX_MEMORY = 500e6
MAX_MESSAGE = 1000


class HangError(BaseException):
    """A reader took too long; no reader catches this."""


def check(read: Callable[[], object]) -> str:
    """Read once.

    Returns:
        The message of the reader, or an empty one if it took the input.

    Raises:
        AssertionError: The reader raised anything but a `SandlotError` of one short line, or took too much memory.
        HangError: It took too long.
    """
    message = ""
    before = _reset_peak()
    with _limited_time(), warnings.catch_warnings(action="ignore"):
        try:
            read()
        except SandlotError as error:
            message = str(error)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {str(error)[:200]}") from error
    assert len(message.splitlines()) <= 1, message
    assert len(message) <= MAX_MESSAGE, f"a message of {len(message)} characters: {message[:200]}"
    assert peak() - before < MAX_MEMORY, f"{peak() - before:,.0f} bytes of memory"
    return message


@contextmanager
def _limited_time() -> Iterator[None]:
    """Interrupt after `MAX_SECONDS` of processor time, which a busy machine does not use up."""

    def stop(number: int, frame: object) -> None:
        raise HangError(f"more than {MAX_SECONDS:g} s")

    handler = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, handler)


def _reset_peak() -> float:
    """Forget the peak of the memory in use, and return what is in use [bytes]; only Linux can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak() -> float:
    """Peak of the memory in use since the last check began [bytes]."""
    return _status("VmHWM")


def _status(name: str) -> float:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith(name)), 0.0)
