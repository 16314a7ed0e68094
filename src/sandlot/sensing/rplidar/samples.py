"""Samples of a lidar, with the numbers that the device sent and in SI units."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from sandlot.typing import Array, BoolArray

DEGREE = 64
"""Units of an angle in a degree."""
TURN = 360 * DEGREE
MILLIMETRE = 4
"""Units of a distance in a millimetre."""


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples in the order of measurement.

    Attributes:
        times: (n,) when each was measured [s], in the clock of the host.
        angles: (n,) clockwise from the front, seen from above [1/64 degree], 0 to below 360 degrees.
        distances: (n,) [1/4 mm]; 0 without a return.
        qualities: (n,) strength of the return, 0 to 63; only standard packets hold it, in others it is 47 with a return
            and 0 without, as in the maker's driver.
        starts: (n,) whether a turn begins with this sample.
        gaps: (n,) whether samples before this one were lost.
    """

    times: Array
    angles: NDArray[np.int32]
    distances: NDArray[np.int32]
    qualities: NDArray[np.uint8]
    starts: BoolArray
    gaps: BoolArray

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, which: slice | NDArray[np.int64]) -> "Samples":
        return Samples(*(getattr(self, each.name)[which] for each in fields(self)))

    @property
    def ranges(self) -> Array:
        """Distance of each return: (n,) [m]; NaN without one."""
        return np.where(self.distances > 0, self.distances * (1e-3 / MILLIMETRE), np.nan)

    @property
    def bearings(self) -> Array:
        """Direction of each sample, counter-clockwise from the front as in REP-103: (n,) above -pi to pi [rad]."""
        angles = np.where(self.angles > TURN // 2, TURN - self.angles, -self.angles)
        return np.where(angles == -TURN // 2, TURN // 2, angles) * (math.pi / (180 * DEGREE))


def no_samples() -> Samples:
    """None at all."""
    return join([])


def join(parts: Sequence[Samples]) -> Samples:
    """Samples one after the other."""
    if len(parts) == 1:
        return parts[0]
    types = (np.float64, np.int32, np.int32, np.uint8, np.bool_, np.bool_)
    columns = zip(fields(Samples), types, strict=True)
    return Samples(
        *(
            np.concatenate([np.zeros(0, kind), *(getattr(each, field.name) for each in parts)])
            for field, kind in columns
        )
    )
