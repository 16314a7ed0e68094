"""How motors turn wheels: towards the commanded speed, as fast as their torque allows.

It is not a net: two numbers that are fitted to recordings follow them to a few hundredths of a radian per second.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.optimize

from sandlot.kernels import kernel
from sandlot.surrogates.terrain.drives import WHEELS, Drive
from sandlot.surrogates.terrain.shape import Shape
from sandlot.typing import Array

SLOWEST, FIRST = 1e-3, 0.9
"""Least share, and that from which the search begins."""
LEAST = 1e-6
"""Least change of speed in a frame that a fit gives [rad/s]."""


class Motors(NamedTuple):
    """Motors of a rover.

    Attributes:
        share: Of the difference from the commanded speed that a frame makes up for, at most 1.
        most: By which the speed changes in a frame [rad/s].
    """

    share: float
    most: float


@kernel(error_model="numpy", allocates=False)
def turned(motors: Motors, speed: float, commanded: float) -> float:
    """Speed of a wheel after a frame [rad/s]."""
    return speed + min(max(motors.share * (commanded - speed), -motors.most), motors.most)


def fit_motors(drives: Sequence[Drive], shape: Shape) -> Motors:
    """Motors that follow recorded commands as recorded wheels do, by least squares."""
    speeds = [each.states[:, WHEELS] for each in drives]
    now, later = (np.concatenate([each[part] for each in speeds]) for part in (slice(0, -1), slice(1, None)))
    away = np.concatenate([each.rows(shape)[:, -2:] for each in drives]) - now
    changed = later - now
    largest = max(float(np.abs(changed).max()), LEAST)

    def error(values: Array) -> float:
        most = largest * values[1]
        return float(np.mean((np.clip(values[0] * away, -most, most) - changed) ** 2))

    bounds = [(SLOWEST, 1.0), (SLOWEST, 1.0)]
    found = scipy.optimize.minimize(error, [FIRST, FIRST], method="Nelder-Mead", bounds=bounds)
    return Motors(float(found.x[0]), float(largest * found.x[1]))
