"""Writes a recording of scans as a file for other tools: MCAP for Foxglove and RViz, or CSV."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import xarray as xr

from sandlot.errors import RecordingError
from sandlot.extras import need
from sandlot.recordings.logs.csv_tables import CsvWriter
from sandlot.recordings.logs.recorded import BLOCK, check_scans, scan_bearings, scan_blocks, scan_origin
from sandlot.recordings.logs.source import Progress
from sandlot.recordings.reader import open as open_recording
from sandlot.recordings.scans import quantities
from sandlot.writing import check_suffix, drafted


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
    check_suffix(out, "an export of scans", (".mcap", ".csv"), RecordingError)
    with drafted(out, RecordingError) as draft, open_recording(recording) as dataset:
        check_scans(dataset, recording)
        _export(dataset, draft, out.suffix.lower(), progress or (lambda done, total: None))
        return tuple(str(name) for name in dataset.data_vars if name not in quantities(0))


def _export(dataset: xr.Dataset, draft: Path, suffix: str, progress: Progress) -> None:
    frames = dataset.sizes["time"]

    def shown(parts: Iterator[xr.Dataset]) -> Iterator[xr.Dataset]:
        for number, part in enumerate(parts):
            yield part
            progress(min(frames, (number + 1) * BLOCK), frames)

    bearings = scan_bearings(dataset)
    start, laser = scan_origin(dataset)
    if suffix == ".csv":
        with draft.open("w", encoding="utf-8", newline="") as file:
            table = CsvWriter(file, bearings, start, laser)
            for block in shown(scan_blocks(dataset)):
                table.write(block)
        return
    need("rosbags", "logs")
    from sandlot.recordings.logs.bags.mcap_writer import McapWriter

    max_range = max(
        (float(np.nanmax(block["ranges"].values, initial=0.0)) for block in scan_blocks(dataset)), default=0.0
    )
    with McapWriter(draft, bearings, laser or (0.0, 0.0), start or 0.0, max_range) as bag:
        for block in shown(scan_blocks(dataset)):
            bag.write(block)
