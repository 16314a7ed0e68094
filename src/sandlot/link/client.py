"""A controller of a rover, in Python: `Client` connects, connects again when the link is lost, and gives orders.

with Client("127.0.0.1", token=token) as rover:
    rover.mode("SEMI")
    rover.go_to(1.0, 0.5)
"""

import asyncio
import contextlib
import math
import secrets
import ssl
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import LinkError
from sandlot.link.conversation import Conversation, Received
from sandlot.link.messages import (
    PORT,
    Configuration,
    CorrectedMove,
    Descriptor,
    Direction,
    Halt,
    Heartbeat,
    ManualMove,
    MapRequest,
    Mode,
    ModeChange,
    Order,
    Result,
    ScanRequest,
    SetWaypoint,
    Status,
    Welcome,
)

BEAT = 0.25
"""Between two heartbeats [s]."""
SILENT = 5.0
"""A rover that says nothing for so long is no longer there [s]."""
AGAIN = (0.1, 2.0)
"""Shortest and longest time before it connects again [s]."""
LOOK = 0.5
"""How long an order is waited for before looking whether the rover is held [s]; reports come more often."""
CHANGE = 3.0
"""A change of the mode that takes longer waits for an order that moves [s]."""
INTERRUPTED = "the rover was started again; whether this order was executed is not known"


class Ticket:
    """An order that was given.

    Attributes:
        order: What was ordered.
        acknowledged: Whether the rover has taken it.
        data: Arrays that came in answer, each with its descriptor.
    """

    def __init__(self, order: Order) -> None:
        """Of an order."""
        self.order, self.acknowledged = order, False
        self.data: list[tuple[Descriptor, NDArray[Any]]] = []
        self._result: Result | None = None
        self._done = threading.Event()

    @property
    def done(self) -> bool:
        """Whether the order has ended."""
        return self._done.is_set()

    def wait(self, seconds: float | None = None, held: Callable[[], str] = lambda: "") -> Result:
        """How the order ended.

        Args:
            seconds: Wait at most so long; None for ever.
            held: Why the rover is held, if it is; then orders that wait for `Client.go_on` are not waited for.

        Raises:
            LinkError: If it did not end in time, or the rover is held.
        """
        began = time.monotonic()
        end = math.inf if seconds is None else began + seconds
        while not self._done.wait(max(min(end - time.monotonic(), LOOK), 0.0)):
            if time.monotonic() >= end:
                raise LinkError(f"{self.order.type} number {self.order.N} did not end within {seconds:g} s")
            if self._waits(time.monotonic() - began) and (why := held()):
                raise LinkError(f"{self.order.type} waits, because the rover is held: {why}")
        assert self._result is not None
        return self._result

    def _waits(self, seconds: float) -> bool:
        """Whether an order that has not ended after so long [s] may wait for `Client.go_on`."""
        if isinstance(self.order, ModeChange):
            return seconds > CHANGE
        return not self.order.quick and not isinstance(self.order, Halt)

    def finish(self, result: Result) -> None:
        """The order has ended."""
        if self._result is None:
            self._result = result
            self._done.set()


class Client:
    """A link to a rover. Any thread may call any method; units are metres, radians and seconds.

    Attributes:
        status: The last report; None before the first.
        latest: The last array of each kind that came, with its descriptor.
        connected: Whether the link is open now.
        problem: Why it is not.
        connections: How often it was opened.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = PORT,
        token: str = "",
        tls: ssl.SSLContext | None = None,
        patience: float = 10.0,
    ) -> None:
        """Connect.

        Args:
            host: Of the rover.
            port: Of the rover.
            token: That the rover knows.
            tls: Certificates (`sandlot.link.keys.Keys.controller_context`), if the rover has some.
            patience: Time for the first connection [s].

        Raises:
            LinkError: If the rover cannot be reached, or one side does not know the token.
        """
        self._host, self._port, self._token, self._tls = host, port, token, tls
        self._session, self._boot = secrets.token_hex(16), ""
        self._tickets: OrderedDict[int, Ticket] = OrderedDict()
        self._number = self._confirmed = 0
        self._lock = threading.Lock()
        self._writer: asyncio.StreamWriter | None = None
        self.status: Status | None = None
        self.latest: dict[str, tuple[Descriptor, NDArray[Any]]] = {}
        self.connected, self.problem, self.connections = False, "", 0
        self.listeners: list[Callable[[Received], None]] = []
        self._opened, self._closed = threading.Event(), False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="rover link", daemon=True)
        self._thread.start()
        if not self._opened.wait(patience) or self._closed:
            self.close()
            raise LinkError(f"no link to the rover at {host}:{port}: {self.problem or 'no answer'}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def give(self, order: Order) -> Ticket:
        """Give an order, which gets its number; it is given again if the link is lost before it was taken."""
        with self._lock:
            self._number += 1
            ticket = Ticket(order.model_copy(update={"N": self._number}))
            self._tickets[self._number] = ticket
            self._post(ticket.order.packet())
        return ticket

    def halt(self) -> Ticket:
        """Stop the motors at once, and forget all orders to move that were given before."""
        return self.give(Halt(priority=True))

    def mode(self, mode: Mode, seconds: float = 60.0) -> None:
        """Change the mode; waits until that is done.

        Raises:
            LinkError: If it is refused, takes longer than the time [s], or waits because the rover is held.
        """
        self._done(self.give(ModeChange(mode=mode)), seconds)

    def move(self, direction: Direction, seconds: float) -> Ticket:
        """Drive by hand for a time [s], at most 2 s; only in the mode MANUAL."""
        return self.give(ManualMove(direction=direction, duration=seconds))

    def advance(self, distance: float) -> Ticket:
        """Move ahead by a distance [m], measured and corrected."""
        return self.give(CorrectedMove(mvt_type="linear", distance=1000.0 * distance))

    def turn(self, angle: float) -> Ticket:
        """Turn to the left by an angle [rad], measured and corrected."""
        return self.give(CorrectedMove(mvt_type="rotation", distance=float(np.degrees(angle))))

    def go_to(self, x: float, y: float) -> Ticket:
        """Drive to a waypoint [m], seen from where mapping began; only in the mode SEMI."""
        return self.give(SetWaypoint(x=1000.0 * x, y=1000.0 * y))

    def go_on(self) -> Ticket:
        """Let the rover go on after it has stopped because the link was lost."""
        return self.configure("go_on", 1)

    def configure(self, parameter: str, value: float) -> Ticket:
        """Set a parameter of the rover (`sandlot.link.messages.PARAMETERS`)."""
        return self.give(Configuration(parameter=parameter, value=value, priority=parameter == "go_on"))

    def scan(self, samples: int = 400, max_range: float = 12.0, seconds: float = 30.0) -> NDArray[np.float64]:
        """Samples of the lidar: (n, 2) bearing [rad] and range [m].

        Args:
            samples: At least so many.
            max_range: Of at most this range [m].
            seconds: To wait [s].

        Raises:
            LinkError: If there are none.
        """
        ticket = self.give(ScanRequest(SAMPLE_SIZE=samples, MAX_RANGE=1000.0 * max_range))
        self._done(ticket, seconds)
        array = _data(ticket)[1].astype(np.float64)
        return np.column_stack([np.radians(array[:, 0]), array[:, 1] / 1000.0])

    def map(self, seconds: float = 30.0) -> tuple[Descriptor, NDArray[np.uint8]]:
        """The known part of the map: (2, rows, columns) kinds of cells and reputation, with its descriptor.

        Raises:
            LinkError: If there is none.
        """
        ticket = self.give(MapRequest())
        self._done(ticket, seconds)
        return _data(ticket)

    @property
    def held(self) -> str:
        """Why the rover begins no order that moves until `go_on`, by its last report; empty if it does."""
        return "" if self.status is None else self.status.held

    def _done(self, ticket: Ticket, seconds: float) -> None:
        """Wait until an order is done."""
        result = ticket.wait(seconds, lambda: self.held)
        if result.outcome != "done":
            raise LinkError(f"{ticket.order.type} was not done ({result.outcome}): {result.report}")

    def close(self) -> None:
        """End the link. A rover that moves by an order of this client stops."""
        self._closed = True
        if self._thread.is_alive():
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._cut)
            self._thread.join(timeout=5.0)
        for ticket in list(self._tickets.values()):
            ticket.finish(Result(N=ticket.order.N, outcome="failed", report="the link was closed"))

    def cut(self) -> None:
        """Cut the connection as if the network had failed; the client connects again by itself."""
        self._loop.call_soon_threadsafe(self._cut)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._keep_open())
        self._loop.close()

    async def _keep_open(self) -> None:
        pause = AGAIN[0]
        while not self._closed:
            began = time.monotonic()
            try:
                await self._talk()
            except ssl.SSLCertVerificationError as error:
                self.problem = f"not authorised: the rover shows another certificate ({error.verify_message})"
            except (OSError, LinkError, asyncio.IncompleteReadError, TimeoutError, ssl.SSLError) as error:
                self.problem = str(error) or type(error).__name__
            except asyncio.CancelledError:
                self.problem = "closed"
            except Exception as error:  # of a listener, say: the link must not end without a word
                self.problem = f"{type(error).__name__}: {error}"
            self.connected = False
            if not self._opened.is_set() and isinstance(self.problem, str) and "not authorised" in self.problem:
                self._closed = True
                self._opened.set()
            pause = AGAIN[0] if time.monotonic() - began > 3.0 else min(2.0 * pause, AGAIN[1])
            if not self._closed:
                await asyncio.sleep(pause)

    async def _talk(self) -> None:
        """One connection, until it ends."""
        opening: Coroutine[Any, Any, Any] = asyncio.open_connection(self._host, self._port, ssl=self._tls)
        reader, writer = await asyncio.wait_for(opening, SILENT)
        talk = Conversation(self._token, self._session)
        beat: asyncio.Task[None] | None = None
        try:
            writer.write(talk.greeting())
            while not self._closed:
                data = await asyncio.wait_for(reader.read(1 << 16), SILENT)
                if not data:
                    raise LinkError("the rover has closed the connection")
                for received in talk.feed(data):
                    if isinstance(received.message, Welcome):
                        self._begin(received.message, writer)
                        beat = asyncio.get_running_loop().create_task(self._beat(writer))
                    else:
                        self._take(received)
                for answer in talk.answers:
                    writer.write(answer)
                talk.answers.clear()
        finally:
            self._writer = None
            if beat is not None:
                beat.cancel()
            writer.transport.abort()

    def _begin(self, welcome: Welcome, writer: asyncio.StreamWriter) -> None:
        """The link is open: give orders again that were not taken."""
        with self._lock:
            restarted = bool(self._boot) and (self._boot != welcome.boot or not welcome.known)
            self._boot = welcome.boot
            for number, ticket in list(self._tickets.items()):
                if restarted:
                    self._finish(ticket, Result(N=number, outcome="halted", report=INTERRUPTED))
                elif number > welcome.N:
                    writer.write(ticket.order.packet())
            self._writer, self.connected, self.problem = writer, True, ""
            self.connections += 1
        self._opened.set()

    async def _beat(self, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(Heartbeat(N=self._confirmed).packet())
            await asyncio.sleep(BEAT)

    def _take(self, received: Received) -> None:
        """Use what has come."""
        message, ticket = received.message, self._tickets.get(received.message.N)
        if isinstance(message, Status):
            self.status = message
        elif received.array is not None:
            descriptor = cast(Descriptor, message)
            self.latest[descriptor.data] = descriptor, received.array
            if ticket is not None and descriptor.N:
                ticket.data.append((descriptor, received.array))
        elif isinstance(message, Result):
            if ticket is not None:
                with self._lock:
                    self._finish(ticket, message)
        elif ticket is not None:
            ticket.acknowledged = True
        for listener in self.listeners:
            listener(received)

    def _finish(self, ticket: Ticket, result: Result) -> None:
        ticket.finish(result)
        self._tickets.pop(result.N, None)
        self._confirmed = min(self._tickets, default=self._number + 1) - 1

    def _post(self, packet: bytes) -> None:
        if not self._closed:
            self._loop.call_soon_threadsafe(self._write, packet)

    def _write(self, packet: bytes) -> None:
        if self._writer is not None:
            self._writer.write(packet)

    def _cut(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()


def _data(ticket: Ticket) -> tuple[Descriptor, NDArray[Any]]:
    """The last array that came with a result; a rover does not send it again after a cut."""
    if not ticket.data:
        raise LinkError("the link was lost before the data came; ask again")
    return ticket.data[-1]
