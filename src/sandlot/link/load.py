"""Many controllers at once, for tests and benchmarks: ``python -m sandlot.link.load`` with the token on standard input.

Each controller gives orders at a constant rate and checks that their results come in order. One of them also drives and
halts, again and again; a halt is answered when the motors are off, and the time until then is measured.
"""

import argparse
import asyncio
import json
import secrets
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from sandlot.link.conversation import Conversation
from sandlot.link.messages import Acknowledgement, Configuration, Halt, Heartbeat, ManualMove, Order, Result, Welcome

BATCH = 0.01
"""Between two groups of orders [s]."""
DRIVEN = 0.25
"""Between a move and the halt that ends it [s]."""


@dataclass
class Tally:
    """What all controllers have seen.

    Attributes:
        sent: Orders.
        acknowledged: Of them.
        done: Of them.
        refused: Of them.
        disordered: Results that came before an earlier one.
        halts: Time from each halt to its answer [s].
        halted: When each halt was sent and when it was answered, by `time.monotonic`, which all processes of a machine
            share [s].
    """

    sent: int = 0
    acknowledged: int = 0
    done: int = 0
    refused: int = 0
    disordered: int = 0
    halts: list[float] = field(default_factory=list)
    halted: list[tuple[float, float]] = field(default_factory=list)


class Controller(asyncio.Protocol):
    """One controller."""

    def __init__(self, token: str, tally: Tally) -> None:
        """Count into a tally."""
        self._talk, self._tally = Conversation(token, secrets.token_hex(16)), tally
        self._number = self._last = 0
        self._halted: dict[int, float] = {}
        self._moves: set[int] = set()
        self.open: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._talk.greeting())

    def data_received(self, data: bytes) -> None:
        """Count what comes."""
        for received in self._talk.feed(data):
            message = received.message
            if isinstance(message, Welcome):
                self.open.set_result(None)
            elif isinstance(message, Acknowledgement):
                self._tally.acknowledged += 1
            elif isinstance(message, Result):
                self._result(message)
        for answer in self._talk.answers:
            self.transport.write(answer)
        self._talk.answers.clear()

    def order(self, order: Order) -> bytes:
        """The packet of an order with the next number."""
        self._number += 1
        self._tally.sent += 1
        if isinstance(order, Halt):
            self._halted[self._number] = time.monotonic()
        elif order.moves:
            self._moves.add(self._number)
        return order.model_copy(update={"N": self._number}).packet()

    def beat(self) -> bytes:
        """A heartbeat that confirms all results so far."""
        return Heartbeat(N=self._last).packet()

    def _result(self, result: Result) -> None:
        tally = self._tally
        tally.done += result.outcome in ("done", "halted")
        tally.refused += result.outcome in ("refused", "failed")
        if result.N in self._halted:
            sent, now = self._halted.pop(result.N), time.monotonic()
            tally.halts.append(now - sent)
            tally.halted.append((sent, now))
        elif result.N in self._moves:
            self._moves.discard(result.N)
        else:
            tally.disordered += self._last > result.N
            self._last = max(self._last, result.N)


async def load(host: str, port: int, token: str, clients: int, rate: float, seconds: float) -> dict[str, Any]:
    """Load a server, and return what was seen.

    Args:
        host: Of the server.
        port: Of the server.
        token: That it knows.
        clients: Number of controllers.
        rate: Messages a second of all together.
        seconds: How long [s].
    """
    tally, loop = Tally(), asyncio.get_running_loop()
    controllers = []
    for _ in range(clients):
        _, controller = await loop.create_connection(lambda: Controller(token, tally), host, port)
        await asyncio.wait_for(controller.open, 30.0)
        controllers.append(controller)
    driver = asyncio.ensure_future(_drive(controllers[0], seconds))
    began, given = time.monotonic(), 0
    while (now := time.monotonic()) < began + seconds:
        wanted = int((now - began) * rate) - given
        shares = [wanted // clients + (k < wanted % clients) for k in range(clients)]
        for controller, share in zip(controllers, shares, strict=True):
            orders = [controller.order(Configuration(parameter="note", value=given + k)) for k in range(share)]
            controller.transport.write(b"".join(orders) + controller.beat())
        given += wanted
        await asyncio.sleep(BATCH)
    await driver
    took = time.monotonic() - began
    end = time.monotonic() + 30.0
    while tally.done + tally.refused < tally.sent and time.monotonic() < end:
        for controller in controllers:
            controller.transport.write(controller.beat())
        await asyncio.sleep(0.02)
    answered = time.monotonic() - began
    for controller in controllers:
        controller.transport.close()
    halts = sorted(tally.halts)
    return {
        "sent": tally.sent,
        "acknowledged": tally.acknowledged,
        "done": tally.done,
        "refused": tally.refused,
        "disordered": tally.disordered,
        "rate": tally.sent / took,
        "answered rate": (tally.done + tally.refused) / answered,
        "halts": len(halts),
        "median halt": halts[len(halts) // 2] if halts else float("inf"),
        "longest halt": halts[-1] if halts else float("inf"),
        "halted": tally.halted,
    }


async def _drive(controller: Controller, seconds: float) -> None:
    """Drive and halt, again and again."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        controller.transport.write(controller.order(ManualMove(direction="forwards", duration=2.0)))
        await asyncio.sleep(DRIVEN)
        controller.transport.write(controller.order(Halt(priority=True)))
        await asyncio.sleep(DRIVEN)


def main() -> None:
    """Load a server as the command line says, and print the tally; the token comes from standard input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--rate", type=float, default=10_000.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    token = sys.stdin.readline().strip()
    print(json.dumps(asyncio.run(load(given.host, given.port, token, given.clients, given.rate, given.seconds))))


if __name__ == "__main__":
    main()
