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
from sandlot.errors import ModelError, SandlotError

if TYPE_CHECKING:
    from sandlot.models.card import TrainingData
    from sandlot.surrogates.sensorgraph import Sensorgraph

MAX_EQUATION = 200
"""Characters of an equation that are printed; further terms are left out."""

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


@app.command()
def sensor(
    recordings: Annotated[list[Path], typer.Argument(metavar="RECORDING...", help="Directories of recordings.")],
    out: Annotated[Path, typer.Option("--out", help="Directory of the model.", show_default=False)],
    kind: Annotated[Kind, typer.Option(help="Kind of model; local is the most accurate.")] = Kind.local,
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
    from sandlot.surrogates.files import KINDS, SUFFIXES, check_found, save, save_equations
    from sandlot.surrogates.local import Local
    from sandlot.surrogates.sensor_models import assess
    from sandlot.surrogates.sensorgraph import Sensorgraph

    equations = None if form is None else out.with_name(out.name + SUFFIXES[form])
    _check(out, equations, kind)
    logs, sources = zip(*(_graph(path) for path in recordings), strict=True)
    graph, model = Sensorgraph.join(logs), KINDS[kind]()
    graph.check(model.segments)
    with progress_bar("fit") as show:
        step = show(f"fitting {out.name}")
        errors = assess(model, logs, holdout).tolist() if holdout else []
        step(1, 2)
        model.fit(graph)
        step(2, 2)
    check_found(model)
    known = {k: error for k, error in enumerate(errors) if math.isfinite(error)}
    mean = sum(known.values()) / len(known) if known else None
    if figure is not None:
        _draw(graph, figure)
    if equations is not None and form is not None and not isinstance(model, Local):
        save_equations(model, equations, form)
    named = {} if mean is None else {"mean absolute error on held-out scans [m]": mean}
    named |= {f"mean absolute error of segment {k} [m]": error for k, error in known.items()}
    low, high = graph.poses.min(0).tolist(), graph.poses.max(0).tolist()
    valid = {"x [m]": (low[0], high[0]), "y [m]": (low[1], high[1])}
    save(model, out, sources, named, valid)
    facts: dict[str, Any] = {
        "kind": kind.value,
        "recordings": [each.model_dump() for each in sources],
        "scans": len(graph),
        "beams": len(graph.bearings),
        "thin": graph.thin(),
        "held_out": sum(len(log.split(holdout)[1]) for log in logs),
        "errors": [error if math.isfinite(error) else None for error in errors],
        "error": mean,
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
    """Check the output paths and options before the fit, which may take long."""
    if out.suffix in (".json", ".toml"):
        raise ModelError(f"{out}: a sensor model is a directory; leave out {out.suffix}")
    if equations is not None and kind is Kind.local:
        raise ModelError(
            "a local model has too many equations to print, one for each of its cells; "
            "leave --equations out, or choose --kind sectors or headings"
        )
    for path in (out, equations):
        if path is not None and path.exists():
            raise ModelError(f"{path} already exists; choose another path or remove it first")


def _graph(path: Path) -> "tuple[Sensorgraph, TrainingData]":
    from sandlot import recordings
    from sandlot.models.card import TrainingData
    from sandlot.recordings.digests import digest
    from sandlot.surrogates.sensorgraph import Sensorgraph

    with recordings.open(path) as recording:
        try:
            source = TrainingData(path=str(path), digest=digest(recording), frames=recording.sizes["time"])
            return Sensorgraph.of(recording), source
        except SandlotError as error:
            raise type(error)(f"{path}: {error}") from error


def _print_facts(facts: dict[str, Any], graph: "Sensorgraph") -> None:
    from sandlot.worlds.indoor.learned import ASIDE

    console = Console(highlight=False, soft_wrap=True)
    many = len(facts["recordings"])
    console.print(f"{facts['scans']:,} scans of {facts['beams']} beams in {many} recording{'s' if many > 1 else ''}")
    for line in facts["thin"]:
        console.print(f"[bold yellow]warning:[/] {escape(line)}")
    if facts["errors"]:
        console.print(f"Mean absolute error on the last {facts['held_out']:,} scans, which were held out:")
        _print_errors(facts, graph)
    console.print(
        f"Fitted to all scans: a {facts['kind']} model of {facts['size']:,} coefficients; one of its equations:"
    )
    console.print(escape(f"  {_short(facts['equation'])}"))
    if facts["kind"] == "local":
        units = "turn, across and along in units of a cell; ahead: distance along the ray from the cell's center [m]"
        console.print(escape(f"  ({units})"), style="dim")
    for name in ("equations", "figure", "model"):
        if facts[name]:
            console.print(f"{name.capitalize()}: [bold]{escape(facts[name])}[/bold]")
    if abs(graph.center_bearing) <= ASIDE:
        use = f"sandlot record indoor --fidelity learned --set model={facts['model']}"
        if abs(graph.field_of_view - math.pi) > ASIDE:
            use += f" --set laser.field_of_view={math.floor(1e4 * graph.field_of_view) / 1e4:g}"
        console.print(escape(f"Use it: {use}"), style="dim")


def _print_errors(facts: dict[str, Any], graph: "Sensorgraph") -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("segment", "from [deg]", "to [deg]", "error [m]"):
        table.add_column(escape(column), justify="right")
    count = len(facts["errors"])
    for k, error in enumerate(facts["errors"]):
        sides = (graph.center_bearing + (side / count - 0.5) * graph.field_of_view for side in (k, k + 1))
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


def _draw(graph: "Sensorgraph", out: Path) -> None:
    """Draw histograms of x, y and yaw, and the poses of all scans."""
    import numpy as np

    from sandlot.studies.plots import COLOURS, canvas
    from sandlot.surrogates.sensorgraph import THIN

    figure, (places, *axes) = canvas(4, 14.0, 3.8)
    x, y, yaw = graph.poses.T
    places.quiver(x, y, np.cos(yaw), np.sin(yaw), color=COLOURS[0], width=0.003, scale=40.0, alpha=0.6)
    places.set(xlabel="x [m]", ylabel="y [m]", title=f"{len(graph):,} scans")
    places.set_aspect("equal", "datalim")
    for each, (name, counts) in zip(axes, graph.coverage().data_vars.items(), strict=True):
        centers = counts[counts.dims[0]].values
        width = float(centers[1] - centers[0])
        few = counts.values < THIN * counts.values.mean()
        each.bar(centers, counts.values, 0.92 * width, color=[COLOURS[1] if bar else COLOURS[0] for bar in few])
        each.axhline(THIN * counts.values.mean(), color="black", linewidth=0.8, linestyle="--")
        each.set(xlabel=f"{name} [{counts[counts.dims[0]].attrs['units']}]", title=f"by {name}")
    axes[0].set_ylabel("scans; few below the line")
    try:
        figure.savefig(out, dpi=120)
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot write {out}: {error}") from None
