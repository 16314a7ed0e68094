"""The command ``fit soil``: the parameters of soil that explain a recording."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sandlot import declared
from sandlot.cli.show import Json, print_json
from sandlot.cli.work import Set, SettingsFile, Workers, progress_bar
from sandlot.errors import ModelError, RecordingError, quote
from sandlot.recordings.needs import SOIL, check_needs
from sandlot.writing import refuse_existing

if TYPE_CHECKING:
    from sandlot.surrogates.soil.result import FittedSoil


def soil(
    recordings: Annotated[
        list[Path],
        typer.Argument(metavar="RECORDING...", help="Recordings, or .csv tables of a plate, a wheel or a rover's log."),
    ],
    out: Annotated[Path, typer.Option("--out", help="Directory of the soil and its report.", show_default=False)],
    rover: Annotated[
        str | None, typer.Option(help="wheeled, tracked, or a TOML file.", show_default="that of the recording")
    ] = None,
    soil: Annotated[str | None, typer.Option(help="Which soil of a table with several.", show_default=False)] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="Of each drive that are used at most [s].")] = 10.0,
    window: Annotated[
        float, typer.Option(min=0.05, help="Time after which the simulated rover is put back to the recorded pose [s].")
    ] = 0.5,
    workers: Workers = None,
    assignments: Set = None,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Find the soil parameters that explain a recording, with intervals, and say which cannot be identified.

    A recording needs poses and wheel speeds: of the terrain world (soil or particles), or of a real rover. Tables of
    a pressed plate or of a wheel on a test rig are read from .csv files. Use the result with:
    sandlot record terrain --set soil=OUT/soil.toml
    """
    for each in recordings:
        if each.suffix != ".csv":
            check_needs(each, SOIL)
        elif not each.exists():
            raise RecordingError(f"there is no table at {quote(each)}; check the path")
    refuse_existing(out, ModelError)
    from sandlot.settings import build, read_settings

    chosen = {"workers": workers or os.cpu_count() or 1, **read_settings(settings, assignments or ())}
    declared.check("fit soil", chosen)
    if rover is not None:
        declared.check("train rover", {"rover": rover})
    from sandlot.surrogates.soil.columns import read_columns

    for each in recordings:
        if each.suffix == ".csv":
            read_columns(each, soil)
    from sandlot.studies.soil_page import soil_page
    from sandlot.surrogates.soil.fit import FitSettings, fit
    from sandlot.surrogates.soil.reading import ReadSettings, read_evidence, training_data
    from sandlot.surrogates.soil.result import FittedSoil

    given = build(FitSettings, chosen)
    read = build(ReadSettings, {"rover": rover, "soil": soil, "seconds": seconds, "window": window})
    evidence = read_evidence(recordings, read)
    with progress_bar("simulation") as show:
        estimate = fit(evidence, given, show(f"fitting {out.name}"))
    found = FittedSoil.of(estimate, evidence[0].width)
    found.save(out, soil_page(found, recordings, out), training_data(recordings))
    if as_json:
        print_json({"model": str(out / "soil.toml"), **found.facts()})
    else:
        _print(found, out)


def _print(found: "FittedSoil", out: Path) -> None:
    console = Console(highlight=False, soft_wrap=True)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("parameter", "value", "90% interval", "unit"):
        table.add_column(name, justify="left" if name in ("parameter", "unit") else "right")
    for each in found.facts()["parameters"].values():
        low, high = each["interval"]
        table.add_row(escape(each["meaning"]), f"{each['value']:.4g}", f"{low:.3g} to {high:.3g}", escape(each["unit"]))
    console.print(table)
    for line in found.unidentified():
        console.print(f"[bold yellow]not identified:[/] {escape(line)}")
    console.print(f"Soil: [bold]{escape(str(out / 'soil.toml'))}[/bold]; report: {escape(str(out / 'report.html'))}")
    console.print(escape(f"Use it: sandlot record terrain --set soil={out / 'soil.toml'}"), style="dim")
