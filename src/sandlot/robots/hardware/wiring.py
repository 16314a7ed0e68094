"""How a rover is wired: pins of the Raspberry Pi, channels of the multiplexer, and the calibration of its voltages."""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from sandlot.reading import read_toml
from sandlot.robots.hardware.board import CHANNELS
from sandlot.settings import Settings, build

Pin = int
MAX_WIRING_BYTES = 2**16
"""Largest file of a wiring [bytes]."""


class Track(Settings):
    """Pins of a track.

    Attributes:
        forward: Of the H-bridge.
        backward: Of the H-bridge.
        channel_a: Of the encoder.
        channel_b: Of the encoder.
    """

    forward: Pin = Field(ge=0, le=27)
    backward: Pin = Field(ge=0, le=27)
    channel_a: Pin = Field(ge=0, le=27)
    channel_b: Pin = Field(ge=0, le=27)


class Calibration(Settings):
    """How a voltage follows from what the converter reads: ``gain`` times the voltage at its input, plus ``offset``.

    Attributes:
        gain: Of the resistor divider, inverted.
        offset: By comparison with a voltmeter [V].
    """

    gain: float = Field(1.0, gt=0.0, le=100.0)
    offset: float = Field(0.0, ge=-5.0, le=5.0)


class Wiring(Settings):
    """The wiring of a rover; pins are numbered as GPIO of the Raspberry Pi.

    Attributes:
        left: Left track.
        right: Right track.
        select: Four pins that choose a channel of the multiplexer, the lowest bit first.
        motors: Enables the 9 V supply.
        usb: Enables USB power, of the lidar.
        backup: Connects the backup battery.
        disconnect: Disconnects the main batteries (signal OC).
        bus: Number of the I2C bus.
        address: Of the analog-to-digital converter.
        reference: Supply of the converter, its largest reading [V].
        channels: Channel of the multiplexer for each voltage.
        calibration: Of each voltage; those that are not given are not changed.
        pulses: Of an encoder's channel per turn of the sprocket.
        sprocket: Its diameter [m].
        radius: Of a disc around the rover [m].
        top_speed: Of a track at full power [m/s].
        turning_width: Difference between the travels of the tracks for a turn of 1 rad [m].
        frequency: Of the pulses that set the power of the motors [Hz].
    """

    left: Track = Track(forward=5, backward=6, channel_a=13, channel_b=19)
    right: Track = Track(forward=20, backward=21, channel_a=16, channel_b=12)
    select: tuple[Pin, Pin, Pin, Pin] = (17, 27, 22, 23)
    motors: Pin = Field(24, ge=0, le=27)
    usb: Pin = Field(25, ge=0, le=27)
    backup: Pin = Field(18, ge=0, le=27)
    disconnect: Pin = Field(4, ge=0, le=27)
    bus: int = Field(1, ge=0, le=20)
    address: int = Field(0x4D, ge=0x08, le=0x77)
    reference: float = Field(3.3, gt=0.0, le=5.5)
    channels: dict[str, int] = Field(default_factory=lambda: {name: k for k, name in enumerate(CHANNELS)})
    calibration: dict[str, Calibration] = Field(default_factory=dict)
    pulses: int = Field(76, ge=1, le=100_000)
    sprocket: float = Field(0.05, gt=0.0, le=1.0)
    radius: float = Field(0.17, gt=0.0, le=5.0)
    top_speed: float = Field(0.3, gt=0.0, le=5.0)
    turning_width: float = Field(0.4, gt=0.0, le=5.0)
    frequency: float = Field(200.0, ge=20.0, le=20_000.0)

    @model_validator(mode="after")
    def _each_pin_once(self) -> Self:
        used = [pin for track in (self.left, self.right) for pin in track.model_dump().values()]
        used += [*self.select, self.motors, self.usb, self.backup, self.disconnect]
        twice = sorted({pin for pin in used if used.count(pin) > 1})
        if twice:
            raise ValueError(f"pin {twice[0]} is used twice")
        if set(self.channels) != set(CHANNELS):
            raise ValueError(f"channels names {', '.join(CHANNELS)}")
        if not all(0 <= channel < 16 for channel in self.channels.values()):
            raise ValueError("channels of the multiplexer are 0 to 15")
        if unknown := set(self.calibration) - set(CHANNELS):
            raise ValueError(f"calibration of {min(unknown)}, which is not measured")
        return self


def read_wiring(path: Path) -> Wiring:
    """The wiring in a TOML file.

    Raises:
        SettingError: If it cannot be read, or something in it is not possible.
    """
    return build(Wiring, read_toml(path, MAX_WIRING_BYTES))
