"""Frames, and the declaration of what they hold: for each quantity a unit, a meaning, a shape and a type.

A world declares its quantities once; each of its frames holds exactly those, and a recording keeps their units and
meaning beside the numbers. `sandlot.recordings.vocabulary` has the names.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Frame: TypeAlias = Mapping[str, NDArray[Any] | np.generic]
"""The named quantities of one time step."""

SYMBOLS = frozenset({"1", "m", "s", "rad", "kg", "N", "Pa", "W", "J", "V", "A", "K", "cell", "cycle", "unit", "mixed"})
"""Known units: SI; cells, cycles and units of material of the grid world; ``mixed`` for an observation."""

ONCE = 2**31 - 1
"""``every`` of a quantity that never changes: only the first frame keeps it. The largest that netCDF-3 can hold."""


@dataclass(frozen=True)
class Quantity:
    """One named quantity of a frame.

    Attributes:
        units: Products of known symbols, as in ``m/s`` or ``kg*m^2``; ``1`` for a pure number; several, separated by
            commas, for the elements along the last axis.
        long_name: What it is, in a few words.
        dims: Names of its axes within one frame; empty for a number.
        shape: Lengths of these axes.
        dtype: NumPy type.
        every: A recording keeps it in every so many frames, beginning with the first.
    """

    units: str
    long_name: str
    dims: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()
    dtype: str = "float64"
    every: int = 1

    def __post_init__(self) -> None:
        unknown = set(re.sub(r"\^-?\d+", "", self.units).replace("/", "*").replace(", ", "*").split("*")) - SYMBOLS
        if unknown:
            raise ValueError(f"unit {self.units!r} has unknown parts {sorted(unknown)}; known: {sorted(SYMBOLS)}")
        if len(self.dims) != len(self.shape):
            raise ValueError(f"{self.long_name!r} has {len(self.dims)} dims but a shape of {len(self.shape)}")
        if self.every < 1:
            raise ValueError(f"{self.long_name!r} is kept every {self.every} frames; at least 1")
        np.dtype(self.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of one frame."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def check_frame(frame: Frame, quantities: Mapping[str, Quantity]) -> None:
    """Raise ``ValueError`` unless ``frame`` holds exactly the declared quantities, in shape and type."""
    if set(frame) != set(quantities):
        raise ValueError(f"frame has {sorted(frame)}, declared are {sorted(quantities)}")
    for name, quantity in quantities.items():
        value = np.asarray(frame[name])
        if value.shape != quantity.shape or value.dtype != np.dtype(quantity.dtype):
            raise ValueError(
                f"{name} is {value.dtype}{value.shape}, declared as {quantity.dtype}{quantity.shape}",
            )
