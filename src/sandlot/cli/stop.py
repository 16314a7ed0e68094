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
    disabled, hook = logging.root.manager.disable, sys.unraisablehook
    try:
        with warnings.catch_warnings():
            yield
    finally:
        logging.disable(disabled)
        sys.unraisablehook = hook
        for each, handler in before.items():
            signal.signal(each, handler)


def check() -> None:
    """Raise ``KeyboardInterrupt`` if a signal to stop has come."""
    if _stopped:
        raise KeyboardInterrupt


def _stop(number: int, frame: FrameType | None) -> None:
    global _stopped
    _stopped = True
    # The command ends now. Libraries warn about threads and files that they could not finish; hide these warnings.
    warnings.simplefilter("ignore")
    logging.disable()
    sys.unraisablehook = lambda _: None
    raise KeyboardInterrupt
