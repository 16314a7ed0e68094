"""Ctrl-C and SIGTERM stop a command, also while a kernel compiles.

Python raises ``KeyboardInterrupt`` wherever the program is. Inside a callback from C, as LLVM makes them while a kernel
compiles, the exception is lost. So the signal is remembered, and `check` raises again where a command makes progress.
"""

import logging
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_stopped = False


@contextmanager
def stoppable() -> Iterator[None]:
    """Within, SIGINT and SIGTERM raise ``KeyboardInterrupt`` and are remembered."""
    global _stopped
    _stopped = False
    before = {each: signal.signal(each, _stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def check() -> None:
    """Raise ``KeyboardInterrupt`` if a signal to stop has come."""
    if _stopped:
        raise KeyboardInterrupt


def _stop(number: int, frame: FrameType | None) -> None:
    global _stopped
    _stopped = True
    # The program ends now: what libraries left half done, as a thread that was being started, is not worth a warning.
    warnings.simplefilter("ignore")
    logging.disable()
    sys.unraisablehook = lambda _: None
    raise KeyboardInterrupt
