"""The H-bridge of a track (5.3.1): forward, backward or off, and never both directions at once.

With both signals high, current flows from the supply through the transistors to ground. `HBridge` is the only place
that sets these signals, and `HBridge._set` the only function: it switches one off before it switches the other on.
`HBridge.run` waits in between, since transistors need time to open.
"""

import math
import threading
import time
from typing import Any, Protocol

from sandlot.errors import HardwareError

DEAD_TIME = 0.001
"""Between one direction and the other [s]."""


class Output(Protocol):
    """A pin whose pulses set a power from 0 to 1, as ``gpiozero.PWMOutputDevice``."""

    value: Any

    def close(self) -> None:
        """Switch off and free the pin."""


class HBridge:
    """Drives the motors of a track.

    Attributes:
        power: From -1, full power backward, to 1.
    """

    def __init__(self, forward: Output, backward: Output) -> None:
        """Take both pins, and switch both off."""
        self._forward, self._backward = forward, backward
        self._lock = threading.Lock()
        self.power = 0.0
        self._set(0.0, 0.0)

    def run(self, power: float) -> None:
        """Let the motors run with a power from -1 to 1; beyond, it is limited.

        Raises:
            HardwareError: If it is not a finite number; the motors are then off.
        """
        if not math.isfinite(power):
            self.off()
            raise HardwareError(f"the power of a motor is a number from -1 to 1, not {power}")
        limited = min(max(power, -1.0), 1.0)
        with self._lock:
            if limited * self.power < 0.0:
                self._set(0.0, 0.0)
                time.sleep(DEAD_TIME)
            self._set(max(limited, 0.0), max(-limited, 0.0))
            self.power = limited

    def off(self) -> None:
        """Let the motors coast."""
        with self._lock:
            self._set(0.0, 0.0)
            self.power = 0.0

    def close(self) -> None:
        """Switch off and free the pins."""
        self.off()
        self._forward.close()
        self._backward.close()

    def _set(self, forward: float, backward: float) -> None:
        """Set both signals, the one that is to be off first."""
        if forward > 0.0 and backward > 0.0:
            raise HardwareError("an H-bridge must never be switched forward and backward at once")
        first, last = (self._forward, forward), (self._backward, backward)
        if forward > 0.0:
            first, last = last, first
        try:
            first[0].value = first[1]
            last[0].value = last[1]
        except Exception:
            first[0].value = last[0].value = 0.0
            raise
