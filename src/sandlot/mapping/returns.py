"""Ranges without a return, filled in from their neighbours."""

import math

from sandlot.kernels import kernel
from sandlot.typing import Array


@kernel(error_model="numpy", allocates=False)
def fill_missing(ranges: Array) -> None:
    """Interpolate each range that is NaN between the nearest returns on both sides, in place.

    Ranges before the first and after the last return stay NaN.

    Args:
        ranges: (beams,) of one scan line [m].
    """
    last = -1
    for b in range(ranges.size):
        if math.isnan(ranges[b]):
            continue
        if last >= 0:
            for k in range(last + 1, b):
                ranges[k] = ranges[last] + (ranges[b] - ranges[last]) * (k - last) / (b - last)
        last = b
