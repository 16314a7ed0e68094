"""Takes turns between connections in one event loop, so that a halt never waits for orders that came before it.

The loop reads all connections, then works for a short time, then reads again.
"""

import asyncio
from collections import deque
from collections.abc import Callable

AT_ONCE = 4
"""Pieces of work between two looks at all connections."""


class Turns:
    """Work that waits. Each piece of work does a little and returns whether there is more to do."""

    def __init__(self) -> None:
        """Begin with nothing to do."""
        self._waiting: deque[Callable[[], bool]] = deque()
        self._scheduled = False

    def add(self, work: Callable[[], bool]) -> None:
        """Let some work wait for its turn."""
        self._waiting.append(work)
        self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        self._scheduled = False
        try:
            for _ in range(min(AT_ONCE, len(self._waiting))):
                work = self._waiting.popleft()
                if work():
                    self._waiting.append(work)
        finally:
            if self._waiting:
                self._schedule()
