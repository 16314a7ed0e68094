"""The main board as the rover's program sees it, real or simulated: voltages in, switches out."""

from dataclasses import dataclass, field
from typing import Literal, Protocol

from sandlot.robots.hardware.battery import BACKUP, CURRENTS, HOUR, MAIN, PowerState

Switch = Literal["motors", "usb", "main", "backup"]
"""9 V supply of the motors; USB power, of the lidar; main batteries; backup battery (5.4.1)."""
SWITCHES: tuple[Switch, ...] = ("motors", "usb", "main", "backup")
CELLS = ("cell_1", "cell_2", "cell_3", "cell_4", "cell_5", "cell_6")
"""Cells 1 to 3 are those of the first main battery, in series, 4 to 6 those of the second [V]."""
CHANNELS = (*CELLS, "rail_5v", "rail_9v", "backup")
"""The nine voltages that are measured (5.4.2) [V]."""


@dataclass(frozen=True, slots=True)
class Readings:
    """What the board measures.

    Attributes:
        volts: By the names of `CHANNELS` [V].
        temperature: Of the computer [degree Celsius]; NaN if unknown.
        switches: Which are on.
    """

    volts: dict[str, float]
    temperature: float
    switches: dict[Switch, bool]

    @property
    def main(self) -> float:
        """Voltage of the main batteries, which are parallel: the lower of both [V]."""
        return min(sum(self.volts[name] for name in CELLS[:3]), sum(self.volts[name] for name in CELLS[3:]))


class Board(Protocol):
    """Measures and switches."""

    def read(self) -> Readings:
        """Measure everything."""

    def switch(self, name: Switch, on: bool) -> None:
        """Switch a part of the rover on or off."""

    def switched(self, name: Switch) -> bool:
        """Whether a part is on."""

    def draw(self, state: PowerState, seconds: float) -> None:
        """Tell a simulated board how long the rover was in a state [s]; a real one measures."""


@dataclass
class SimulatedBoard:
    """Batteries that the source's currents discharge.

    Attributes:
        charge: Of the main batteries, from 0 to 1.
        backup: Of the backup battery.
        switches: Which are on.
    """

    charge: float = 1.0
    backup: float = 1.0
    switches: dict[Switch, bool] = field(default_factory=lambda: dict.fromkeys(SWITCHES, True) | {"backup": False})
    _current: float = CURRENTS["stand-by"]

    def read(self) -> Readings:
        """Voltages by the model of the batteries."""
        on = self.switches
        main = MAIN.voltage(self.charge, self._current if on["main"] else 0.0)
        backup = BACKUP.voltage(self.backup, self._current if on["backup"] and not on["main"] else 0.0)
        volts = dict.fromkeys(CELLS, main / 3.0)
        volts |= {"rail_5v": 5.0, "rail_9v": 9.0 if on["motors"] else 0.0, "backup": backup}
        return Readings(volts, 45.0, dict(on))

    def switch(self, name: Switch, on: bool) -> None:
        """Remember the switch."""
        self.switches[name] = on

    def switched(self, name: Switch) -> bool:
        """Whether a part is on."""
        return self.switches[name]

    def draw(self, state: PowerState, seconds: float) -> None:
        """Discharge the battery that is connected."""
        self._current = CURRENTS[state]
        drawn = self._current * seconds / HOUR
        if self.switches["main"]:
            self.charge = max(self.charge - drawn / MAIN.capacity, 0.0)
        elif self.switches["backup"]:
            self.backup = max(self.backup - drawn / BACKUP.capacity, 0.0)
