"""From a log to files: a map, its picture, a trajectory and a report; and a trajectory in a known map."""

import base64
import html
import io
import json
import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from sandlot.errors import MapError, quote
from sandlot.mapping.grids.files import write_map
from sandlot.mapping.grids.geometry import FREE
from sandlot.mapping.localiser import Localiser
from sandlot.mapping.mapper import Mapper
from sandlot.mapping.occupancy_map import OccupancyMap
from sandlot.mapping.pictures import map_figure
from sandlot.mapping.trajectories import Trajectory
from sandlot.recordings.logs import ScanLog
from sandlot.recordings.scans import Pose
from sandlot.writing import drafted

MAX_REFUSED = 0.5
"""If a larger share of the scans is refused, mapping fails, and so does locating from an unknown start."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Report:
    """Numbers about a map.

    Attributes:
        scans: Number of scans.
        duration: From the first to the last [s].
        driven: Path length [m].
        keyframes: Scans that the map is made of.
        submaps: Local maps.
        loops: Closed loops.
        rejected_loops: Of these, those that contradict the others and do not count.
        refused: Scans that did not match; their poses are predicted.
        reasons: Why, with the number of scans.
        parts: Parts of the map that no match connects; their relative poses are a guess.
        backwards: How often a scan is older than the one before.
        free: Free area [m2].
        seconds: Time that mapping took [s].
        notes: About the log.
    """

    scans: int
    duration: float
    driven: float
    keyframes: int
    submaps: int
    loops: int
    rejected_loops: int
    refused: int
    reasons: dict[str, int]
    parts: int
    backwards: int
    free: float
    seconds: float
    notes: tuple[str, ...]

    def warnings(self) -> list[str]:
        """What the user should know, a line each."""
        found = []
        if self.refused:
            why = ", ".join(f"{reason} ({count:,})" for reason, count in self.reasons.items())
            found.append(f"{self.refused:,} of {self.scans:,} scans were refused: {why}")
        if self.parts > 1:
            found.append(f"the map has {self.parts} parts that no scan connects; the robot may have been carried")
        if self.backwards:
            found.append(f"time goes backwards {self.backwards:,} times")
        return [*found, *self.notes]


def map_log(log: ScanLog, odometry: bool = True, progress: Progress | None = None) -> tuple[Mapper, float]:
    """Map all scans of a log, and return the mapper and the time it took [s].

    Raises:
        MapError: No scan has enough returns, or most of them do not overlap.
    """
    mapper, begun = Mapper(odometry, log.mount), time.perf_counter()
    for number, scan in enumerate(log.scans):
        mapper.add(scan)
        if progress:
            progress(number + 1, len(log.scans))
    mapper.finish()
    reason = mapper.refused[-1][1] if mapper.refused else ""
    if not mapper.keyframes:
        raise MapError(f"no scan of {len(log.scans):,} can be used: {reason}")
    if len(mapper.refused) > MAX_REFUSED * len(log.scans):
        raise MapError(
            f"{len(mapper.refused):,} of {len(log.scans):,} scans do not fit those before them, such as: {reason}; "
            "scans must overlap, and their beams be in the right order"
        )
    return mapper, time.perf_counter() - begun


def write_result(mapper: Mapper, log: ScanLog, out: Path, seconds: float, resolution: float = 0.05) -> Report:
    """Write a map, its picture, the trajectory and a report into a folder, which must not exist.

    Args:
        mapper: That has all scans.
        log: Where they are from; its scans themselves are not needed.
        out: The folder.
        seconds: Time that mapping took [s].
        resolution: Side of a cell [m].

    Raises:
        MapError: The folder exists or cannot be written.
    """
    grid, path = OccupancyMap(mapper, resolution, margin=0.5).update(), mapper.trajectory()
    report = _report(mapper, log, path, seconds, float((grid.kinds == FREE).sum()) * resolution**2)
    with drafted(out, MapError) as draft:
        draft.mkdir()
        write_map(draft / "map.yaml", grid.grid, grid.kinds)
        picture = io.BytesIO()
        map_figure(grid.grid, grid.kinds, path.poses).savefig(picture, format="png", dpi=120)
        (draft / "map.png").write_bytes(picture.getvalue())
        path.write_tum(draft / "trajectory.tum", log.start)
        (draft / "report.json").write_text(json.dumps(asdict(report), indent=1) + "\n", encoding="utf-8")
        (draft / "report.html").write_text(_page(report, out.name, picture.getvalue()), encoding="utf-8")
    return report


def _report(mapper: Mapper, log: ScanLog, path: Trajectory, seconds: float, free: float) -> Report:
    reasons = Counter(_kind(why) for _, why in mapper.refused)
    return Report(
        scans=len(path.times),
        duration=float(np.ptp(path.times)),
        driven=float(np.hypot(*np.diff(path.poses[:, :2], axis=0).T).sum()),
        keyframes=len(mapper.keyframes),
        submaps=len(mapper.submaps),
        loops=len(mapper.loops.found),
        rejected_loops=len(mapper.loops.found) - len(mapper.loops.kept),
        refused=len(mapper.refused),
        reasons=dict(reasons.most_common(5)),
        parts=mapper.loops.parts(mapper.submaps),
        backwards=mapper.backwards,
        free=free,
        seconds=seconds,
        notes=log.notes,
    )


def _kind(reason: str) -> str:
    """The reason of a refusal without its number."""
    if not reason.startswith("only"):
        return reason
    return "too few beams returned" if "beams" in reason else "too little of the scan fits"


def _page(report: Report, name: str, picture: bytes) -> str:
    rows = {
        "scans": f"{report.scans:,} in {report.duration:,.1f} s",
        "driven": f"{report.driven:,.1f} m",
        "free area": f"{report.free:,.1f} m²",
        "keyframes": f"{report.keyframes:,} in {report.submaps:,} submaps",
        "loops closed": f"{report.loops - report.rejected_loops:,}",
        "scans refused": f"{report.refused:,}",
        "time": f"{report.seconds:,.1f} s",
    }
    table = "".join(f"<tr><th>{key}</th><td>{value}</td></tr>" for key, value in rows.items())
    notes = "".join(f"<p>Note: {html.escape(each)}</p>" for each in report.warnings())
    image = base64.b64encode(picture).decode()
    return (
        f"<!doctype html><meta charset='utf-8'><title>Map {html.escape(name)}</title>"
        "<style>body{font-family:sans-serif;margin:2em}th{text-align:left;padding-right:1em}img{max-width:100%}</style>"
        f"<h1>Map {html.escape(name)}</h1><table>{table}</table>{notes}"
        f"<img alt='map' src='data:image/png;base64,{image}'>"
        "<p>Black: occupied, white: free, gray: unknown; the line is the robot's path.</p>\n"
    )


@dataclass(frozen=True)
class Located:
    """A trajectory in a known map.

    Attributes:
        trajectory: Of the scans that were located.
        scans: Number of all scans.
        searches: How often the whole map was searched.
        reason: Why the last refused scan was refused; empty if none was.
    """

    trajectory: Trajectory
    scans: int
    searches: int
    reason: str


def locate_log(
    log: ScanLog, path: Path, start: Pose | None = None, odometry: bool = True, progress: Progress | None = None
) -> Located:
    """Locate all scans of a log in a map.

    Args:
        log: The scans.
        path: Of the ``map.yaml``.
        start: First pose in the map, if it is known.
        odometry: Whether to use the odometry of the scans.
        progress: Called with the number of scans that were located, and all.

    Raises:
        MapError: No scan fits the map; or, without a start, fewer than half of them do: some scans of any building fit
            somewhere.
    """
    localiser, reason = Localiser.read(path, start, odometry, log.mount), ""
    times, poses = [], []
    for number, scan in enumerate(log.scans):
        found = localiser.add(scan)
        reason = found.reason or reason
        if math.isfinite(found.pose.x) and not found.reason:
            times.append(scan.time)
            poses.append(found.pose)
        if progress:
            progress(number + 1, len(log.scans))
    if not poses:
        raise MapError(f"no scan of {len(log.scans):,} was located in {quote(path)}: {reason}")
    if start is None and len(poses) < (1.0 - MAX_REFUSED) * len(log.scans):
        message = f"only {len(poses):,} of {len(log.scans):,} scans fit {quote(path)}: is it a map of that place?"
        raise MapError(f"{message} If it is, give --start")
    return Located(Trajectory(np.array(times), np.array(poses)), len(log.scans), localiser.searches, reason)
