"""Frames of a recording of scans, as exporters and mappers read them."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import xarray as xr

from sandlot.errors import RecordingError, quote
from sandlot.recordings.needs import MESSAGES, SCANS
from sandlot.recordings.reader import settings
from sandlot.recordings.scans import quantities
from sandlot.typing import Array

OPTIONAL = frozenset({"odometry_x", "odometry_y", "odometry_yaw", "speed", "turn_rate"})
"""Quantities that a recording may lack."""
BLOCK = 256
"""Frames that are read at a time."""


def check_scans(dataset: xr.Dataset, recording: str | Path) -> None:
    """Raise a `RecordingError` unless a recording holds scans."""
    missing = [name for name in quantities(0) if name not in dataset.variables and name not in OPTIONAL]
    if missing:
        raise RecordingError(MESSAGES[SCANS].format(path=recording, missing=", ".join(missing)))
    if dataset.sizes["time"] == 0:
        raise RecordingError(f"{recording} has no frames")


def scan_blocks(dataset: xr.Dataset) -> Iterator[xr.Dataset]:
    """All frames, `BLOCK` at a time."""
    for first in range(0, dataset.sizes["time"], BLOCK):
        yield load_frames(dataset, slice(first, first + BLOCK))


def scan_bearings(dataset: xr.Dataset) -> Array:
    """Bearings of the beams: (beams,) [rad]."""
    found: Array = load_frames(dataset[["bearings"]], slice(0, 1))["bearings"].values[0]
    return found


def scan_ages(dataset: xr.Dataset) -> Array | None:
    """How long before the time of its frame each beam was measured: (beams,) [s]; None if all were at once."""
    if "ages" not in dataset:
        return None
    found: Array = load_frames(dataset[["ages"]], slice(0, 1))["ages"].values[0]
    return found


def scan_origin(dataset: xr.Dataset) -> tuple[float | None, tuple[float, float] | None]:
    """Start [s] and position of the laser [m] in the settings; None if they are missing or mean something else."""
    about = settings(dataset)
    start, position = about.get("start"), about.get("laser_position")
    x, y = position if isinstance(position, list) and len(position) == 2 else (None, None)
    laser = (float(x), float(y)) if _is_number(x) and _is_number(y) else None
    return float(start) if _is_number(start) else None, laser


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and math.isfinite(value)


def load_frames(dataset: xr.Dataset, frames: slice) -> xr.Dataset:
    """Some frames of a recording, in memory; quantities that it does not have are NaN.

    Raises:
        RecordingError: They are damaged.
    """
    kept = [name for name in (*quantities(0), "ages") if name in dataset]
    try:
        block = dataset[kept].isel(time=frames, missing_dims="ignore").load()
    except Exception as error:  # Zarr and its codecs raise nearly every kind
        raise RecordingError(f"the recording is damaged: {type(error).__name__}: {quote(error)}") from error
    for name in OPTIONAL.difference(kept) if "time" in block.sizes else ():
        block[name] = xr.full_like(block["yaw"], np.nan)
    return block
