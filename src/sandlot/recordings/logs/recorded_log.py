"""Reads the scans of a recording as those of a log."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import xarray as xr

from sandlot.recordings.logs.reading import ScanLog
from sandlot.recordings.logs.recorded import check_scans, scan_ages, scan_bearings, scan_blocks, scan_origin
from sandlot.recordings.logs.source import Progress
from sandlot.recordings.reader import open as open_recording
from sandlot.recordings.scans import NUMBERS, Pose, Scan


def read_recording(path: Path, progress: Progress | None) -> ScanLog:
    """Read all scans of a recording.

    Args:
        path: Its directory.
        progress: Called with the frames that were read, and all.

    Raises:
        RecordingError: It holds no scans, or is damaged.
    """
    with open_recording(path) as dataset:
        check_scans(dataset, path)
        frames, scans = dataset.sizes["time"], list(_frames(dataset, progress))
        start, mount = scan_origin(dataset)
    if progress:
        progress(frames, frames)
    return ScanLog(scans, mount or (0.0, 0.0), start or 0.0, ())


def _frames(dataset: xr.Dataset, progress: Progress | None) -> Iterator[Scan]:
    bearings, ages, done = scan_bearings(dataset), scan_ages(dataset), 0
    for block in scan_blocks(dataset):
        columns = np.column_stack([block[name].values for name in NUMBERS])
        for numbers, ranges in zip(columns.tolist(), block["ranges"].values.astype(np.float32), strict=True):
            time, *rest = numbers
            yield Scan(time, ranges, bearings, Pose(*rest[:3]), Pose(*rest[3:6]), rest[6], rest[7], ages)
        done += len(columns)
        if progress:
            progress(done, dataset.sizes["time"])
