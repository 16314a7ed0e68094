"""Ports that a lidar is read from: a serial port by pyserial, or a TCP connection."""

import contextlib
import errno
import socket
from typing import Any, Protocol

from sandlot.errors import DeviceError, quote
from sandlot.extras import need

BAUDS = (115200, 256000, 460800, 1000000)
"""Of A1 and A2; A3, later A2 and S1; C1; S2 and S3 [1/s]."""
PIECE = 65536
"""Bytes that are read at a time, at most."""
NO_LINE = (errno.EINVAL, errno.ENOTTY)
"""A pseudo-terminal has no line DTR."""


class Port(Protocol):
    """What a driver needs of a port."""

    name: str

    @property
    def baud(self) -> int | None:
        """Bits per second [1/s]; None if it is not a serial line."""

    def read(self, seconds: float) -> bytes:
        """What has come; waits at most so long for the first byte [s]. Empty if nothing came."""

    def write(self, data: bytes) -> None:
        """Send bytes."""

    def spin(self, on: bool) -> None:
        """Switch the motor by the line DTR, if there is one."""

    def close(self) -> None:
        """Let the port go."""


class SerialPort:
    """A serial port.

    Attributes:
        name: Of the device file.
    """

    def __init__(self, name: str, baud: int = BAUDS[0]) -> None:
        """Open a port.

        Raises:
            DeviceError: There is no such port, or it cannot be used.
        """
        serial = need("serial", "rover")
        self.name = name
        try:
            # DTR switches the motor of an A1 off; it is set before opening, so that the motor does not stop and start.
            self._port: Any = serial.Serial(None, baud, timeout=0.0, write_timeout=2.0)
            self._port.dtr = False
            self._port.port = name
            with contextlib.suppress(AttributeError):
                self._port.exclusive = True
            self._port.open()
        except (OSError, ValueError) as error:  # pyserial's errors are kinds of OSError
            raise DeviceError(_no_port(name, error)) from None

    @property
    def baud(self) -> int:
        """Bits per second [1/s]."""
        return int(self._port.baudrate)

    def set_baud(self, baud: int) -> None:
        """Change the bits per second [1/s]."""
        self._port.baudrate = baud

    def read(self, seconds: float) -> bytes:
        """What has come; waits at most so long for the first byte [s]."""
        with _gone(self.name):
            self._port.timeout = seconds
            first: bytes = self._port.read(1)
            return first + self._port.read(min(self._port.in_waiting, PIECE)) if first else b""

    def write(self, data: bytes) -> None:
        """Send bytes."""
        with _gone(self.name):
            self._port.write(data)

    def spin(self, on: bool) -> None:
        """Switch the motor of an A1, which runs while DTR is low."""
        try:
            self._port.dtr = not on
        except OSError as error:
            if error.errno not in NO_LINE:
                raise DeviceError(f"{self.name}: {quote(error)}") from None

    def file(self) -> Any:
        """The port as an open file without a buffer, for asyncio; closing it does not close the port."""
        return open(self._port.fileno(), "rb", buffering=0, closefd=False)

    def close(self) -> None:
        """Let the port go."""
        self._port.close()


class TcpPort:
    """A TCP connection, such as to a serial server or an emulator.

    Attributes:
        name: Host and port.
        baud: None: bytes come as fast as they can.
    """

    baud: None = None

    def __init__(self, host: str, port: int, seconds: float = 5.0) -> None:
        """Connect, within some seconds.

        Raises:
            DeviceError: Nobody answers there.
        """
        self.name = f"{host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), timeout=seconds)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise DeviceError(f"no lidar at {self.name}: {quote(error.strerror or error)}") from None

    def read(self, seconds: float) -> bytes:
        """What has come; waits at most so long for the first byte [s]."""
        with _gone(self.name):
            self._socket.settimeout(max(seconds, 1e-4))
            try:
                data = self._socket.recv(PIECE)
            except TimeoutError:
                return b""
        if not data:
            raise DeviceError(f"{self.name} has closed the connection")
        return data

    def write(self, data: bytes) -> None:
        """Send bytes."""
        with _gone(self.name):
            self._socket.settimeout(2.0)
            self._socket.sendall(data)

    def spin(self, on: bool) -> None:
        """Do nothing: there is no line DTR."""

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


def tcp_address(text: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``.

    Raises:
        DeviceError: It is not one.
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise DeviceError(f"{quote(text)} is not HOST:PORT, as in 192.168.1.20:20108")
    return host.strip("[]"), int(port)


@contextlib.contextmanager
def _gone(name: str) -> Any:
    """Turn an error of the operating system into one line."""
    try:
        yield
    except TimeoutError:
        raise DeviceError(f"{name} takes no bytes") from None
    except (OSError, TypeError) as error:  # pyserial raises TypeError if the port was closed meanwhile
        raise DeviceError(f"{name} is gone: {quote(getattr(error, 'strerror', None) or error)}") from None


def _no_port(name: str, error: Exception) -> str:
    number = getattr(error, "errno", None)
    if number == errno.ENOENT or (number is None and "could not open" in str(error)):
        ports = [each.device for each in need("serial.tools.list_ports", "rover").comports()]
        there = f"there are: {', '.join(ports[:5])}" if ports else "there are none on this machine"
        return f"no serial port {quote(name)}; {there}"
    if number == errno.EACCES:
        return f"no permission for {quote(name)}; add yourself to its group, often dialout, and log in again"
    if number == errno.EBUSY or "exclusively lock" in str(error):
        return f"{quote(name)} is in use by another program"
    return f"cannot open {quote(name)}: {quote(getattr(error, 'strerror', None) or error)}"
