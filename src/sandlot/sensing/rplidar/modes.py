"""Scan modes: what a device offers, and the modes that it has if it cannot be asked."""

from dataclasses import dataclass

from sandlot.sensing.rplidar.answers import Answer, SampleRate
from sandlot.sensing.rplidar.requests import Command, express_scan, plain


@dataclass(frozen=True, slots=True)
class ScanMode:
    """A way to scan.

    Attributes:
        number: In the device's table.
        name: As the device calls it, such as ``Boost``.
        period: Time between two samples [s].
        max_range: [m]
        answer: Format of its packets.
    """

    number: int
    name: str
    period: float
    max_range: float
    answer: Answer

    def request(self) -> bytes:
        """The bytes that begin a scan in this mode."""
        if self.answer is Answer.STANDARD:
            return plain(Command.SCAN)
        # Legacy express has the mode 0 in its request, whatever its number in the table.
        return express_scan(0 if self.answer is Answer.EXPRESS else self.number)


A1_MODES = (
    ScanMode(0, "Standard", 508e-6, 12.0, Answer.STANDARD),
    ScanMode(1, "Express", 254e-6, 12.0, Answer.EXPRESS),
    ScanMode(2, "Boost", 127e-6, 12.0, Answer.ULTRA),
    ScanMode(3, "Sensitivity", 127e-6, 12.0, Answer.ULTRA),
    ScanMode(4, "Stability", 201e-6, 12.0, Answer.ULTRA),
)
"""As measured of an A1M8 with firmware 1.29."""
S2_MODES = (
    ScanMode(0, "Standard", 125e-6, 30.0, Answer.STANDARD),
    ScanMode(1, "DenseBoost", 31.25e-6, 30.0, Answer.DENSE),
)
"""Of an S2: 32,000 samples a second, the fastest rate of these devices."""
PERIODS = {Answer.STANDARD: 508e-6, Answer.EXPRESS: 254e-6, Answer.ULTRA: 127e-6, Answer.DENSE: 31.25e-6}
"""Time between two samples, if a device was not asked [s]."""


def legacy_modes(rate: SampleRate, express: bool) -> tuple[ScanMode, ...]:
    """Modes of a device that has no table of them: firmware before 1.24, and express since 1.17."""
    standard = ScanMode(0, "Standard", rate.standard, 12.0, Answer.STANDARD)
    return (standard, ScanMode(1, "Express", rate.express, 12.0, Answer.EXPRESS)) if express else (standard,)
