"""Logs in, logs out: what real robots write becomes a recording, and a recording what other tools read.

`import_log` guesses the format of a log from what is in it; a recording appears
under its name only when it is complete. `export_log` writes MCAP or CSV.
"""

import dataclasses
import re
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import xarray as xr

from sandlot.errors import SandlotError
from sandlot.recordings.logs import mcap, rosbag1, sqlite
from sandlot.recordings.logs.bags import bag_files, read_bag
from sandlot.recordings.logs.carmen import read_carmen
from sandlot.recordings.logs.posegraph import read_posegraph
from sandlot.recordings.logs.scans import Findings, Scan, Tally, quantities
from sandlot.recordings.logs.source import DamagedError, Source
from sandlot.recordings.logs.tables import read_table, write_table
from sandlot.recordings.logs.ticks import WORDS, read_ticks
from sandlot.recordings.reader import open as open_recording
from sandlot.recordings.reader import settings
from sandlot.recordings.writer import Writer

Importer = Callable[[Source], Iterator[Scan]]
Progress = Callable[[int, int], None]

IMPORTERS: dict[str, Importer] = {
    "carmen": read_carmen,
    "posegraph": read_posegraph,
    "ticks": read_ticks,
    "ros1": read_bag,
    "ros2": read_bag,
    "mcap": read_bag,
    "csv": read_table,
}
"""By the name of their format."""

SCANS = {
    "carmen": "lines of FLASER or ROBOTLASER1",
    "posegraph": "lines of ROBOTLASER1",
    "ticks": f"lines of {WORDS} whole numbers",
    "ros1": "messages of sensor_msgs/LaserScan",
    "ros2": "messages of sensor_msgs/LaserScan",
    "mcap": "messages of sensor_msgs/LaserScan",
    "csv": "rows",
}
"""What scans are in each format."""

BUFFER = 2**22
"""Most bytes of frames that wait in memory, if a frame is smaller than that."""

UNKNOWN = frozenset({"odometry_position", "odometry_heading", "speed", "turn"})
"""Quantities that a recording can be exported without."""

BLOCK = 256
"""Frames that are exported at a time."""


def guess_format(source: Source) -> str:
    """The format of a log, by what is in it.

    Raises:
        SandlotError: It is none that is known.
    """
    if source.path.is_dir():
        with source.explained():
            if bag_files(source.path):
                return "ros2"
        raise SandlotError(f"{source.path} is a directory without a bag of ROS 2, a .db3 or .mcap file")
    head = source.head()
    for magic, name in ((rosbag1.MAGIC, "ros1"), (mcap.MAGIC, "mcap"), (sqlite.MAGIC, "ros2")):
        if head.startswith(magic) and source.packed:
            raise SandlotError(f"{source.path} is a bag within gzip; unpack it first, as with gunzip")
        if head.startswith(magic):
            return name
    text = head.decode(errors="replace")
    if re.search(r"^VERTEX(2|_SE2)\s", text, re.MULTILINE):
        return "posegraph"
    if re.search(r"^(FLASER|ROBOTLASER1|ODOM|PARAM|RAWLASER1|SYNC)\s", text, re.MULTILINE):
        return "carmen"
    first = next((line for line in text.splitlines() if line.strip()), "")
    if "time" in [cell.strip(' "\ufeff') for cell in first.split(",", 1000)]:
        return "csv"
    if re.fullmatch(r"[-\d\s]+", first) and len(first.split()) == WORDS:
        return "ticks"
    what = "is empty" if not head else "is no log that is known here, or its beginning is damaged"
    raise SandlotError(f"{source.path} {what}; known formats: {', '.join(IMPORTERS)}")


def import_log(
    path: str | Path,
    out: str | Path,
    kind: str | None = None,
    *,
    partial: bool = False,
    topic: str | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Make a recording from a log.

    Args:
        path: Of the log: a file, or the directory of a bag of ROS 2.
        out: Directory of the recording, which must not exist.
        kind: Format, one of `IMPORTERS`; guessed by default.
        partial: If the log is damaged, keep what comes before the damage.
        topic: Of a bag, whose scans to take; the first by default.
        progress: Called with the bytes that were read, and all.

    Returns:
        What was found. The recording's settings hold it too, and where it comes from.

    Raises:
        SandlotError: There is no log, it is of no known format, has no scans, or is damaged; or the recording cannot
            be written. Then there is no recording.
    """
    out = Path(out)
    if kind is not None and kind not in IMPORTERS:
        raise SandlotError(f"no format {kind!r}; known: {', '.join(IMPORTERS)}")
    if out.exists():
        raise SandlotError(f"{out} already exists; choose another path or remove it first")
    source = Source(path, topic)
    kind = kind or guess_format(source)
    source.settings["format"] = kind
    draft = out.with_name(f".{out.name}.{uuid4().hex}.partial")
    try:
        findings = _record(source, kind, draft, partial, progress or (lambda done, total: None))
        try:
            draft.rename(out)
        except OSError as error:
            raise SandlotError(f"could not write recording {out}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return findings


def _record(source: Source, kind: str, draft: Path, partial: bool, progress: Progress) -> Findings:
    tally, damage = Tally(), ""
    writer: Writer | None = None
    bearings = np.zeros(0)
    with closing(_scans(IMPORTERS[kind], source)) as scans:
        try:
            for scan in scans:
                if writer is None:
                    writer, bearings = _writer(source, draft, scan), scan.bearings
                elif not _same(bearings, scan.bearings):
                    raise DamagedError(
                        f"{source.path}: scan {tally.scans + 1:,} has {len(scan.bearings)} beams in other directions "
                        f"than the {len(bearings)} before; a recording holds one laser"
                    )
                writer.append(scan.frame())
                tally.add(scan)
                if tally.scans % 64 == 0:
                    progress(source.position, source.size)
        except DamagedError as error:
            if not partial or writer is None:
                hint = "" if writer is None else f"; --partial keeps the {tally.scans:,} scans before it"
                raise SandlotError(f"{error}{hint}") from error
            damage = str(error)
    if writer is None:
        raise SandlotError(f"{source.path} has no scans in it; as {kind}, they would be {SCANS[kind]}")
    findings = tally.findings(kind, tuple(source.notes), damage)
    found = dataclasses.asdict(findings)
    writer.amend({**source.settings, "notes": found.pop("notes"), "findings": found})
    writer.close()
    progress(source.size, source.size)
    return findings


def _scans(importer: Importer, source: Source) -> Generator[Scan, None, None]:
    """What an importer gives; a log that needs more memory than there is counts as damaged."""
    try:
        yield from importer(source)
    except MemoryError as error:
        raise DamagedError(f"{source.path} asks for more memory than there is") from error


def _writer(source: Source, draft: Path, scan: Scan) -> Writer:
    kept = quantities(len(scan.ranges))
    frame = sum(each.nbytes for each in kept.values())
    chunk = max(1, min(256, BUFFER // frame))
    return Writer(draft, kept, settings=source.settings, seed=None, world="log", chunk=chunk)


def _same(bearings: np.ndarray[Any, Any], others: np.ndarray[Any, Any]) -> bool:
    return bearings is others or (len(bearings) == len(others) and bool(np.all(abs(bearings - others) < 1e-4)))


def export_log(recording: str | Path, out: str | Path, progress: Progress | None = None) -> tuple[str, ...]:
    """Write a recording of scans as a file for other tools.

    Args:
        recording: Its directory.
        out: The file, which must not exist: ``.mcap`` (ROS 2, for Foxglove and RViz) or ``.csv`` (exact).
        progress: Called with the frames that were written, and all.

    Returns:
        Names of quantities that were left out.

    Raises:
        SandlotError: The recording holds no scans, or the file cannot be written. Then there is no file.
    """
    out = Path(out)
    if out.suffix not in (".mcap", ".csv"):
        raise SandlotError(f"{out} should end in .mcap or .csv, which say what to write")
    if out.exists():
        raise SandlotError(f"{out} already exists; choose another path or remove it first")
    if not out.parent.is_dir():
        raise SandlotError(f"could not write {out}: there is no directory {out.parent}")
    with open_recording(recording) as dataset:
        missing = [name for name in quantities(0) if name not in dataset.variables]
        if not UNKNOWN.issuperset(missing):
            needed = [name for name in missing if name not in UNKNOWN]
            raise SandlotError(f"{recording} is no recording of scans: it has no {', '.join(needed)}")
        if dataset.sizes["time"] == 0:
            raise SandlotError(f"{recording} has no frames; there is nothing to export")
        draft = out.with_name(f".{out.name}.{uuid4().hex}.partial")
        try:
            _export(dataset, draft, out.suffix, progress or (lambda done, total: None))
            draft.replace(out)
        except OSError as error:
            raise SandlotError(f"could not write {out}: {error.strerror or error}") from error
        finally:
            draft.unlink(missing_ok=True)
        return tuple(str(name) for name in dataset.data_vars if name not in quantities(0))


def _export(dataset: xr.Dataset, draft: Path, suffix: str, progress: Progress) -> None:
    frames = dataset.sizes["time"]

    def blocks() -> Iterator[xr.Dataset]:
        for first in range(0, frames, BLOCK):
            yield _block(dataset, slice(first, first + BLOCK))

    def shown(parts: Iterator[xr.Dataset]) -> Iterator[xr.Dataset]:
        for number, part in enumerate(parts):
            yield part
            progress(min(frames, (number + 1) * BLOCK), frames)

    bearings = _block(dataset[["bearings"]], slice(0, 1))["bearings"].values[0]
    if suffix == ".csv":
        with draft.open("w", encoding="utf-8", newline="") as file:
            for block in shown(blocks()):
                write_table(block, bearings, file)
        return
    from sandlot.recordings.logs.mcap_out import McapOut

    # A world has settings of its own, and may mean something else by these words.
    about = settings(dataset)
    start = about.get("start")
    began = float(start) if isinstance(start, int | float) else 0.0
    match about.get("laser_position"):
        case [int() | float() as x, int() | float() as y]:
            place = float(x), float(y)
        case _:
            place = 0.0, 0.0
    farthest = max((float(np.nanmax(block["ranges"].values, initial=0.0)) for block in blocks()), default=0.0)
    with McapOut(draft, bearings, place, began, farthest) as bag:
        for block in shown(blocks()):
            bag.write(block)


def _block(dataset: xr.Dataset, frames: slice) -> xr.Dataset:
    """Some frames of a recording, in memory; what is not known is NaN.

    Raises:
        SandlotError: They are damaged.
    """
    kept = [name for name in quantities(0) if name in dataset]
    try:
        block = dataset[kept].isel(time=frames, missing_dims="ignore").load()
    except Exception as error:  # Zarr and its codecs raise nearly every kind
        raise SandlotError(f"the recording is damaged: {type(error).__name__}: {error}") from error
    for name in UNKNOWN.difference(kept) if "time" in block.sizes else ():
        block[name] = xr.full_like(block[name.replace("odometry_", "") if "odo" in name else "heading"], np.nan)
    return block
