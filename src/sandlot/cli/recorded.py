"""The command ``show``: a recording at a glance."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sandlot.cli.show import Json, print_json
from sandlot.errors import RecordingError
from sandlot.reading import check_recording
from sandlot.writing import PICTURES, check_suffix

ROWS, COLUMNS = 12, 7
"""Of the table of episodes; JSON has all."""


def show(
    recording: Annotated[Path, typer.Argument(help="Directory of a recording.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Picture: .png, .svg or .pdf.", show_default="RECORDING.png")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a recording: a picture of its path and quantities, the outcomes of its episodes, and what to do next.

    A picture of that name that exists is replaced.
    """
    if out is not None:
        check_suffix(out, "a picture", PICTURES, RecordingError)
    check_recording(recording)
    from sandlot.recordings.names import beside
    from sandlot.studies.plots import save_figure
    from sandlot.worlds.overview import overview

    path = out or beside(recording, ".png")
    found = overview(recording)
    save_figure(found.figure, path, dpi=110, error=RecordingError)
    if as_json:
        rows = [{key: None if math.isnan(value) else value for key, value in row.items()} for row in found.episodes]
        print_json({**found.facts, "picture": str(path), "episodes": rows, "units": found.units})
        return
    console = Console(highlight=False)
    facts = found.facts
    fidelity = f", {facts['fidelity']}" if facts["fidelity"] else ""
    seed = "" if facts["seed"] is None else f", seed {facts['seed']}"
    console.print(
        f"[bold]{escape(str(facts['world']))}[/]{fidelity}: {facts['frames']:,} frames, "
        f"{facts['duration']:,.1f} s{seed}",
        soft_wrap=True,
    )
    every = list(dict.fromkeys(key for row in found.episodes for key in row))
    columns = every[:COLUMNS]
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in columns:
        unit = f" [{found.units[name]}]" if name in found.units else ""
        table.add_column(escape(name.replace("_", " ") + unit), justify="right")
    for row in found.episodes[:ROWS]:
        table.add_row(*(_number(row.get(name, math.nan)) for name in columns))
    console.print(table)
    if more := every[COLUMNS:]:
        said = [f"{name.replace('_', ' ')} {_mean(found.episodes, name, found.units)}" for name in more]
        mean = "mean of " if len(found.episodes) > 1 else ""
        console.print(escape(f"Also, {mean}{', '.join(said)}"), style="dim")
    if len(found.episodes) > ROWS:
        console.print(f"... and {len(found.episodes) - ROWS:,} more episodes; --json has all", style="dim")
    console.print(f"Picture: [bold]{escape(str(path))}[/bold]", soft_wrap=True)
    for purpose, command in found.next_commands:
        console.print(escape(f"To {purpose}: {command}"), style="dim", soft_wrap=True)


def _mean(rows: list[dict[str, float]], name: str, units: Mapping[str, str]) -> str:
    """Over the episodes that have it, with its unit."""
    values = [row[name] for row in rows if not math.isnan(row.get(name, math.nan))]
    if not values:
        return _number(math.nan)
    return f"{_number(sum(values) / len(values))} {units.get(name, '1')}".removesuffix(" 1")


def _number(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e9 else f"{value:,.4g}"
