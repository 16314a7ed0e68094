"""The same driver for asyncio: `open_async` finds a lidar, ``async for turn in lidar.turns()`` gives whole turns."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from sandlot.errors import DeviceError, quote
from sandlot.sensing.rplidar import talks
from sandlot.sensing.rplidar.answers import Health
from sandlot.sensing.rplidar.driver import SILENCE
from sandlot.sensing.rplidar.ports import PIECE, SerialPort, tcp_address
from sandlot.sensing.rplidar.receiver import Losses, Receiver, Restarted
from sandlot.sensing.rplidar.samples import Samples
from sandlot.sensing.rplidar.talks import Await, Pause, Spin, Talk, Write
from sandlot.sensing.rplidar.turns import Turn, Turns

T = TypeVar("T")


class AsyncLidar:
    """A lidar behind a stream of asyncio; `open_async` makes one.

    Args:
        reader: Of the bytes from the lidar.
        write: Sends bytes.
        spin: Switches the motor by the line DTR.
        close: Lets the port go.
        baud: Of a serial line; None for any other link [1/s].
        clock: Gives the time [s].

    Attributes:
        info: Model, versions and serial number; as the next two, known after `identify`.
        modes: Its scan modes.
        mode: The one in use.
        restarts: How often a scan had to be begun again.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        write: Callable[[bytes], Any],
        spin: Callable[[bool], Any],
        close: Callable[[], Any],
        baud: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reader, self._write, self._spin, self._close = reader, write, spin, close
        self._receiver, self._clock = Receiver(baud), clock
        self.restarts = 0

    async def identify(self) -> None:
        """Ask who is there, and for its scan modes."""
        self.info = await self._run(talks.info())
        self.modes, self._typical = await self._run(talks.scan_modes(self.info))
        self.mode = talks.choose(self.modes, self._typical, None)

    @property
    def losses(self) -> Losses:
        """What was lost on the way from the device."""
        return self._receiver.losses

    async def health(self) -> Health:
        """Ask for the health; that ends a scan."""
        return await self._run(talks.health())

    async def start(self, mode: str | None = None) -> None:
        """Switch the motor on and begin to scan, in a mode or in the one that the device recommends."""
        self.mode = talks.choose(self.modes, self._typical, mode)
        self._receiver.period = self.mode.period
        await self._run(talks.begin(self.info, self.mode))

    async def samples(self) -> AsyncIterator[Samples]:
        """Samples as they come, without end; a scan that breaks off is begun again."""
        heard = self._clock()
        while True:
            events = await self._read(0.2)
            for event in events:
                if isinstance(event, Samples):
                    heard = self._clock()
                    yield event
            if any(isinstance(each, Restarted) for each in events) or self._clock() - heard > SILENCE:
                self.restarts += 1
                await self._run(talks.begin(self.info, self.mode))
                heard = self._clock()

    async def turns(self) -> AsyncIterator[Turn]:
        """Whole turns as they are completed, without end."""
        turns = Turns()
        async for samples in self.samples():
            for turn in turns.add(samples):
                yield turn

    async def stop(self, motor: bool = False) -> None:
        """Stop to scan; and the motor, unless ``motor``."""
        await self._run(talks.end(self.info, motor))

    async def close(self) -> None:
        """Stop, and let the port go."""
        try:
            with contextlib.suppress(DeviceError, OSError):
                await self.stop()
        finally:
            self._close()

    async def __aenter__(self) -> "AsyncLidar":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _read(self, seconds: float) -> list[talks.Event]:
        try:
            data = await asyncio.wait_for(self._reader.read(PIECE), seconds)
        except TimeoutError:
            return []
        except OSError as error:
            raise DeviceError(f"the lidar is gone: {quote(error.strerror or error)}") from None
        if not data:
            raise DeviceError("the connection to the lidar was closed")
        return self._receiver.receive(data, self._clock())

    async def _run(self, talk: Talk[T]) -> T:
        """Do the steps of a talk."""
        found: talks.Event | None = None
        try:
            while True:
                step, found = talk.send(found), None
                if isinstance(step, Write):
                    if step.ends_scan:
                        self._receiver.end_scan()
                    self._write(step.data)
                elif isinstance(step, Spin):
                    self._spin(step.on)
                else:
                    found = await self._wait(step)
        except StopIteration as done:
            result: T = done.value
            return result

    async def _wait(self, step: Await | Pause) -> talks.Event | None:
        until = self._clock() + step.seconds
        while (left := until - self._clock()) > 0.0:
            for event in await self._read(left):
                if isinstance(step, Await) and isinstance(event, step.kind):
                    return event
        return None


async def open_async(port: str | None = None, tcp: str | None = None, baud: int = 115200) -> AsyncLidar:
    """Find the lidar at a serial port (not on Windows) or at a TCP port ``HOST:PORT``.

    Raises:
        DeviceError: There is no such port, or nobody answers there.
    """
    if (port is None) == (tcp is None):
        raise DeviceError("give either a serial port or the address of a TCP port")
    lidar = await (_over_tcp(tcp) if tcp is not None else _over_serial(port or "", baud))
    try:
        await lidar.identify()
    except BaseException:
        await lidar.close()
        raise
    return lidar


async def _over_tcp(address: str) -> AsyncLidar:
    host, number = tcp_address(address)
    try:
        reader, writer = await asyncio.wait_for(asyncio.open_connection(host, number), 5.0)
    except OSError as error:
        raise DeviceError(f"no lidar at {address}: {quote(error.strerror or error)}") from None
    return AsyncLidar(reader, writer.write, lambda on: None, writer.close)


async def _over_serial(name: str, baud: int) -> AsyncLidar:
    port, loop = SerialPort(name, baud), asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), port.file())

    def close() -> None:
        transport.close()
        port.close()

    return AsyncLidar(reader, port.write, port.spin, close, baud)
