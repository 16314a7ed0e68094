"""A plain asyncio echo under the load of `sandlot.link.load`: what sockets and an event loop cost without a protocol.

``python _link_echo.py PORT CLIENTS RATE SECONDS`` sends packets as large as orders, and waits for all of them. It
prints how many there were, and how long single packets took there and back meanwhile: the median and the longest [s].
"""

import asyncio
import sys
import time

from sandlot.link.load import BATCH, DRIVEN
from sandlot.link.messages import Configuration

PACKET = Configuration(parameter="note", value=123456.0, N=1234).packet()


class Echo(asyncio.Protocol):
    """Sends back what comes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Send it back."""
        self._transport.write(data)


class _Counter(asyncio.Protocol):
    """Counts what comes back."""

    received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += len(data)


async def flood(port: int, clients: int, rate: float, seconds: float) -> tuple[int, list[float]]:
    """Send packets at a rate [1/s]; returns how many came back, and the times of single ones [s]."""
    loop, connections = asyncio.get_running_loop(), []
    for _ in range(clients):
        connections.append((await loop.create_connection(_Counter, "127.0.0.1", port))[1])
    probe = asyncio.ensure_future(_probe(port, seconds))
    began, given = time.monotonic(), 0
    while (now := time.monotonic()) < began + seconds:
        wanted = int((now - began) * rate) - given
        for k, each in enumerate(connections):
            each.transport.write(PACKET * (wanted // clients + (k < wanted % clients)))
        given += wanted
        await asyncio.sleep(BATCH)
    while sum(each.received for each in connections) < given * len(PACKET):
        await asyncio.sleep(0.01)
    for each in connections:
        each.transport.close()
    return given, await probe


async def _probe(port: int, seconds: float) -> list[float]:
    """Times of single packets there and back [s]."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        await asyncio.sleep(2.0 * DRIVEN)
        began = time.monotonic()
        writer.write(PACKET)
        await reader.readexactly(len(PACKET))
        times.append(time.monotonic() - began)
    writer.close()
    return sorted(times)


if __name__ == "__main__":
    port, clients, rate, seconds = (float(each) for each in sys.argv[1:])
    count, times = asyncio.run(flood(int(port), int(clients), rate, seconds))
    print(count, times[len(times) // 2], times[-1])
