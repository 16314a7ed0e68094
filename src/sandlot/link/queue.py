"""The queue of orders (6.2.2): those with priority first, each kind in the order in which they came.

The server puts orders in and halts them, the executor takes them out; any thread may call any method.
"""

import threading
from collections import Counter, deque
from dataclasses import dataclass

from sandlot.link.messages import Halt, ModeChange, Order

HALTED = "halted"
"""Why an order stops that a controller has halted."""
MOST = 10_000
"""Orders that may wait; more are refused."""


@dataclass(eq=False, slots=True)
class Entry:
    """An order on its way.

    Attributes:
        session: Who gave it.
        order: What to do.
        stop: Why it must stop now; empty if it may go on.
        watched: Whose silence stops the rover: who gave the order, or who let the rover go on.
    """

    session: str
    order: Order
    stop: str = ""
    watched: str = ""

    def __post_init__(self) -> None:
        self.watched = self.watched or self.session


class Queue:
    """Orders that wait, and the one that is executed.

    Attributes:
        current: The order that is executed now.
        standing: An order that goes on whenever no other is executed: to explore. A halt ends it as well.
        held: Why no order that moves is begun; empty if they are.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self.current: Entry | None = None
        self.standing: Entry | None = None
        self.held = ""
        self._first: deque[Entry] = deque()
        self._later: deque[Entry] = deque()
        self._moving: Counter[str] = Counter()
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._first) + len(self._later)

    def put(self, session: str, order: Order) -> str:
        """Let an order wait; returns why it is refused, if it is.

        A mode change waits for all before it, whatever its priority.
        """
        with self._changed:
            if len(self) >= MOST:
                return f"{MOST:,} orders wait already"
            if order.moves and any(count for other, count in self._moving.items() if other != session):
                return "another controller is driving; a halt ends its orders"
            entry = Entry(session, order)
            first = order.priority and not isinstance(order, ModeChange)
            (self._first if first else self._later).append(entry)
            if order.moves:
                self._moving[session] += 1
            self._changed.notify()
        return ""

    def take(self, quick: bool = False, wait: float = 0.0) -> Entry | None:
        """The next order, which is then executed; None if there is none.

        Args:
            quick: Take it only if it may be executed in the middle of a move; the move remains the current order.
            wait: At most so long for an order [s].
        """
        with self._changed:
            entry = self._next(quick)
            if entry is None and wait > 0.0:
                self._changed.wait(wait)
                entry = self._next(quick)
            if entry is not None:
                (self._first if entry in self._first else self._later).remove(entry)
                if not quick:
                    self.current = entry
            return entry

    def front(self) -> Entry | None:
        """The next order, which goes on waiting."""
        with self._changed:
            return self._next(quick=False)

    def done(self, entry: Entry) -> None:
        """An order has ended."""
        with self._changed:
            if entry.order.moves:
                self._forget(entry)
            if self.current is entry:
                self.current = None

    def put_back(self, entry: Entry) -> bool:
        """Let the order that is executed wait again, before all others, unless it was halted; returns whether."""
        with self._changed:
            if not self.held or entry.stop == HALTED:
                return False
            entry.stop = ""
            self._first.appendleft(entry)
            if self.current is entry:
                self.current = None
            return True

    def begin(self, entry: Entry) -> bool:
        """Make the standing order the current one, unless it was halted; returns whether."""
        with self._changed:
            if entry.stop == HALTED:
                return False
            entry.stop, self.current = "", entry
            return True

    def halt(self, order: Halt) -> list[Entry]:
        """Stop the current and the standing order; with priority, also forget all that wait and move. Returns those."""
        with self._changed:
            if self.current is not None and not self.current.order.quick:
                self.current.stop = HALTED
            if self.standing is not None:
                self.standing.stop = HALTED
            if not order.priority:
                return []
            dropped = [entry for entry in (*self._first, *self._later) if entry.order.moves]
            for entry in dropped:
                self._forget(entry)
            self._first = deque(entry for entry in self._first if not entry.order.moves)
            self._later = deque(entry for entry in self._later if not entry.order.moves)
            return dropped

    def hold(self, reason: str) -> None:
        """Stop the current order, and begin none that moves until told to go on."""
        with self._changed:
            self.held = reason
            if self.current is not None and not self.current.order.quick:
                self.current.stop = self.current.stop or reason

    def go_on(self, session: str) -> None:
        """Begin orders that move again, and stop them when this session is silent."""
        with self._changed:
            self.held = ""
            for entry in (*self._first, *self._later, *((self.standing,) if self.standing else ())):
                entry.watched = session
            self._changed.notify()

    def _next(self, quick: bool) -> Entry | None:
        if self.held:
            return self._while_held(quick)
        line = self._first or self._later
        return line[0] if line and (line[0].order.quick or not quick) else None

    def _while_held(self, quick: bool) -> Entry | None:
        """Moves wait; quick orders pass them, and the mode changes if no move waits before that."""
        waits = quick
        for entry in (*self._first, *self._later):
            if entry.order.quick or not (entry.order.moves or waits):
                return entry
            waits = waits or entry.order.moves
        return None

    def _forget(self, entry: Entry) -> None:
        self._moving[entry.session] -= 1
        if self._moving[entry.session] <= 0:
            del self._moving[entry.session]
