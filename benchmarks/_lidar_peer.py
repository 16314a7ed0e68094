"""Lets one driver from PyPI decode a stream of bytes: ``python _lidar_peer.py PACKAGE MODE FILE``.

The driver runs in a process of its own, since two of them have a module of the same name. It talks to a stand-in for
pyserial, which answers its requests and then replays the file. Prints one JSON object: what it decoded, how long that
took, and with which error it stopped before the end of the stream.
"""

import asyncio
import contextlib
import io
import json
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PATIENCE = 300
"""A driver that asks so often whether bytes have come, without reading, waits for more than there are."""
HEALTH = bytes.fromhex("A55A0300000006" + "003412")
"""Good, with the code 0x1234."""
SCANS = (0x20, 0x21, 0x82)
Sample = tuple[float, float]


class EndOfStreamError(BaseException):
    """All bytes were read; not an `Exception`, so that no driver catches it."""


class Serial:
    """Stands for ``serial.Serial``."""

    baudrate, scan, began = 115200, b"", 0.0

    def __init__(self, *_: Any, **__: Any) -> None:
        self._queue, self._asked, self._scanned = bytearray(), 0, False

    def write(self, data: bytes) -> int:
        """Answer a request."""
        if data[:2] == b"\xa5\x52":
            self._queue += HEALTH
        elif data[0] == 0xA5 and data[1] in SCANS and (data[1] < 0x80 or len(data) == 9):
            self._queue += self.scan
            self._scanned = True
            Serial.began = time.process_time()
        return len(data)

    def read(self, size: int = 1) -> bytes:
        """The next bytes."""
        self._asked = 0
        if len(self._queue) < size:
            raise EndOfStreamError
        data = bytes(self._queue[:size])
        del self._queue[:size]
        return data

    @property
    def in_waiting(self) -> int:
        """Never so many that a driver would drop them."""
        self._asked += 1
        if self._scanned and (len(self._queue) < 5 or self._asked > PATIENCE):
            raise EndOfStreamError
        return min(len(self._queue), 200)

    def inWaiting(self) -> int:  # noqa: N802, as pyserial calls it
        """As pyserial 2 has it."""
        return self.in_waiting

    def _ignore(self, *_: Any) -> None:
        """For all that moves no bytes."""

    setDTR = flush = flushInput = reset_input_buffer = close = read_all = _ignore  # noqa: N815


def classic(module: str, iterate: str, express: Any) -> Callable[[str], Iterator[Sample]]:
    """A driver that descends from SkoltechRobotics/rplidar."""

    def run(mode: str) -> Iterator[Sample]:
        if mode not in ("standard", "express") or (mode == "express" and express is None):
            raise NotImplementedError
        driver = __import__(module).RPLidar
        lidar = driver(None, "port") if module == "adafruit_rplidar" else driver("port")
        options = {"scan_type": express} if mode == "express" else {}
        for _, _, angle, distance in getattr(lidar, iterate)(**options):
            yield angle, distance

    return run


def pyrplidar(mode: str) -> Iterator[Sample]:
    """The package pyrplidar."""
    lidar = __import__("pyrplidar").PyRPlidar()
    lidar.connect("port")
    lidar.get_health()
    generator = lidar.start_scan() if mode == "standard" else lidar.start_scan_express(0)
    for each in generator():
        yield each.angle, each.distance


def rplidarc1(mode: str) -> Iterator[Sample]:
    """The package rplidarc1."""
    if mode != "standard":
        raise NotImplementedError
    lidar = __import__("rplidarc1").RPLidar("port", 460800)
    failure: BaseException | None = None
    try:
        asyncio.run(lidar.simple_scan())
    except BaseException as error:
        failure = error
    while not lidar.output_queue.empty():
        each = lidar.output_queue.get_nowait()
        yield each["a_deg"], each["d_mm"] or 0.0
    if failure is not None:
        raise failure


DRIVERS: dict[str, Callable[[str], Iterator[Sample]]] = {
    "rplidar": classic("rplidar", "iter_measurments", None),
    "rplidar-roboticia": classic("rplidar", "iter_measures", "express"),
    "adafruit-circuitpython-rplidar": classic("adafruit_rplidar", "iter_measurements", 2),
    "pyrplidar": pyrplidar,
    "rplidarc1": rplidarc1,
}


def main(package: str, mode: str, path: str) -> None:
    """Decode, and print what was decoded."""
    module: Any = types.ModuleType("serial")
    Serial.scan = Path(path).read_bytes()
    module.Serial, module.SerialException, module.PARITY_NONE, module.STOPBITS_ONE = Serial, OSError, "N", 1
    sys.modules["serial"] = module
    for name, kind in (("busio", "UART"), ("digitalio", "DigitalInOut")):  # of CircuitPython, for types
        sys.modules[name] = types.ModuleType(name)
        setattr(sys.modules[name], kind, object)
    samples: list[Sample] = []
    error = ""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            for sample in DRIVERS[package](mode):
                samples.append(sample)
        except EndOfStreamError:
            pass
        except NotImplementedError:
            error = "no such mode"
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"[:80]
    print(json.dumps({"samples": samples, "seconds": time.process_time() - Serial.began, "error": error}))


if __name__ == "__main__":
    main(*sys.argv[1:])
