"""The analog monitor (5.4.2): a multiplexer of 16 channels (CD74HC4067) and a 10-bit converter on I2C (MCP3021)."""

import time
from collections.abc import Sequence
from typing import Any, Protocol

from sandlot.errors import HardwareError
from sandlot.robots.hardware.wiring import Calibration, Wiring

SETTLE = 0.001
"""After a channel was chosen [s]; the source found no loss of accuracy at 1,000 samples a second."""
STEPS = 1024
"""Of the converter."""
TRIES = 3
"""Of a reading; a bus beside motors has errors."""
EXACT = Calibration()


class Bus(Protocol):
    """An I2C bus, as ``smbus2.SMBus``."""

    def read_i2c_block_data(self, i2c_addr: int, register: int, length: int) -> list[int]:
        """Read bytes of a device."""


class AnalogMonitor:
    """Measures voltages one after the other."""

    def __init__(self, wiring: Wiring, select: Sequence[Any], bus: Bus) -> None:
        """Take the wiring, the four pins that choose a channel, and the bus."""
        self._wiring, self._select, self._bus = wiring, select, bus

    def read(self, name: str) -> float:
        """A voltage by its name [V].

        Raises:
            HardwareError: If the converter does not answer.
        """
        wiring = self._wiring
        for bit, pin in enumerate(self._select):
            pin.value = (wiring.channels[name] >> bit) & 1
        time.sleep(SETTLE)
        known = wiring.calibration.get(name, EXACT)
        return known.gain * self._convert() * wiring.reference / STEPS + known.offset

    def read_all(self) -> dict[str, float]:
        """All voltages [V]."""
        return {name: self.read(name) for name in self._wiring.channels}

    def _convert(self) -> int:
        """A reading of the converter, from 0 to 1023: two bytes, of which the lowest two bits are not used."""
        problem = ""
        for _ in range(TRIES):
            try:
                high, low = self._bus.read_i2c_block_data(self._wiring.address, 0, 2)
            except OSError as error:
                problem = error.strerror or str(error)
                continue
            if high & 0xF0:
                problem = f"it sends {high:#04x}, which is no reading"
                continue
            return ((high << 8) | low) >> 2
        raise HardwareError(f"the converter at {self._wiring.address:#04x} does not answer: {problem}")
