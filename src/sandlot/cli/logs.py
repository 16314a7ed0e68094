"""Commands for logs of real robots: ``import`` and ``export``."""

import dataclasses
import enum
import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sandlot.cli.show import Json, print_json
from sandlot.cli.work import progress_bar
from sandlot.errors import RecordingError, SettingError
from sandlot.reading import check_log, check_recording
from sandlot.recordings.needs import SCANS, check_needs
from sandlot.writing import check_suffix, refuse_existing

if TYPE_CHECKING:
    from sandlot.recordings.logs import Findings
    from sandlot.worlds.viewers.exporting import Target

Format = Annotated[
    str | None,
    typer.Option("--format", help="ros1, ros2, mcap, posegraph, carmen, csv or rover5.", show_default="guessed"),
]

OPENED = {
    "rerun": "Open it: rerun {}",
    "html": "Open it in any browser; it needs no server.",
    "mcap": "Open it in Foxglove: a 3D panel with the topic /scene, plots of /numbers",
}
"""How an export is opened."""


def import_(
    log: Annotated[Path, typer.Argument(help="File, or directory of a ROS 2 bag; text may be gzip.")],
    out: Annotated[Path, typer.Option("--out", help="Directory of the recording.", show_default=False)],
    kind: Format = None,
    topic: Annotated[str | None, typer.Option(help="Topic of the scans in a bag.", show_default="the first")] = None,
    partial: Annotated[bool, typer.Option("--partial", help="If the log is damaged, keep the scans before.")] = False,
    as_json: Json = False,
) -> None:
    """Make a recording from a log of a real robot with a laser, and summarize the log.

    Reads bags of ROS 1 and 2, MCAP, CARMEN logs, pose graphs, CSV, and logs of a Rover 5. A damaged log gives an error
    and no recording, unless --partial.
    """
    check_log(log)
    refuse_existing(out, RecordingError)
    from sandlot.recordings.logs.formats import check_format

    check_format(log, kind)
    from sandlot.recordings.logs import import_log

    with progress_bar("kilobyte") as show:
        bar = show(f"importing {log.name}")
        read = functools.partial(import_log, log, out, kind, partial=partial, topic=topic)
        findings = read(progress=lambda done, total: bar(-(-done // 1000), -(-total // 1000)))
    if as_json:
        facts = {**dataclasses.asdict(findings), "recording": str(out)}
        print_json({key: None if value != value else value for key, value in facts.items()})
        return
    _print_findings(findings, out)


def _print_findings(findings: "Findings", out: Path) -> None:
    console = Console(highlight=False)
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    driven = "unknown" if math.isnan(findings.distance) else f"{findings.distance:,.1f} m"
    gaps = f"{findings.gaps:,}" + (f", the longest {findings.longest_gap:,.1f} s" if findings.gaps else "")
    rows = {
        "format": findings.format,
        "scans": f"{findings.scans:,} in {findings.duration:,.1f} s",
        "beams": f"{findings.beams:,}",
        "driven": driven,
        "missing": f"{findings.missing:.1%} of returns",
        "gaps": gaps,
    }
    if findings.backwards:
        rows["times"] = f"go back {findings.backwards:,} times"
    for name, value in rows.items():
        table.add_row(name, value)
    console.print(table)
    for note in findings.notes:
        console.print(escape(f"Note: {note}"), style="dim", soft_wrap=True)
    if findings.damage:
        console.print(f"[bold yellow]Only a part:[/] {escape(findings.damage)}", soft_wrap=True)
    console.print(f"Recording: [bold]{escape(str(out))}[/bold]", soft_wrap=True)


class Viewer(enum.StrEnum):
    """For what a recording is exported: as it looks, or for learners."""

    mcap = "mcap"
    rerun = "rerun"
    mp4 = "mp4"
    gif = "gif"
    webp = "webp"
    html = "html"
    minari = "minari"


def export(
    recording: Annotated[Path, typer.Argument(help="Directory of a recording.")],
    to: Annotated[
        Viewer | None, typer.Option(help="Export what it looks like, or for learners.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="File; without --to, .mcap or .csv.", show_default="beside it")
    ] = None,
    speed: Annotated[float, typer.Option(help="Of a video, relative to real time.")] = 1.0,
    as_json: Json = False,
) -> None:
    """Export a recording for other tools.

    With --to, what there is to see: mcap is for Foxglove, rerun for its viewer, mp4, gif and webp are videos, and html
    is a page with a time line in 3D that any browser plays without a server. A world is simulated again with the
    recorded seed and actions. --to minari writes a dataset for offline reinforcement learning: observations, actions,
    rewards and ends of all episodes. Without --to, the scans of a recording: --out FILE.mcap for ROS 2 and Foxglove, or
    --out FILE.csv.
    """
    if to is not None:
        if to.value == "minari":
            _export_minari(recording, out, as_json)
        else:
            _export_scenes(recording, to.value, out, speed, as_json)
        return
    if out is None:
        raise SettingError(f"say what to write: --to {', '.join(Viewer)}; or --out FILE.mcap or FILE.csv for scans")
    check_suffix(out, "an export of scans", (".mcap", ".csv"), RecordingError)
    check_needs(recording, SCANS)
    refuse_existing(out, RecordingError)
    from sandlot.recordings.logs import export_log

    with progress_bar("frame") as show:
        left_out = export_log(recording, out, show(f"exporting {recording.name}"))
    if as_json:
        print_json({"recording": str(recording), "file": str(out), "left_out": left_out})
        return
    console = Console(highlight=False)
    if left_out:
        console.print(escape(f"Note: left out: {', '.join(left_out)}"), style="dim", soft_wrap=True)
    console.print(f"Written: [bold]{escape(str(out))}[/bold]", soft_wrap=True)


def _export_minari(recording: Path, out: Path | None, as_json: bool) -> None:
    members_of_a_vector = (recording / "0").is_dir()
    if not members_of_a_vector:
        check_recording(recording)
    from sandlot.recordings.names import beside

    path = out or beside(recording, "-v0")
    refuse_existing(path, RecordingError)
    from sandlot.worlds.minari_export import export_minari

    with progress_bar("recording") as show:
        count = export_minari(recording, path, show(f"exporting {recording.name}"))
    if as_json:
        print_json({"recording": str(recording), "dataset": str(path), "episodes": count})
        return
    console, noun = Console(highlight=False), "episode" if count == 1 else "episodes"
    console.print(f"Written: [bold]{escape(str(path))}[/bold] ({count:,} {noun})", soft_wrap=True)
    console.print(escape(f"Load it: minari.MinariDataset({str(path / 'data')!r})"), style="dim", soft_wrap=True)


def _export_scenes(recording: Path, to: str, out: Path | None, speed: float, as_json: bool) -> None:
    suffix = ".rrd" if to == "rerun" else f".{to}"
    if out is not None:
        check_suffix(out, f"a file for {to}", (suffix,), SettingError)
    drive_of_a_rover = to == "html" and recording.suffix == ".mcap"
    if not drive_of_a_rover:
        check_recording(recording)
    from sandlot.recordings.names import beside

    path = out or beside(recording, suffix)
    refuse_existing(path, RecordingError)
    with progress_bar("frame") as show:
        progress = show(f"exporting {recording.name}")
        if to == "html":
            from sandlot.lab.replay import write_page

            count = write_page(recording, path, progress)
        else:
            from sandlot.worlds.viewers.exporting import export_scenes

            count = export_scenes(recording, cast("Target", to), path, progress, speed)
    if as_json:
        print_json({"recording": str(recording), "file": str(path), "moments": count})
        return
    Console(highlight=False).print(f"Written: [bold]{escape(str(path))}[/bold] ({count:,} moments)", soft_wrap=True)
    if to in OPENED:
        Console(highlight=False).print(escape(OPENED[to].format(path)), style="dim", soft_wrap=True)
