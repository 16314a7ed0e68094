"""Writes a recording of scans as a file for other tools: MCAP for Foxglove and RViz, or CSV."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import xarray as xr

from sandlot.errors import RecordingError, quote
from sandlot.extras import need
from sandlot.recordings.logs.csv_tables import CsvWriter
from sandlot.recordings.logs.source import Progress
from sandlot.recordings.reader import open as open_recording
from sandlot.recordings.reader import settings
from sandlot.recordings.scans import quantities
from sandlot.writing import drafted

OPTIONAL = frozenset({"odometry_x", "odometry_y", "odometry_yaw", "speed", "turn_rate"})
"""Quantities that a recording can be exported without."""
BLOCK = 256
"""Frames that are exported at a time."""


def export_log(recording: str | Path, out: str | Path, progress: Progress | None = None) -> tuple[str, ...]:
    """Write a recording of scans as a file for other tools.

    Args:
        recording: Its directory.
        out: The file, which must not exist: ``.mcap`` (ROS 2, for Foxglove and RViz) or ``.csv`` (exact).
        progress: Called with the frames that were written, and all.

    Returns:
        Names of quantities that were left out.

    Raises:
        RecordingError: The recording holds no scans, or the file cannot be written. Then there is no file.
    """
    out = Path(out)
    if out.suffix not in (".mcap", ".csv"):
        raise RecordingError(f"{quote(out)} should end in .mcap or .csv, which say what to write")
    with drafted(out, RecordingError) as draft, open_recording(recording) as dataset:
        _check(dataset, recording)
        _export(dataset, draft, out.suffix, progress or (lambda done, total: None))
        return tuple(str(name) for name in dataset.data_vars if name not in quantities(0))


def _check(dataset: xr.Dataset, recording: str | Path) -> None:
    missing = [name for name in quantities(0) if name not in dataset.variables and name not in OPTIONAL]
    if missing:
        raise RecordingError(f"{recording} is not a recording of scans: it has no {', '.join(missing)}")
    if dataset.sizes["time"] == 0:
        raise RecordingError(f"{recording} has no frames; there is nothing to export")


def _export(dataset: xr.Dataset, draft: Path, suffix: str, progress: Progress) -> None:
    frames = dataset.sizes["time"]

    def blocks() -> Iterator[xr.Dataset]:
        for first in range(0, frames, BLOCK):
            yield _load(dataset, slice(first, first + BLOCK))

    def shown(parts: Iterator[xr.Dataset]) -> Iterator[xr.Dataset]:
        for number, part in enumerate(parts):
            yield part
            progress(min(frames, (number + 1) * BLOCK), frames)

    bearings = _load(dataset[["bearings"]], slice(0, 1))["bearings"].values[0]
    start, laser = _origin(dataset)
    if suffix == ".csv":
        with draft.open("w", encoding="utf-8", newline="") as file:
            table = CsvWriter(file, bearings, start, laser)
            for block in shown(blocks()):
                table.write(block)
        return
    need("rosbags", "logs")
    from sandlot.recordings.logs.bags.mcap_writer import McapWriter

    max_range = max((float(np.nanmax(block["ranges"].values, initial=0.0)) for block in blocks()), default=0.0)
    with McapWriter(draft, bearings, laser or (0.0, 0.0), start or 0.0, max_range) as bag:
        for block in shown(blocks()):
            bag.write(block)


def _origin(dataset: xr.Dataset) -> tuple[float | None, tuple[float, float] | None]:
    """Start [s] and position of the laser [m] in the settings; None if they are missing or mean something else."""
    about = settings(dataset)
    start, position = about.get("start"), about.get("laser_position")
    x, y = position if isinstance(position, list) and len(position) == 2 else (None, None)
    laser = (float(x), float(y)) if _is_number(x) and _is_number(y) else None
    return float(start) if _is_number(start) else None, laser


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and math.isfinite(value)


def _load(dataset: xr.Dataset, frames: slice) -> xr.Dataset:
    """Some frames of a recording, in memory; quantities that it does not have are NaN.

    Raises:
        RecordingError: They are damaged.
    """
    kept = [name for name in quantities(0) if name in dataset]
    try:
        block = dataset[kept].isel(time=frames, missing_dims="ignore").load()
    except Exception as error:  # Zarr and its codecs raise nearly every kind
        raise RecordingError(f"the recording is damaged: {type(error).__name__}: {quote(error)}") from error
    for name in OPTIONAL.difference(kept) if "time" in block.sizes else ():
        block[name] = xr.full_like(block["yaw"], np.nan)
    return block
