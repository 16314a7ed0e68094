"""Makes a recording from a log; it appears under its name only when it is complete."""

import dataclasses
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import numpy as np

from sandlot.errors import LogError, RecordingError, os_reason, quote
from sandlot.recordings.logs.findings import Findings, Tally
from sandlot.recordings.logs.formats import FORMATS, find_format
from sandlot.recordings.logs.source import DamagedError, Progress, Source
from sandlot.recordings.scans import Scan, quantities
from sandlot.recordings.writer import Writer
from sandlot.typing import Array
from sandlot.writing import drafted

BUFFER_BYTES = 2**22
"""Maximum bytes of frames that wait in memory, if a frame is smaller than that."""


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
        path: Of the log: a file, or the directory of a ROS 2 bag.
        out: Directory of the recording, which must not exist.
        kind: Format, one of `FORMATS`; recognized by default.
        partial: If the log is damaged, keep the scans before the damage.
        topic: Of a bag, whose scans to take; the first by default.
        progress: Called with the bytes that were read, and all.

    Returns:
        A summary of the log, which the recording's settings hold too.

    Raises:
        LogError: There is no log, it is of no known format, has no scans, or is damaged. Then there is no recording.
        RecordingError: The recording cannot be written. Then there is none.
    """
    out = Path(out)
    source = Source(path, topic, progress)
    kind = find_format(source, kind)
    source.settings["format"] = kind
    try:
        with drafted(out, RecordingError) as draft:
            findings = _record(source, kind, draft, partial)
    except RecordingError as error:
        if not isinstance(error.__cause__, OSError):
            raise
        # The message of the writer names its draft, and says that frames were kept.
        raise RecordingError(f"cannot write {quote(out)}: {os_reason(error.__cause__, out)}") from None
    if progress:
        progress(source.size, source.size)
    return findings


def _record(source: Source, kind: str, draft: Path, partial: bool) -> Findings:
    tally, damage = Tally(), ""
    writer: Writer | None = None
    bearings = np.zeros(0)
    with closing(_scans(source, kind)) as scans:
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
        except DamagedError as error:
            if not partial or writer is None:
                hint = "" if writer is None else f"; --partial keeps the {tally.scans:,} scans before it"
                raise LogError(f"{error}{hint}") from error
            damage = str(error)
    if writer is None:
        why = f"; {'; '.join(source.notes)}" if source.notes else ""
        raise LogError(f"{source.path} has no scans; in the format {kind} they are {FORMATS[kind].scans}{why}")
    findings = tally.findings(kind, tuple(source.notes), damage)
    found = dataclasses.asdict(findings)
    writer.amend({**source.settings, "notes": found.pop("notes"), "findings": found})
    writer.close()
    return findings


def _scans(source: Source, kind: str) -> Generator[Scan, None, None]:
    """The scans of a log; a log that needs more memory than there is counts as damaged."""
    try:
        for scan in FORMATS[kind].read(source):
            source.idle_lines = 0
            yield scan
    except MemoryError as error:
        raise DamagedError(f"{source.path} needs more memory than there is") from error


def _writer(source: Source, draft: Path, scan: Scan) -> Writer:
    kept = quantities(len(scan.ranges))
    frame = sum(each.nbytes for each in kept.values())
    chunk = max(1, min(256, BUFFER_BYTES // frame))
    return Writer(draft, kept, settings=source.settings, seed=None, world="log", chunk=chunk)


def _same(bearings: Array, others: Array) -> bool:
    return bearings is others or (len(bearings) == len(others) and bool(np.all(abs(bearings - others) < 1e-4)))
