"""Puts an emulated lidar behind a pseudo-terminal or a TCP port, so that drivers find it as they find a real one."""

import contextlib
import os
import select
import socket
import threading
import time
from types import TracebackType
from typing import Self

from sandlot.errors import DeviceError, quote
from sandlot.sensing.rplidar.device import Device

TICK = 0.004
"""Time between two writes [s]; a piece on a line of 115,200 baud then has 46 bytes, and cuts packets."""
PIECE = 4096
MAX_WAITING = 2**20
"""Bytes that wait for a host that does not read; older ones are lost. `Faults` has losses that come sooner."""


class Served:
    """A device that is served by a thread; `serve_terminal` and `serve_tcp` make one.

    Attributes:
        device: What is served.
        address: The name of the pseudo-terminal, or ``HOST:PORT``.
    """

    def __init__(self, device: Device, address: str, files: tuple[int, ...], listener: socket.socket | None) -> None:
        """Serve at a terminal, whose two ends are ``files``, or at a port that listens."""
        self.device, self.address = device, address
        self._files, self._listener = files, listener
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="emulated lidar", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._ended.set()
        self._thread.join(timeout=5.0)
        for each in self._files:
            os.close(each)
        if self._listener is not None:
            self._listener.close()
        self._files, self._listener = (), None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _serve(self) -> None:
        if self._listener is None:
            self._talk(self._files[0])
            return
        while not self._ended.is_set():
            with contextlib.suppress(TimeoutError, OSError):
                guest, _ = self._listener.accept()
                with guest:
                    guest.setblocking(False)
                    guest.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._talk(guest.fileno())

    def _talk(self, file: int) -> None:
        """Carry bytes between a file and the device, until the other side leaves."""
        waiting = bytearray()  # of which the operating system has no room yet
        while not self._ended.is_set():
            try:
                if select.select([file], [], [], TICK)[0]:
                    data = os.read(file, PIECE)
                    if not data:
                        return
                    self.device.receive(data, time.monotonic())
                    time.sleep(TICK)  # also if the host never pauses
                waiting += self.device.poll(time.monotonic())
                del waiting[:-MAX_WAITING]
                if waiting:
                    del waiting[: os.write(file, waiting)]
            except BlockingIOError:
                pass  # nobody reads
            except OSError:
                return


def serve_terminal(device: Device) -> Served:
    """Serve a device at a new pseudo-terminal; not on Windows.

    Raises:
        DeviceError: There are no pseudo-terminals here.
    """
    try:
        import pty
        import tty
    except ImportError:
        raise DeviceError("this system has no pseudo-terminals; use TCP") from None
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    os.set_blocking(ours, False)
    # Our end of the terminal stays open, so that bytes are not lost before the host opens it.
    return Served(device, os.ttyname(theirs), (ours, theirs), None)


def serve_tcp(device: Device, port: int = 0, host: str = "127.0.0.1") -> Served:
    """Serve a device at a TCP port, for one host at a time; any free port if it is 0.

    Raises:
        DeviceError: The port is in use.
    """
    try:
        listener = socket.create_server((host, port))
    except OSError as error:
        raise DeviceError(f"cannot listen at {host}:{port}: {quote(error.strerror or error)}") from None
    listener.settimeout(0.2)
    return Served(device, f"{host}:{listener.getsockname()[1]}", (), listener)
