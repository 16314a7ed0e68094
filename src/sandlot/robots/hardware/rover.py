"""A real rover behind `sandlot.robots.driver.Driver`: motors and encoders through gpiozero, voltages through smbus2."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from sandlot.errors import HardwareError, SandlotError
from sandlot.extras import need
from sandlot.geometry.planar import wrap
from sandlot.recordings.scans import Pose, Scan
from sandlot.robots.driver import Chassis, Sensed
from sandlot.robots.hardware.battery import PowerState
from sandlot.robots.hardware.board import SWITCHES, Readings, Switch
from sandlot.robots.hardware.bridge import HBridge
from sandlot.robots.hardware.monitor import AnalogMonitor, Bus
from sandlot.robots.hardware.quadrature import Quadrature
from sandlot.robots.hardware.wiring import Track, Wiring

TICK = 0.02
"""Of orders [s]."""
REST = 0.05
"""Tracks are at rest when their encoders have not counted for so long [s]."""
LONGEST_COAST = 2.0
"""A rover that still moves so long after its motors are off is pushed by something; it is not waited for [s]."""
TURN = 2.0
"""Longest time for a turn of the lidar [s]."""
THERMAL = Path("/sys/class/thermal/thermal_zone0/temp")
INVERTED: dict[Switch, bool] = {"main": True}
"""The main batteries are on while their signal is off."""


class Turns(Protocol):
    """A lidar that measures all the time."""

    def take(self) -> Sequence[Scan]:
        """The turns that were completed since the last call, oldest first."""

    def close(self) -> None:
        """Stop it."""


class HardwareBoard:
    """The main board: a `sandlot.robots.hardware.board.Board`."""

    def __init__(self, switches: dict[Switch, Any], monitor: AnalogMonitor) -> None:
        """Take the output of each switch, and what measures voltages."""
        self._switches, self._monitor = switches, monitor
        self._lock = threading.Lock()

    def read(self) -> Readings:
        """Measure everything."""
        with self._lock:
            volts = self._monitor.read_all()
        return Readings(volts, temperature(), {name: self.switched(name) for name in SWITCHES})

    def switch(self, name: Switch, on: bool) -> None:
        """Switch a part of the rover on or off."""
        self._switches[name].value = on != INVERTED.get(name, False)

    def switched(self, name: Switch) -> bool:
        """Whether a part is on."""
        return bool(self._switches[name].value) != INVERTED.get(name, False)

    def draw(self, state: PowerState, seconds: float) -> None:
        """Nothing: a real battery discharges by itself."""


class HardwareRover:
    """A tracked rover.

    Attributes:
        chassis: Size, speed and encoders.
        board: Of its power.
    """

    def __init__(
        self,
        wiring: Wiring,
        lidar: Turns,
        bus: Bus | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Claim all pins, with motors off.

        Args:
            wiring: Of the rover.
            lidar: Its turns.
            bus: Of the converter; that of the wiring if not given.
            clock: Gives the time [s].
            sleep: Waits for a time [s].

        Raises:
            HardwareError: If pins or the bus cannot be used.
            MissingExtraError: If a library is missing.
        """
        gpio: Any = need("gpiozero", "rover")
        self._lidar, self._clock, self._sleep, self._begin = lidar, clock, sleep, clock()
        travel = math.pi * wiring.sprocket / (2 * wiring.pulses)
        self.chassis = Chassis(wiring.radius, wiring.top_speed, wiring.turning_width, travel, TICK)
        self._pins = ExitStack()
        try:
            bridges, encoders = zip(
                *(self._track(gpio, each, wiring) for each in (wiring.left, wiring.right)), strict=True
            )
            self._bridges: tuple[HBridge, ...] = bridges
            self._encoders: tuple[Quadrature, ...] = encoders
            outputs = {name: self._output(gpio, getattr(wiring, pin), on) for name, pin, on in OUTPUTS}
            select = [self._output(gpio, pin, False) for pin in wiring.select]
            if bus is None:
                bus = need("smbus2", "rover").SMBus(wiring.bus)
        except SandlotError:
            self._pins.close()
            raise
        except Exception as error:  # gpiozero has many kinds, of several libraries
            self._pins.close()
            raise HardwareError(f"the pins of the rover cannot be used: {error}") from error
        self.board = HardwareBoard(outputs, AnalogMonitor(wiring, select, bus))
        self._counts, self._pose, self._speed, self._turn_rate = (0, 0), Pose(0.0, 0.0, 0.0), 0.0, 0.0
        self._read = self._now()

    def drive(self, left: float, right: float, seconds: float) -> Sensed:
        """Let the tracks run at these speeds [m/s] for a time [s]; they go on until the next order."""
        if not (math.isfinite(left) and math.isfinite(right)):
            self._off()
            raise HardwareError(f"speeds of tracks are finite [m/s], not {left} and {right}")
        for bridge, speed in zip(self._bridges, (left, right), strict=True):
            bridge.run(speed / self.chassis.top_speed)
        self._sleep(seconds)
        return self._sense()

    def halt(self) -> Sensed:
        """Switch both motors off, and return when the tracks are at rest."""
        self._off()
        end, still = self._now() + LONGEST_COAST, 0.0
        counts = self._counted()
        while still < REST and self._now() < end:
            self._sleep(0.5 * TICK)
            still = still + 0.5 * TICK if self._counted() == counts else 0.0
            counts = self._counted()
        return self._sense()

    def scan(self, turns: int = 1) -> Sensed:
        """Halt, and let the lidar make so many whole turns at rest; only these are returned.

        Raises:
            HardwareError: If the lidar sends nothing.
        """
        self.halt()
        rested, scans = self._now(), list[Scan]()
        sensed = self._sense()
        while len(scans) < turns:
            sensed = self._sense()
            scans += [scan for scan in sensed.scans if scan.began >= rested]
            if self._now() > rested + TURN * (turns + 1):
                raise HardwareError(f"the lidar made {len(scans)} of {turns} turns; check its power and its cable")
            self._sleep(0.25 * TICK)
        return replace(sensed, scans=tuple(scans[:turns]))

    def close(self) -> None:
        """Switch the motors off and free all pins."""
        self._off()
        self._lidar.close()
        self._pins.close()

    def _off(self) -> None:
        for bridge in self._bridges:
            bridge.off()

    def _now(self) -> float:
        return self._clock() - self._begin

    def _counted(self) -> tuple[int, int]:
        left, right = (encoder.count for encoder in self._encoders)
        return left, right

    def _sense(self) -> Sensed:
        """Read the encoders, integrate odometry, and take the turns of the lidar."""
        counts, now = self._counted(), self._now()
        left, right = (
            (after - before) * self.chassis.travel for after, before in zip(counts, self._counts, strict=True)
        )
        turn, ahead, interval = (right - left) / self.chassis.turning_width, 0.5 * (left + right), now - self._read
        if interval > 1e-6:
            self._speed, self._turn_rate = ahead / interval, turn / interval
        middle = self._pose.yaw + 0.5 * turn
        x, y = self._pose.x + ahead * math.cos(middle), self._pose.y + ahead * math.sin(middle)
        self._counts, self._pose, self._read = counts, Pose(x, y, float(wrap(self._pose.yaw + turn))), now
        scans = tuple(
            replace(
                scan,
                time=scan.time - self._begin,
                odometry=self._pose,
                speed=self._speed,
                turn_rate=self._turn_rate,
            )
            for scan in self._lidar.take()
        )
        return Sensed(now, self._pose, counts, scans)

    def _track(self, gpio: Any, track: Track, wiring: Wiring) -> tuple[HBridge, Quadrature]:
        power = [gpio.PWMOutputDevice(pin, frequency=wiring.frequency) for pin in (track.forward, track.backward)]
        bridge = HBridge(*power)
        self._pins.callback(bridge.close)
        channels = [gpio.DigitalInputDevice(pin) for pin in (track.channel_a, track.channel_b)]
        encoder = Quadrature(*channels)
        self._pins.callback(encoder.close)
        return bridge, encoder

    def _output(self, gpio: Any, pin: int, on: bool) -> Any:
        output = gpio.DigitalOutputDevice(pin, initial_value=on)
        self._pins.callback(output.close)
        return output


OUTPUTS: tuple[tuple[Switch, str, bool], ...] = (
    ("motors", "motors", True),
    ("usb", "usb", True),
    ("main", "disconnect", False),
    ("backup", "backup", False),
)
"""Switches, their pins in a wiring, and whether the pin is high at first."""


def temperature() -> float:
    """Of the computer [degree Celsius]; NaN if it does not say."""
    try:
        return float(THERMAL.read_text()) / 1000.0
    except (OSError, ValueError):
        return math.nan
