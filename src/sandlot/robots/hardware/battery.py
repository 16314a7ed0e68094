"""The batteries of the source's rover: what they hold, and how long they last.

A 3S lithium polymer battery is full at 12.6 V and empty at 10.2 V (5.1.1). Its open-circuit voltage is taken to fall
linearly with the charge that was drawn; the current times a resistance lowers it. The rover is empty when that voltage
is below 10.2 V, so a larger current leaves more charge unused: the source's table (7.1.3) shows 11.9 Ah at 0.45 A, but
8.6 Ah of 12 Ah at 1.9 A. The resistance is chosen to give the latter.
"""

from typing import Literal

from pydantic import Field

from sandlot.settings import Settings

PowerState = Literal["quiescent", "low power", "stand-by", "moving"]
CURRENTS: dict[PowerState, float] = {"quiescent": 0.055, "low power": 0.25, "stand-by": 0.45, "moving": 1.9}
"""Of the batteries at 12.0 V, by the source's table (7.1.3) [A]."""
LIVES: dict[PowerState, float] = {"quiescent": 213.0, "low power": 47.0, "stand-by": 26.5, "moving": 4.5}
"""Until undervoltage, by the same table [h]; the first is the source's estimate."""
HOUR = 3600.0
TRUST = 600.0
"""Time over which the voltage corrects what was counted [s]; it ripples while motors run."""


class Battery(Settings):
    """Batteries in parallel; the defaults are the two main ones.

    Attributes:
        capacity: Together [Ah].
        full: Voltage [V].
        empty: Below this voltage the backup takes over [V].
        resistance: By which a current lowers the voltage [ohm].
    """

    capacity: float = Field(12.0, gt=0.0)
    full: float = Field(12.6, gt=0.0)
    empty: float = Field(10.2, gt=0.0)
    resistance: float = Field(0.363, ge=0.0)

    def voltage(self, charge: float, current: float) -> float:
        """Voltage [V] at a charge from 0 to 1 and a current [A]."""
        return self.empty + (self.full - self.empty) * charge - self.resistance * current

    def charge(self, voltage: float, current: float) -> float:
        """Charge, from 0 to 1, at a voltage [V] under a current [A]."""
        open_circuit = voltage + self.resistance * current
        return min(max((open_circuit - self.empty) / (self.full - self.empty), 0.0), 1.0)

    def time_left(self, charge: float, current: float) -> float:
        """How long a current [A] can be drawn from a charge until the voltage is too low [s]."""
        unused = min(self.resistance * current / (self.full - self.empty), 1.0)
        return max(charge - unused, 0.0) * self.capacity * HOUR / current


MAIN = Battery()
BACKUP = Battery(capacity=2.2, resistance=0.363 * 12.0 / 2.2)
"""2200 mAh; its resistance is taken to grow with the inverse of the capacity."""


class Gauge:
    """Estimates the charge of a battery from its voltage and from the current, which is known by the power state.

    Attributes:
        battery: Which one.
        charge: From 0 to 1.
    """

    def __init__(self, battery: Battery, voltage: float, current: float) -> None:
        """Begin with what the voltage [V] under a current [A] shows."""
        self.battery, self.charge = battery, battery.charge(voltage, current)

    def update(self, voltage: float, current: float, seconds: float) -> None:
        """Count what a current [A] has drawn in a time [s], and let the voltage [V] correct it slowly."""
        counted = self.charge - current * seconds / (self.battery.capacity * HOUR)
        share = min(seconds / TRUST, 1.0)
        self.charge = min(max(counted + share * (self.battery.charge(voltage, current) - counted), 0.0), 1.0)
