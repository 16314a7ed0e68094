"""Drives a lidar: `open_lidar` finds it at a port, `Lidar.turns` gives whole turns as they are measured.

Examples:
    >>> with open_lidar("/dev/ttyUSB0") as lidar:
    ...     for turn in lidar.turns():
    ...         print(turn.scan())
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self, TypeVar

from sandlot.errors import DeviceError
from sandlot.sensing.rplidar import talks
from sandlot.sensing.rplidar.answers import Health, Info
from sandlot.sensing.rplidar.ports import BAUDS, Port, SerialPort, TcpPort, tcp_address
from sandlot.sensing.rplidar.receiver import Losses, Receiver, Restarted
from sandlot.sensing.rplidar.requests import Command, plain
from sandlot.sensing.rplidar.samples import Samples
from sandlot.sensing.rplidar.talks import Await, Pause, Spin, Talk, Write
from sandlot.sensing.rplidar.turns import Turn, Turns

T = TypeVar("T")
SILENCE = 3.0
"""A lidar that sends no sample for so long has stopped, and is asked to scan again [s]."""


class Lidar:
    """A lidar at a port.

    Args:
        port: Where it is.
        clock: Gives the time [s].

    Attributes:
        info: Model, versions and serial number.
        modes: Its scan modes.
        mode: The one in use, or to be used next.
        restarts: How often a scan had to be begun again, since the device restarted or fell silent.
    """

    def __init__(self, port: Port, clock: Callable[[], float] = time.monotonic) -> None:
        """Ask who is there, and for its scan modes.

        Raises:
            DeviceError: It does not answer.
        """
        self._port, self._clock = port, clock
        self._receiver = Receiver(port.baud)
        self.restarts = 0
        self.info: Info = self._find(port) if isinstance(port, SerialPort) else self._run(talks.info())
        self.modes, self._typical = self._run(talks.scan_modes(self.info))
        self.mode = talks.choose(self.modes, self._typical, None)

    @property
    def name(self) -> str:
        """Of the port."""
        return self._port.name

    @property
    def losses(self) -> Losses:
        """What was lost on the way from the device."""
        return self._receiver.losses

    def health(self) -> Health:
        """Ask for the health; that ends a scan."""
        return self._run(talks.health())

    def start(self, mode: str | None = None) -> None:
        """Switch the motor on and begin to scan.

        Args:
            mode: Name of a scan mode, such as ``Express``; the one that the device recommends by default.

        Raises:
            DeviceError: There is no such mode, the device does not answer, or it reports a fault.
        """
        self.mode = talks.choose(self.modes, self._typical, mode)
        self._receiver.period = self.mode.period
        self._run(talks.begin(self.info, self.mode))

    def samples(self) -> Iterator[Samples]:
        """Samples as they come, without end; a scan that breaks off is begun again.

        Raises:
            DeviceError: The port is gone, or the device cannot be brought to scan again.
        """
        heard = self._clock()
        while True:
            events = self._read(0.2)
            for event in events:
                if isinstance(event, Samples):
                    heard = self._clock()
                    yield event
            if any(isinstance(each, Restarted) for each in events) or self._clock() - heard > SILENCE:
                self.restarts += 1
                self._run(talks.begin(self.info, self.mode))
                heard = self._clock()

    def turns(self) -> Iterator[Turn]:
        """Whole turns as they are completed, without end."""
        turns = Turns()
        for samples in self.samples():
            yield from turns.add(samples)

    def stop(self, motor: bool = False) -> None:
        """Stop to scan; and the motor, unless ``motor``."""
        self._run(talks.end(self.info, motor))

    def reset(self) -> None:
        """Restart the device."""
        self._run(talks.reset())

    def close(self) -> None:
        """Stop, and let the port go."""
        try:
            with contextlib.suppress(DeviceError):
                self.stop()
        finally:
            self._port.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _find(self, port: SerialPort) -> Info:
        """Ask who is there, at the baud rate of the port and then at all others that lidars use."""
        first = port.baud
        for baud in (first, *(each for each in BAUDS if each != first)):
            if baud != port.baud:
                port.set_baud(baud)
            self._receiver = Receiver(baud)
            with contextlib.suppress(DeviceError):
                self._run(_quiet())
                return self._run(talks.info(attempts=2))
        raise DeviceError(f"no lidar answers at {port.name}, tried {', '.join(map(str, BAUDS))} baud; has it power?")

    def _read(self, seconds: float) -> list[talks.Event]:
        return self._receiver.receive(self._port.read(seconds), self._clock())

    def _run(self, talk: Talk[T]) -> T:
        """Do the steps of a talk."""
        found: talks.Event | None = None
        try:
            while True:
                step, found = talk.send(found), None
                if isinstance(step, Write):
                    if step.ends_scan:
                        self._receiver.end_scan()
                    self._port.write(step.data)
                elif isinstance(step, Spin):
                    self._port.spin(step.on)
                else:
                    found = self._wait(step)
        except StopIteration as done:
            result: T = done.value
            return result

    def _wait(self, step: Await | Pause) -> talks.Event | None:
        until = self._clock() + step.seconds
        while (left := until - self._clock()) > 0.0:
            for event in self._read(left):
                if isinstance(step, Await) and isinstance(event, step.kind):
                    return event
        return None


def _quiet() -> Talk[None]:
    """Stop a scan that another program has left running."""
    yield Write(plain(Command.STOP))
    yield Pause(0.05)


def open_lidar(port: str | None = None, tcp: str | None = None, baud: int | None = None) -> Lidar:
    """Find the lidar at a serial port, or at a TCP port.

    Args:
        port: Such as ``/dev/ttyUSB0`` or ``COM3``.
        tcp: ``HOST:PORT``, instead of a serial port.
        baud: Of the serial port; by default all rates that lidars use are tried [1/s].

    Raises:
        DeviceError: There is no such port, or nobody answers there.
    """
    if (port is None) == (tcp is None):
        raise DeviceError("give either a serial port or the address of a TCP port")
    found: Port = TcpPort(*tcp_address(tcp)) if tcp is not None else SerialPort(port or "", baud or BAUDS[0])
    try:
        return Lidar(found)
    except BaseException:
        found.close()
        raise
