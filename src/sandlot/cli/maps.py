"""Commands for maps: ``map`` makes one from a log, ``locate`` finds a robot in one."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from sandlot.cli.logs import Format
from sandlot.cli.show import Json, print_json
from sandlot.cli.work import progress_bar
from sandlot.errors import MapError, quote
from sandlot.reading import check_log
from sandlot.recordings.needs import SCANS, check_needs
from sandlot.writing import refuse_existing

if TYPE_CHECKING:
    from sandlot.recordings.logs import ScanLog

Log = Annotated[Path, typer.Argument(help="Log, directory of a ROS 2 bag, or recording.")]
Topic = Annotated[str | None, typer.Option(help="Topic of the scans in a bag.", show_default="the first")]
Odometry = Annotated[bool, typer.Option(help="Use the odometry and the inertial unit of the log, or scans alone.")]


def check_has_scans(path: Path, kind: str | None = None) -> None:
    """Refuse a recording without scans, or a log of no known format, before libraries that read them are loaded."""
    if (path / "zarr.json").exists():
        check_needs(path, SCANS)
        return
    from sandlot.recordings.logs.formats import check_format

    check_format(path, kind)


def _read(path: Path, kind: str | None, topic: str | None) -> "ScanLog":
    """Read all scans, with progress: in scans of a recording, in kilobytes of a log."""
    from sandlot.recordings.logs import read_scans

    unit, size = ("scan", 1) if (path / "zarr.json").exists() else ("kilobyte", 1000)
    with progress_bar(unit) as show:
        bar = show(f"reading {path.name}")
        return read_scans(path, kind, topic, lambda done, total: bar(-(-done // size), -(-total // size)))


def map_(
    recording: Log,
    out: Annotated[Path, typer.Option("--out", help="Folder for the map, which must not exist.", show_default=False)],
    resolution: Annotated[float, typer.Option(min=0.01, max=1.0, help=r"Side of a cell \[m].")] = 0.05,
    odometry: Odometry = True,
    kind: Format = None,
    topic: Topic = None,
    as_json: Json = False,
) -> None:
    """Make a map from a log of a robot with a laser.

    Writes map.yaml and map.pgm as ROS reads them, a picture map.png, trajectory.tum for tools such as evo, and
    report.html.
    """
    check_log(recording)
    refuse_existing(out, MapError)
    check_has_scans(recording, kind)
    log = _read(recording, kind, topic)
    from sandlot.mapping.map_logs import map_log, write_result

    with progress_bar("scan") as show:
        mapper, seconds = map_log(log, odometry, show(f"mapping {recording.name}"))
    report = write_result(mapper, log, out, seconds, resolution)
    if as_json:
        print_json({**dataclasses.asdict(report), "folder": str(out)})
        return
    console = Console(highlight=False)
    console.print(
        f"{report.scans:,} scans, {report.driven:,.1f} m, {report.loops - report.rejected_loops:,} loops closed, "
        f"{report.free:,.1f} m² free, in {report.seconds:,.1f} s",
        soft_wrap=True,
    )
    for warning in report.warnings():
        console.print(escape(f"Note: {warning}"), style="dim", soft_wrap=True)
    console.print(f"Map: [bold]{escape(str(out / 'map.yaml'))}[/bold]", soft_wrap=True)


def locate(
    recording: Log,
    chart: Annotated[Path, typer.Option("--map", help="A map.yaml.", show_default=False)],
    out: Annotated[Path | None, typer.Option("--out", help="Trajectory file (TUM).", show_default="none")] = None,
    start: Annotated[
        tuple[float, float, float] | None,
        typer.Option(help=r"First pose in the map: x y \[m] and yaw \[rad].", show_default="searched"),
    ] = None,
    odometry: Odometry = True,
    kind: Format = None,
    topic: Topic = None,
    as_json: Json = False,
) -> None:
    """Find a robot in a known map, scan by scan; without --start, the whole map is searched."""
    check_log(recording)
    if not chart.exists():
        raise MapError(f"there is no map at {quote(chart)}; give a map.yaml that `sandlot map` or ROS has written")
    if out is not None:
        refuse_existing(out, MapError)
    check_has_scans(recording, kind)
    from sandlot.mapping.grids.files import read_map

    read_map(chart)  # a mistake in it shows before the scans are read
    log = _read(recording, kind, topic)
    from sandlot.mapping.map_logs import locate_log
    from sandlot.recordings.scans import Pose

    with progress_bar("scan") as show:
        begin = None if start is None else Pose(*start)
        found = locate_log(log, chart, begin, odometry, show(f"locating {recording.name}"))
    if out is not None:
        found.trajectory.write_tum(out, log.start)
    searched = "once" if found.searches == 1 else f"{found.searches:,} times"
    count, last = len(found.trajectory.times), Pose(*found.trajectory.poses[-1].tolist())
    if as_json:
        facts = {"scans": found.scans, "located": count, "searches": found.searches, "last": last._asdict()}
        print_json({**facts, "trajectory": None if out is None else str(out)})
        return
    console = Console(highlight=False)
    console.print(
        f"{count:,} of {found.scans:,} scans located, whole map searched {searched}; "
        f"last at x {last.x:.2f} m, y {last.y:.2f} m, yaw {last.yaw:.3f} rad",
        soft_wrap=True,
    )
    if count < found.scans:
        console.print(escape(f"Note: the others were refused, such as: {found.reason}"), style="dim", soft_wrap=True)
    if out is not None:
        console.print(f"Written: [bold]{escape(str(out))}[/bold]", soft_wrap=True)
