"""What the terrain studies share: names of rovers and soils, and helpers for results."""

from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from pydantic import AfterValidator, Field

from sandlot.settings import distinct

ROVERS = ("wheeled", "tracked")
Ground = Literal["soft", "mid", "LETE sand", "rigid"]
SOILS: tuple[Ground, ...] = ("soft", "mid", "LETE sand")
GROUNDS: tuple[Ground, ...] = (*SOILS, "rigid")
"""From the softest to the hardest."""

Positive = Annotated[float, Field(ge=1e-3, le=1e3)]
PositiveValues = Annotated[tuple[Positive, ...], Field(min_length=1), AfterValidator(distinct)]


def rows(results: xr.Dataset) -> Iterator[xr.Dataset]:
    """The results of each job, in order."""
    for k in range(results.sizes["job"]):
        yield results.isel(job=k)


def named(row: xr.Dataset, *parameters: str, separator: str = ", ") -> str:
    """The values of a job's parameters as one text."""
    return separator.join(str(row[name].item()) for name in parameters)


def at_most(values: ArrayLike, limit: float) -> bool:
    """Whether all values are at most a limit; NaN compares false, so it fails."""
    return bool(np.all(np.asarray(values, np.float64) <= limit))
