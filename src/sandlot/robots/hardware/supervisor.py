"""Watches the batteries: predicts how long they last, and switches to the backup when they are empty (5.1.4)."""

import math
from dataclasses import dataclass

from sandlot.errors import HardwareError
from sandlot.robots.hardware.battery import BACKUP, CURRENTS, MAIN, Gauge, PowerState
from sandlot.robots.hardware.board import Board, Readings, Switch

PERIOD = 1.0 / 6.0
"""Between two measurements, as in the source [s]."""
SURE = 3
"""So many measurements in a row must be too low: motors cause ripples, which once triggered the source's comparator."""


@dataclass(frozen=True, slots=True)
class Power:
    """What is known of the power.

    Attributes:
        readings: Of the board.
        state: What the rover draws.
        charge: Of the battery that supplies it, from 0 to 1.
        time_left: At the present current [s].
        backup: Whether the backup supplies it.
    """

    readings: Readings
    state: PowerState
    charge: float
    time_left: float
    backup: bool


class Supervisor:
    """Watches a board.

    Attributes:
        board: Which one.
        threshold: Main batteries below this voltage are empty [V].
        backup: Whether the backup supplies the rover.
        asleep: Whether the rover is in its low-power state: motors and lidar off.
    """

    def __init__(self, board: Board, threshold: float = MAIN.empty) -> None:
        """Take a board; the first measurement gives the charge."""
        self.board, self.threshold = board, threshold
        readings = board.read()
        self.backup, self.asleep = readings.switches["backup"], False
        self._low = 0
        current = CURRENTS["stand-by"]
        self._main = Gauge(MAIN, readings.main, current)
        self._spare = Gauge(BACKUP, readings.volts["backup"], 0.0)

    def update(self, moving: bool, seconds: float) -> tuple[Power, str]:
        """Measure, and act if the batteries are empty.

        Args:
            moving: Whether motors run.
            seconds: Since the last measurement [s].

        Returns:
            What is known, and one line if something has happened.
        """
        state = self._state(moving)
        self.board.draw(state, seconds)
        readings, current, report = self.board.read(), CURRENTS[state], ""
        gauge, volts = (self._spare, readings.volts["backup"]) if self.backup else (self._main, readings.main)
        gauge.update(volts, current, seconds)
        if not self.backup:
            self._low = self._low + 1 if not readings.main >= self.threshold else 0  # NaN counts as low
            if self._low >= SURE:
                report = (
                    f"undervoltage: {readings.main:.2f} V; the backup battery supplies the rover, which must not move"
                )
                self.use_backup()
        left = gauge.battery.time_left(gauge.charge, current)
        return Power(readings, state, gauge.charge, left, self.backup), report

    def use_backup(self) -> None:
        """Connect the backup, then disconnect the main batteries; motors and lidar go off."""
        self.board.switch("motors", False)
        self.board.switch("usb", False)
        self.board.switch("backup", True)  # first, so that the computer never loses its supply
        self.board.switch("main", False)
        self.backup = True

    def use_main(self) -> None:
        """Go back to the main batteries, after they were changed.

        Raises:
            HardwareError: If they are empty.
        """
        readings = self.board.read()
        needed = self.threshold + MAIN.resistance * CURRENTS["moving"]  # without a load, their voltage is higher
        if not readings.main >= needed:
            raise HardwareError(f"the main batteries have {readings.main:.2f} V; below {needed:.2f} V they are empty")
        self.board.switch("main", True)
        self.board.switch("backup", False)
        self.backup, self._low = False, 0
        self._main = Gauge(MAIN, readings.main, CURRENTS["stand-by"])
        self.sleep(False)

    def sleep(self, wanted: bool) -> None:
        """Enter or leave the low-power state."""
        if self.backup and not wanted:
            raise HardwareError("the backup battery supplies the rover, which must not move")
        names: tuple[Switch, ...] = ("motors", "usb")
        for name in names:
            self.board.switch(name, not wanted)
        self.asleep = wanted

    def switch_motors(self, on: bool) -> None:
        """Switch the 9 V supply.

        Raises:
            HardwareError: If the backup supplies the rover.
        """
        if on and self.backup:
            raise HardwareError("the backup battery supplies the rover, which must not move")
        self.board.switch("motors", on)

    def refuse_motion(self) -> str:
        """Why the rover must not move now; empty if it may."""
        if self.backup:
            return "the backup battery supplies the rover, which must not move"
        return "" if self.board.switched("motors") else "the supply of the motors is off"

    def _state(self, moving: bool) -> PowerState:
        if self.asleep or self.backup:
            return "low power"
        return "moving" if moving else "stand-by"


def telemetry(power: Power) -> dict[str, float]:
    """What is known as named numbers, for data packets and recordings."""
    named = {f"{name} [V]": volts for name, volts in power.readings.volts.items()}
    named |= {f"{name} on": float(on) for name, on in power.readings.switches.items()}
    named |= {"temperature [C]": power.readings.temperature, "charge": power.charge, "time left [s]": power.time_left}
    return {name: value if math.isfinite(value) else -1.0 for name, value in named.items()}
