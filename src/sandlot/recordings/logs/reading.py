"""Reads the scans of any log or recording, one after the other, without making a new recording."""

from pathlib import Path
from typing import NamedTuple

from sandlot.errors import LogError
from sandlot.recordings.logs.formats import FORMATS, find_format
from sandlot.recordings.logs.source import Progress, Source
from sandlot.recordings.scans import Scan


class ScanLog(NamedTuple):
    """The scans of a log.

    Attributes:
        scans: In order.
        mount: Position of the laser on the robot [m].
        start: Time of the first scan in the log's own clock; 0 if it does not say [s].
        notes: What the user should know about the log.
    """

    scans: list[Scan]
    mount: tuple[float, float]
    start: float
    notes: tuple[str, ...]


def read_scans(
    path: str | Path, kind: str | None = None, topic: str | None = None, progress: Progress | None = None
) -> ScanLog:
    """Read all scans of a log of any known format, or of a recording.

    Args:
        path: A log, the directory of a ROS 2 bag, or that of a recording.
        kind: Format of a log, one of `FORMATS`; recognized by default.
        topic: Of a bag, whose scans to take; the first by default.
        progress: Called with what was read, bytes or frames, and all.

    Raises:
        LogError: There is no log, it is of no known format, has no scans, or is damaged.
        RecordingError: The recording holds no scans, or is damaged.
    """
    path = Path(path)
    if (path / "zarr.json").exists():
        # With xarray and Zarr, which take longer to load than most logs.
        from sandlot.recordings.logs.recorded_log import read_recording

        return read_recording(path, progress)
    source = Source(path, topic, progress)
    kind = find_format(source, kind)
    scans = []
    for scan in FORMATS[kind].read(source):
        source.idle_lines = 0
        scans.append(scan)
    if not scans:
        raise LogError(f"{path} has no scans; in the format {kind} they are {FORMATS[kind].scans}")
    if progress:
        progress(source.size, source.size)
    x, y = source.settings.get("laser_position", (0.0, 0.0))
    return ScanLog(scans, (float(x), float(y)), float(source.settings.get("start", 0.0)), tuple(source.notes))
