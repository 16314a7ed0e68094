"""The rover's server: takes orders from controllers over TCP, and tells them what happens.

One event loop serves all connections; the executor (`sandlot.link.executor`) has a thread of its own. A controller that
reads slowly misses reports, and is cut off in the end; it never stops the rover or another controller.
"""

import asyncio
import contextlib
import os
import secrets
import ssl
import sys
import time
from collections import deque
from typing import Any

from numpy.typing import NDArray

from sandlot.control.navigation.near import Avoidance
from sandlot.errors import LinkError
from sandlot.link.connection import GREETING, Connection
from sandlot.link.data import pack
from sandlot.link.executor import Executor, Outcome
from sandlot.link.messages import PORT, Acknowledgement, Descriptor, Halt, Order, Result, Status
from sandlot.link.proofs import check_token
from sandlot.link.queue import Entry
from sandlot.link.recording import Recorder
from sandlot.link.sessions import Session, Sessions
from sandlot.link.turns import Turns
from sandlot.robots.driver import Driver, Sensed
from sandlot.robots.hardware.board import Board

DEAD_MAN = 1.0
"""A moving rover stops if its controller says nothing for so long [s]."""
PRIORITY = -10
"""Of the process that serves a rover, if the system allows it."""
SWITCH = 0.0005
"""How long a thread may calculate while another waits [s]; Python's 5 ms would add up."""


class Server:
    """Serves a rover.

    Attributes:
        address: Host and port, once it is open.
        executor: Of the orders.
        sessions: Of controllers.
        connections: That are open.
        turns: In which they work.
        last_status: The last report, as a packet.
        boot: Another one at each start.
    """

    def __init__(
        self,
        driver: Driver,
        token: str,
        board: Board | None = None,
        pace: float = 0.0,
        recorder: Recorder | None = None,
        avoidance: Avoidance | None = None,
    ) -> None:
        """Take a rover at rest.

        Args:
            driver: The rover.
            token: That controllers must know.
            board: Of its power; simulated if not given.
            pace: Simulated seconds in a second; 0 for a real rover, or to simulate as fast as possible.
            recorder: Records everything, if given.
            avoidance: If given, it steers near obstacles while the rover navigates.

        Raises:
            LinkError: If the token is too short.
        """
        self.token, self.boot = check_token(token), secrets.token_hex(16)
        self.sessions, self.connections, self.turns = Sessions(), set[Connection](), Turns()
        self.executor = Executor(driver, self, board, pace, avoidance)
        self.recorder = recorder
        self.address, self.last_status = ("", 0), b""
        self._words: deque[tuple[str | None, Any, bool]] = deque()
        self._scheduled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: asyncio.Server | None = None

    async def open(self, host: str = "127.0.0.1", port: int = PORT, tls: ssl.SSLContext | None = None) -> None:
        """Begin to serve.

        Raises:
            LinkError: If the address cannot be used.
        """
        self._loop = asyncio.get_running_loop()
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH)
        try:
            patience = None if tls is None else GREETING
            self._server = await self._loop.create_server(
                lambda: Connection(self), host, port, ssl=tls, ssl_handshake_timeout=patience
            )
        except OSError as error:
            raise LinkError(
                f"port {port} of {host} cannot be used ({error.strerror}); choose another with --port"
            ) from None
        self.address = self._server.sockets[0].getsockname()[:2]
        self.executor.wheels.watch = self._watch
        self.executor.start()
        self._minder = self._loop.create_task(self._mind())

    async def close(self) -> None:
        """Halt the rover and close all connections."""
        if self._server is not None:
            self._server.close()
            self._minder.cancel()
            sys.setswitchinterval(self._interval)
        for connection in list(self.connections):
            connection.refuse("the rover is switched off")
        await asyncio.get_running_loop().run_in_executor(None, self.executor.close)

    def receive(self, connection: Connection, session: Session, order: Order, within: bool) -> None:
        """Take an order of a controller that was let in.

        Args:
            connection: That it came by.
            session: Of the controller.
            order: What to do.
            within: Whether it is within the rate.

        Raises:
            LinkError: If orders before it are missing; the connection must be closed.
        """
        kind = session.judge(order.N)
        if kind == "gap":
            raise LinkError(f"order {order.N} came after {session.last}; those between are missing")
        connection.say(ACKNOWLEDGED % order.N)
        if kind == "again":
            if order.N in session.results:
                connection.say(session.results[order.N].packet())
            return
        session.last = order.N
        if self.recorder is not None:
            self.recorder.message("order", session.id, order)
        if isinstance(order, Halt):
            self.halt(session, order)
            done = Entry(session.id, order)
            self.executor.wheels.brake(lambda: self.ended(done, "done", ""))
            return
        if order.moves and session.halted > order.N:
            why, outcome = "halted", "halted"
        else:
            why, outcome = "" if within else "too many messages a second", "refused"
            why = why or self.executor.queue.put(session.id, order)
        if why:
            self._end(session, Result(N=order.N, outcome=outcome, report=why))

    def halt(self, session: Session, order: Halt) -> None:
        """Stop the motors; with priority, forget the orders to move that came before."""
        if order.priority:
            session.halted = max(session.halted, order.N)
        for entry in self.executor.queue.halt(order):
            self.ended(entry, "halted", "halted")
        self.executor.wheels.brake()

    # Called by other threads: the executor's, or the one that brakes.

    def ended(self, entry: Entry, outcome: Outcome, report: str) -> None:
        """An order has ended."""
        self._post(entry.session, Result(N=entry.order.N, outcome=outcome, report=report[:500]), False)

    def status(self, status: Status) -> None:
        """Where the rover is and what it does."""
        self.last_status = status.packet()
        self._post(None, self.last_status, True)
        if self.recorder is not None:
            self.recorder.status(status)

    def data(self, session: str | None, descriptor: Descriptor, array: NDArray[Any]) -> None:
        """An array for a session, or for all."""
        self._post(session, descriptor.packet() + pack(descriptor.N, array), session is None)
        if self.recorder is not None:
            self.recorder.data(descriptor, array)

    def sensed(self, sensed: Sensed) -> None:
        """What the rover has sensed in a piece of an order."""
        if self.recorder is not None:
            self.recorder.sensed(sensed)

    def _post(self, session: str | None, what: Any, optional: bool) -> None:
        """Let the event loop send something."""
        if optional and not self.connections:
            return
        self._words.append((session, what, optional))
        if not self._scheduled and self._loop is not None and not self._loop.is_closed():
            self._scheduled = True
            self._loop.call_soon_threadsafe(self._send)

    def _send(self) -> None:
        self._scheduled = False
        for _ in range(len(self._words)):
            name, what, optional = self._words.popleft()
            if name is None:
                for connection in self.connections:
                    connection.say(what, optional)
                continue
            session = self.sessions.get(name)
            if session is not None and isinstance(what, Result):
                self._end(session, what)
            elif session is not None:
                for connection in self.connections:
                    if connection.session is session:
                        connection.say(what)
        for connection in self.connections:
            connection.flush()

    def _end(self, session: Session, result: Result) -> None:
        """Keep a result and send it."""
        session.keep(result)
        if self.recorder is not None:
            self.recorder.message("result", session.id, result)
        packet = result.packet()
        for connection in self.connections:
            if connection.session is session:
                connection.say(packet)

    def _watch(self) -> None:
        """Stop a moving rover whose controller is silent; called by the braking thread."""
        entry = self.executor.queue.current
        if entry is None or entry.order.quick or entry.stop or not self.executor.wheels.moving:
            return
        session = self.sessions.get(entry.watched)
        alone = self.executor.modes.mode == "AUTO" and self.executor.values["auto_without_link"] == 1.0
        if not alone and (session is None or time.monotonic() - session.heard > DEAD_MAN):
            self.executor.hold(f"no word from the controller for {DEAD_MAN:g} s")

    async def _mind(self) -> None:
        """Close connections that are half open, or too slow."""
        while True:
            await asyncio.sleep(0.5)
            now = time.monotonic()
            for connection in list(self.connections):
                connection.mind(now)


ACKNOWLEDGED = Acknowledgement(N=0).packet().replace(b'"N":0', b'"N":%d')


def ask_for_priority() -> None:
    """Let this process run before others, if the system allows it; otherwise a busy machine lets a halt wait."""
    with contextlib.suppress(OSError, AttributeError):  # only an administrator may; not every system can
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
