"""The command ``fit``: models from recordings."""

import enum
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sandlot.cli.show import Json, print_json
from sandlot.cli.work import progress_bar
from sandlot.errors import SandlotError

if TYPE_CHECKING:
    from sandlot.surrogates.sensorgraph import Sensorgraph

LONGEST = 200
"""Letters of an equation that is printed; the rest is left out."""

app = typer.Typer(help="Fit models to recordings, simulated or of real robots.")


class Kind(enum.StrEnum):
    """Of a sensor model."""

    local = "local"
    sectors = "sectors"
    headings = "headings"


class Form(enum.StrEnum):
    """How equations are written."""

    python = "python"
    c = "c"
    latex = "latex"
    text = "text"


@app.callback()
def fit() -> None:
    """Fit models to recordings, simulated or of real robots."""


@app.command()
def sensor(
    recordings: Annotated[list[Path], typer.Argument(metavar="RECORDING...", help="Directories of recordings.")],
    out: Annotated[Path, typer.Option("--out", help="File of the model: .json.", show_default=False)],
    kind: Annotated[Kind, typer.Option(help="Which model; local is the most exact.")] = Kind.local,
    holdout: Annotated[float, typer.Option(min=0.0, max=0.9, help="Share at the end of each, to test on.")] = 0.2,
    form: Annotated[
        Form | None, typer.Option("--equations", help="Write all equations beside the model.", show_default=False)
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw where there are scans: .png, .svg or .pdf.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Fit a model of a laser: what its segments see, from the pose alone.

    First it is fitted without the end of each recording, and its error there is told; then to everything, and kept.
    It takes the laser's place in: sandlot record indoor --fidelity learned --set model=MODEL
    """
    from sandlot.surrogates.files import KINDS, SUFFIXES, save, save_equations
    from sandlot.surrogates.local import Local
    from sandlot.surrogates.sensor_models import assess
    from sandlot.surrogates.sensorgraph import Sensorgraph

    equations = None if form is None else out.with_suffix(SUFFIXES[form])
    _check(out, equations, kind)
    logs = [_graph(path) for path in recordings]
    graph, model = Sensorgraph.join(logs), KINDS[kind]()
    graph.check(model.segments)
    with progress_bar("fit") as show:
        step = show(f"fitting {out.name}")
        errors = assess(model, logs, holdout).tolist() if holdout else []
        step(1, 2)
        model.fit(graph)
        step(2, 2)
    if figure is not None:
        _draw(graph, figure)
    if equations is not None and form is not None and not isinstance(model, Local):
        save_equations(model, equations, form)
    save(model, out)
    known = [error for error in errors if math.isfinite(error)]
    facts: dict[str, Any] = {
        "kind": kind.value,
        "recordings": [str(path) for path in recordings],
        "scans": len(graph),
        "beams": len(graph.bearings),
        "thin": graph.thin(),
        "held_out": sum(len(log.split(holdout)[1]) for log in logs),
        "errors": [error if math.isfinite(error) else None for error in errors],
        "error": sum(known) / len(known) if known else None,
        "size": model.size,
        "equation": model.equation(),
        "model": str(out),
        "equations": None if equations is None else str(equations),
        "figure": None if figure is None else str(figure),
    }
    if as_json:
        print_json(facts)
    else:
        _print_facts(facts, graph)


def _check(out: Path, equations: Path | None, kind: Kind) -> None:
    """Refuse before the work what would fail after it."""
    if out.suffix != ".json":
        raise SandlotError(f"{out} should end in .json, which is what a model is kept as")
    if equations is not None and kind is Kind.local:
        raise SandlotError(
            "a local model has too many equations to print, of turn, across and along in each of its cells; "
            "leave --equations out, or choose --kind sectors or headings"
        )
    for path in (out, equations):
        if path is not None and path.exists():
            raise SandlotError(f"{path} already exists; choose another path or remove it first")


def _graph(path: Path) -> "Sensorgraph":
    from sandlot import recordings
    from sandlot.surrogates.sensorgraph import Sensorgraph

    with recordings.open(path) as recording:
        try:
            return Sensorgraph.of(recording)
        except SandlotError as error:
            raise SandlotError(f"{path}: {error}") from error


def _print_facts(facts: dict[str, Any], graph: "Sensorgraph") -> None:
    from sandlot.worlds.indoor.learned import ASIDE

    console = Console(highlight=False, soft_wrap=True)
    many = len(facts["recordings"])
    console.print(f"{facts['scans']:,} scans of {facts['beams']} beams in {many} recording{'s' if many > 1 else ''}")
    for line in facts["thin"]:
        console.print(f"[bold yellow]warning:[/] {escape(line)}")
    if facts["errors"]:
        console.print(f"Mean absolute error on the {facts['held_out']:,} scans at the end, fitted without them:")
        _print_errors(facts, graph)
    console.print(f"Fitted to all: a {facts['kind']} model of {facts['size']:,} coefficients; one of its equations:")
    console.print(escape(f"  {_short(facts['equation'])}"))
    if facts["kind"] == "local":
        said = "of turn, across and along, as shares of a cell; ahead is how far along the ray from its middle [m]"
        console.print(escape(f"  ({said})"), style="dim")
    for name in ("equations", "figure", "model"):
        if facts[name]:
            console.print(f"{name.capitalize()}: [bold]{escape(facts[name])}[/bold]")
    if abs(graph.middle) <= ASIDE:
        wide = (
            ""
            if abs(graph.spread - math.pi) <= ASIDE
            else f" --set laser.field_of_view={math.floor(1e4 * graph.spread) / 1e4:g}"
        )
        use = f"sandlot record indoor --fidelity learned --set model={facts['model']}{wide}"
        console.print(escape(f"Use it: {use}"), style="dim")


def _print_errors(facts: dict[str, Any], graph: "Sensorgraph") -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("segment", "from [deg]", "to [deg]", "error [m]"):
        table.add_column(escape(column), justify="right")
    count = len(facts["errors"])
    for k, error in enumerate(facts["errors"]):
        edges = (math.degrees(graph.middle + (side / count - 0.5) * graph.spread) for side in (k, k + 1))
        table.add_row(str(k), *(f"{edge:.0f}" for edge in edges), "-" if error is None else f"{error:.4f}")
    mean = facts["error"]
    table.add_row("all", "", "", "-" if mean is None else f"{mean:.4f}")
    Console(highlight=False).print(table)


def _short(equation: str) -> str:
    """The first terms, if there are many."""
    words = equation.split(" ")
    while len(" ".join(words)) > LONGEST:
        words.pop()
    while len(words) < len(equation.split(" ")) and words[-1] not in "+-":
        words.pop()
    return " ".join(words) + (" ..." if words[-1] in "+-" else "")


def _draw(graph: "Sensorgraph", out: Path) -> None:
    """Histograms of x, y and heading, and the places of all scans."""
    import numpy as np

    from sandlot.studies.plots import COLOURS, canvas
    from sandlot.surrogates.sensorgraph import THIN

    figure, (places, *axes) = canvas(4, 14.0, 3.8)
    x, y, heading = graph.poses.T
    places.quiver(x, y, np.cos(heading), np.sin(heading), color=COLOURS[0], width=0.003, scale=40.0, alpha=0.6)
    places.set(xlabel="x [m]", ylabel="y [m]", title=f"{len(graph):,} scans")
    places.set_aspect("equal", "datalim")
    for each, (name, counts) in zip(axes, graph.coverage().data_vars.items(), strict=True):
        middles = counts[counts.dims[0]].values
        width = float(middles[1] - middles[0])
        few = counts.values < THIN * counts.values.mean()
        each.bar(middles, counts.values, 0.92 * width, color=[COLOURS[1] if bar else COLOURS[0] for bar in few])
        each.axhline(THIN * counts.values.mean(), color="black", linewidth=0.8, linestyle="--")
        each.set(xlabel=f"{name} [{counts[counts.dims[0]].attrs['units']}]", title=f"by {name}")
    axes[0].set_ylabel("scans; below the line, few")
    try:
        figure.savefig(out, dpi=120)
    except (OSError, ValueError) as error:
        raise SandlotError(f"cannot write {out}: {error}") from None
