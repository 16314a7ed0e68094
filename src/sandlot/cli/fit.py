"""The command ``fit``: models from recordings."""

import enum
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sandlot.cli import fit_rover, fit_soil
from sandlot.cli.show import Json, print_json
from sandlot.cli.work import progress_bar
from sandlot.errors import ModelError, SandlotError
from sandlot.recordings.needs import SENSOR, check_needs
from sandlot.writing import PICTURES, check_suffix, refuse_existing

if TYPE_CHECKING:
    from sandlot.surrogates.sensorgraph import Sensorgraph

MAX_EQUATION = 200
"""Characters of an equation that are printed; further terms are left out."""
KINDS = (
    "Kind of model. local: thousands of small polynomials, the most accurate. sectors: 72 short polynomials that one "
    "can read, one for each of 12 sectors of yaw and 6 segments. headings: 6 long ones."
)
READABLE = (
    "all of them are too many to read; --kind sectors gives 72 short polynomials, --kind headings 6 long ones, both "
    "less accurate"
)

app = typer.Typer(help="Fit models to recordings, simulated or of real robots.")


class Kind(enum.StrEnum):
    """Kind of sensor model."""

    local = "local"
    sectors = "sectors"
    headings = "headings"


class Form(enum.StrEnum):
    """Format of equations."""

    python = "python"
    c = "c"
    latex = "latex"
    text = "text"


@app.callback()
def fit() -> None:
    """Fit models to recordings, simulated or of real robots."""


app.command()(fit_rover.motion)
app.command()(fit_rover.ground)
app.command()(fit_soil.soil)


@app.command()
def sensor(
    recordings: Annotated[list[Path], typer.Argument(metavar="RECORDING...", help="Directories of recordings.")],
    out: Annotated[Path, typer.Option("--out", help="Directory of the model.", show_default=False)],
    kind: Annotated[Kind, typer.Option(help=KINDS)] = Kind.local,
    holdout: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="Share at the end of each recording that tests the model.")
    ] = 0.2,
    form: Annotated[
        Form | None, typer.Option("--equations", help="Write all equations next to the model.", show_default=False)
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw where there are scans: .png, .svg or .pdf.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Fit a sensor model: the ranges of a laser from the pose alone.

    The model is first fitted without the end of each recording and tested there; then it is fitted to everything and
    saved. Use it in place of the laser with: sandlot record indoor --fidelity learned --set model=MODEL
    """
    for each in recordings:
        check_needs(each, SENSOR)
    refuse_existing(out, ModelError)
    if figure is not None:
        check_suffix(figure, "a picture", PICTURES, SandlotError)
    from sandlot.surrogates.fitting import Target, fit_sensor

    target = Target(out, kind.value, None if form is None else form.value)
    with progress_bar("fit") as show:
        found = fit_sensor(recordings, kind.value, holdout, show(f"fitting {out.name}"))
    found.save(target)
    if figure is not None:
        from sandlot.studies.indoor.coverage import draw_coverage

        draw_coverage(found.graph, figure)
    written = {"model": out, "equations": target.equations, "figure": figure}
    facts = {"kind": kind.value, "polynomials": found.model.polynomials, **found.facts()}
    facts |= {name: None if path is None else str(path) for name, path in written.items()}
    if as_json:
        print_json(facts)
    else:
        _print_facts(facts, found.graph)


def _print_facts(facts: dict[str, Any], graph: "Sensorgraph") -> None:
    from sandlot.worlds.indoor.learned import usable_with

    console = Console(highlight=False, soft_wrap=True)
    many = len(facts["recordings"])
    console.print(f"{facts['scans']:,} scans of {facts['beams']} beams in {many} recording{'s' if many > 1 else ''}")
    for line in facts["thin"]:
        console.print(f"[bold yellow]warning:[/] {escape(line)}")
    if facts["errors"]:
        console.print(f"Mean absolute error on the last {facts['held_out']:,} scans, which were held out:")
        _print_errors(facts, graph)
    size = f"{facts['polynomials']:,} polynomials with {facts['size']:,} coefficients"
    console.print(f"Fitted to all scans: a {facts['kind']} model, {size}; one of them:")
    console.print(escape(f"  {_short(facts['equation'])}"))
    if facts["kind"] == "local":
        units = "turn, across and along in units of a cell; ahead: distance along the ray from the cell's centre [m]"
        console.print(escape(f"  ({units})"), style="dim")
        console.print(escape(f"  ({READABLE})"), style="dim")
    for name in ("equations", "figure", "model"):
        if facts[name]:
            console.print(f"{name.capitalize()}: [bold]{escape(facts[name])}[/bold]")
    settings = usable_with(graph, facts["model"])
    if settings is not None:
        chosen = " ".join(f"--set {name}={value}" for name, value in settings.items())
        console.print(escape(f"Use it: sandlot record indoor --fidelity learned {chosen}"), style="dim")


def _print_errors(facts: dict[str, Any], graph: "Sensorgraph") -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("segment", "from [deg]", "to [deg]", "error [m]"):
        table.add_column(escape(column), justify="right")
    count = len(facts["errors"])
    for k, error in enumerate(facts["errors"]):
        sides = (graph.centre_bearing + (side / count - 0.5) * graph.field_of_view for side in (k, k + 1))
        table.add_row(
            str(k), *(f"{math.degrees(side):.0f}" for side in sides), "-" if error is None else f"{error:.4f}"
        )
    mean = facts["error"]
    table.add_row("all", "", "", "-" if mean is None else f"{mean:.4f}")
    Console(highlight=False).print(table)


def _short(equation: str) -> str:
    """The first terms, if there are too many to print."""
    words = equation.split(" ")
    while len(" ".join(words)) > MAX_EQUATION:
        words.pop()
    while len(words) < len(equation.split(" ")) and words[-1] not in "+-":
        words.pop()
    return " ".join(words) + (" ..." if words[-1] in "+-" else "")
