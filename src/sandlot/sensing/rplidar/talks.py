"""What a host says to a lidar and waits for, as generators without input or output; both shells run the same ones.

A talk yields steps. A shell does each step, and sends the event that was awaited back, or None if it did not come in
time.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from sandlot.errors import DeviceError, quote
from sandlot.sensing.rplidar.answers import AccessoryBoard, Answer, Configuration, Health, Info, Key, SampleRate, Status
from sandlot.sensing.rplidar.modes import ScanMode, legacy_modes
from sandlot.sensing.rplidar.receiver import Event as Event  # part of the interface of this module
from sandlot.sensing.rplidar.receiver import Restarted, ScanBegun
from sandlot.sensing.rplidar.requests import (
    Command,
    accessory_board,
    get_configuration,
    motor_pwm,
    motor_rpm,
    plain,
)

ATTEMPTS = 3
"""How often a request is sent before the lidar counts as silent."""
ANSWER_TIME = 0.5
"""For which an answer is waited [s]."""
BOOT_TIME = 3.0
"""For which a banner is waited after a reset [s]."""
STOP_TIME = 0.1
"""For which bytes may still come after a scan was stopped [s]."""
USUAL_PWM, USUAL_RPM = 660, 600
MAX_MODES = 32
"""Of a table of scan modes; a larger count means damage."""


@dataclass(frozen=True, slots=True)
class Write:
    """Send bytes; a request other than to the motor ends a scan."""

    data: bytes
    ends_scan: bool = True


@dataclass(frozen=True, slots=True)
class Await:
    """Wait for an event of a kind, at most for some time [s]; samples that come before are dropped."""

    kind: type[Event]
    seconds: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Read and drop what comes, for some time [s]."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Spin:
    """Switch the motor by the line DTR, if the port has one."""

    on: bool


T = TypeVar("T")
Step: TypeAlias = Write | Await | Pause | Spin
Talk: TypeAlias = Generator[Step, Event | None, T]


def ask(request: bytes, kind: type[T], what: str, attempts: int = ATTEMPTS) -> Talk[T]:
    """Send a request until its answer comes.

    Raises:
        DeviceError: It does not come.
    """
    for _ in range(attempts):
        yield Write(request)
        if isinstance(event := (yield Await(kind, ANSWER_TIME)), kind):  # type: ignore[arg-type]
            return event
    raise DeviceError(
        f"the lidar does not answer when asked for its {what}; check its power, its cable and the baud rate"
    )


def info(attempts: int = ATTEMPTS) -> Talk[Info]:
    """Ask for model, versions and serial number."""
    return (yield from ask(plain(Command.GET_INFO), Info, "model", attempts))


def health() -> Talk[Health]:
    """Ask for the health."""
    return (yield from ask(plain(Command.GET_HEALTH), Health, "health"))


def sample_rate() -> Talk[SampleRate]:
    """Ask for the time between samples."""
    return (yield from ask(plain(Command.GET_SAMPLE_RATE), SampleRate, "sample rate"))


def configuration(key: Key, mode: int | None = None) -> Talk[Configuration]:
    """Ask for an entry of the configuration."""
    for _ in range(ATTEMPTS):
        found = yield from ask(get_configuration(key, mode), Configuration, "configuration")
        if found.key == key and found.payload:
            return found
    raise DeviceError(f"the lidar answers for another entry of its configuration than {key.name}")


def scan_modes(about: Info) -> Talk[tuple[tuple[ScanMode, ...], int]]:
    """Ask for the table of scan modes, and the number of the one that the device recommends.

    A device that has no table has the standard mode, and express since firmware 1.17. Modes in formats that are not
    known here are left out.
    """
    if about.series == "A" and about.firmware < (1, 24):
        if about.firmware < (1, 17):
            return legacy_modes(SampleRate(476e-6, 476e-6), express=False), 0
        return legacy_modes((yield from sample_rate()), express=True), 1
    count = (yield from configuration(Key.MODE_COUNT)).number
    if not 0 < count <= MAX_MODES:
        raise DeviceError(f"the lidar says that it has {count:,} scan modes; is it an RPLIDAR?")
    modes = []
    for number in range(count):
        answer = (yield from configuration(Key.MODE_ANSWER, number)).payload[0]
        if answer not in list(Answer):
            continue
        period = (yield from configuration(Key.MODE_PERIOD, number)).number / 256e6
        max_range = (yield from configuration(Key.MODE_MAX_RANGE, number)).number / 256.0
        name = (yield from configuration(Key.MODE_NAME, number)).text
        modes.append(ScanMode(number, name, period, max_range, Answer(answer)))
    typical = (yield from configuration(Key.TYPICAL_MODE)).number
    return tuple(modes), typical


def choose(modes: tuple[ScanMode, ...], typical: int, name: str | None) -> ScanMode:
    """The mode of a name, in any case of letters; without a name, the one that the device recommends.

    Raises:
        DeviceError: There is no such mode.
    """
    if name is None:
        return next((mode for mode in modes if mode.number == typical), modes[0])
    for mode in modes:
        if mode.name.lower() == name.lower():
            return mode
    known = ", ".join(mode.name for mode in modes)
    raise DeviceError(f"this lidar has no scan mode {quote(name)!r}; it has: {known}")


def reset() -> Talk[None]:
    """Restart the device, which leaves a protection stop; its banner need not be understood."""
    yield Write(plain(Command.RESET))
    yield Await(Restarted, BOOT_TIME)
    yield Pause(0.05)


def spin(about: Info, on: bool) -> Talk[None]:
    """Switch the motor, in whatever way this model has: line DTR, accessory board, or a speed."""
    yield Spin(on)
    if about.series == "A" and about.model >> 4 > 1:
        yield Write(accessory_board())
        board = yield Await(AccessoryBoard, ANSWER_TIME)
        if isinstance(board, AccessoryBoard) and board.pwm:
            yield Write(motor_pwm(USUAL_PWM if on else 0), ends_scan=False)
    elif about.series != "A":
        yield Write(motor_rpm(USUAL_RPM if on else 0), ends_scan=False)


def begin(about: Info, mode: ScanMode) -> Talk[None]:
    """Begin to scan; a device that protects itself is reset once.

    Raises:
        DeviceError: It does not answer, or reports a fault also after a reset.
    """
    found = yield from health()
    if found.status is Status.ERROR:
        yield from reset()
        found = yield from health()
    if found.status is Status.ERROR:
        raise DeviceError(
            f"the lidar reports a fault, code {found.code}, also after a reset; does its head turn freely?"
        )
    yield from spin(about, on=True)
    yield from ask(mode.request(), ScanBegun, f"scan in mode {mode.name}")


def end(about: Info, motor: bool = False) -> Talk[None]:
    """Stop to scan; and the motor, unless it should go on."""
    for _ in range(2):  # the first may be damaged on its way
        yield Write(plain(Command.STOP))
        yield Pause(STOP_TIME)
    if not motor:
        yield from spin(about, on=False)
