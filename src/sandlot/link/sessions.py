"""What a rover remembers of each controller, so that a reconnect loses no order and repeats none.

A controller numbers its orders 1, 2, 3 ... An order with a number that was taken already is not taken again: it is
acknowledged again, and its result, if there is one, is sent again. Results are kept until the controller confirms them.
"""

from collections import OrderedDict
from typing import Literal

from sandlot.link.messages import Result

MOST = 256
"""Sessions that are remembered; the one that was silent for longest is forgotten first."""
KEPT = 4096
"""Results that are kept of a session; the oldest are forgotten first."""


class Session:
    """A controller, across its connections.

    Attributes:
        id: That it has chosen.
        last: Number of the last order that was taken; 0 before the first.
        halted: Orders to move with lower numbers than this are ignored.
        heard: When it was last heard, by `time.monotonic` [s].
        results: Results by number of the order, which were not confirmed yet.
    """

    def __init__(self, name: str, now: float) -> None:
        """Begin with no orders."""
        self.id, self.last, self.halted, self.heard = name, 0, 0, now
        self.results: OrderedDict[int, Result] = OrderedDict()

    def judge(self, number: int) -> Literal["new", "again", "gap"]:
        """Whether an order with this number is new, was taken already, or shows that others are missing."""
        if number <= self.last:
            return "again"
        return "new" if number == self.last + 1 or self.last == 0 else "gap"

    def keep(self, result: Result) -> None:
        """Keep a result until it is confirmed."""
        self.results[result.N] = result
        if len(self.results) > KEPT:
            self.results.popitem(last=False)

    def confirm(self, number: int) -> None:
        """The controller has all results up to a number."""
        while self.results and next(iter(self.results)) <= number:
            self.results.popitem(last=False)


class Sessions:
    """All controllers that are remembered."""

    def __init__(self, most: int = MOST) -> None:
        """Remember at most so many."""
        self._known: dict[str, Session] = {}
        self._most = most

    def __len__(self) -> int:
        return len(self._known)

    def get(self, name: str) -> Session | None:
        """The session of a name, if it is remembered."""
        return self._known.get(name)

    def open(self, name: str, now: float) -> tuple[Session, bool]:
        """The session of a name, and whether it was known."""
        known = name in self._known
        if not known:
            if len(self._known) >= self._most:
                del self._known[min(self._known.values(), key=lambda each: each.heard).id]
            self._known[name] = Session(name, now)
        session = self._known[name]
        session.heard = now
        return session, known
