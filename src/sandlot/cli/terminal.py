"""Keys of a terminal, one at a time, for ``rover drive``."""

import os
import select
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from sandlot.errors import SandlotError

if TYPE_CHECKING:
    from sandlot.link.client import Client
    from sandlot.link.console import Console

SHOWN = 0.2
"""Between two reports on the screen [s]."""
LAST = 2.0
"""Longest time to wait for the last halt [s]."""
SILENT = ("forwards", "backwards", "left", "right", "halt", "on")
"""Words whose answer is not shown if all is well."""


def drive_by_keys(client: "Client", orders: "Console") -> None:
    """Drive until the key q; the last report is always shown."""
    from sandlot.link.console import KEYS, KEYS_HELP, describe

    print(KEYS_HELP)
    shown = 0.0
    with single_keys():
        while True:
            if time.monotonic() - shown > SHOWN:
                shown = time.monotonic()
                link = "" if client.connected else f"[no link: {client.problem}] "
                text = link + ("" if client.status is None else describe(client.status))
                sys.stdout.write(f"\r\x1b[K{text[:150]}")
                sys.stdout.flush()
            if not select.select([sys.stdin], [], [], 0.05)[0]:
                continue
            key = _key()
            if key in ("q", ""):
                with suppress(SandlotError):
                    client.halt().wait(LAST)
                break
            word = KEYS.get(key, "")
            if key == ":":
                word = _ask()
            if word.split()[:1] and word.split()[0] in SILENT:
                _show(orders.run(word, wait=False))
            elif word:  # keys are read meanwhile: a halt must not wait for an answer
                threading.Thread(target=lambda said=word: _show(orders.run(said)), daemon=True).start()
    print()


def _show(answer: str) -> None:
    """Write an answer above the last report."""
    if answer:
        sys.stdout.write(f"\r\x1b[K{answer}\n")


def _key() -> str:
    """A key. `sys.stdin` would read ahead, and a halt in its buffer would wait for the next key."""
    return os.read(sys.stdin.fileno(), 1).decode(errors="replace")


def _ask() -> str:
    """A word, typed after a colon, up to Enter."""
    sys.stdout.write("\r\x1b[K:")
    sys.stdout.flush()
    word = ""
    while (key := _key()) not in ("\n", "\r", ""):
        word = word[:-1] if key in ("\x7f", "\b") else word + key
        sys.stdout.write(f"\r\x1b[K:{word}")
        sys.stdout.flush()
    return word


@contextmanager
def single_keys() -> Iterator[None]:
    """Within, a key is read when it is pressed, and not after Enter."""
    try:
        import termios
        import tty
    except ImportError:
        raise SandlotError("keys need a terminal of Linux or macOS; use --do, or words from a pipe") from None
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
