"""The commands ``fit motion`` and ``fit ground``: learned rovers from recordings of the terrain world."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sandlot import declared
from sandlot.cli.show import Json, print_json
from sandlot.cli.work import Set, SettingsFile, progress_bar
from sandlot.errors import ModelError, SettingError
from sandlot.recordings.needs import ROVER, check_needs
from sandlot.writing import refuse_existing

if TYPE_CHECKING:
    from sandlot.physics.soil import SoilKind

REPORT = "report.html"
"""Page in the directory of a model."""
Recordings = Annotated[list[Path], typer.Argument(metavar="RECORDING...", help="Directories of recordings.")]
RoverName = Annotated[
    str | None, typer.Option(help="wheeled, tracked, or a TOML file.", show_default="that of the recordings")
]


def _check_rover(given: str | None) -> None:
    """Refuse a rover that is not known, before anything heavy is imported."""
    if given is not None:
        declared.check("train rover", {"rover": given})


def _rover_of(recordings: list[Path], given: str | None) -> str:
    """The rover of the first recording, unless another one is given."""
    from sandlot.recordings import settings
    from sandlot.surrogates.terrain.recorded import open_drives

    if given is not None:
        return given
    rovers = settings(open_drives(recordings[0])).get("rovers") or ["wheeled"]
    return str(rovers[0])


def _soil_of(given: str) -> "SoilKind":
    """The soil that a name or a file says."""
    from sandlot.physics.soil import PRESETS
    from sandlot.physics.soil.files import SUFFIX, load_soil

    if given.endswith(SUFFIX):
        return load_soil(Path(given))
    if given not in PRESETS:
        raise SettingError(f"--soil {given} is not possible; allowed: {', '.join(PRESETS)}, or a {SUFFIX} file")
    return PRESETS[given]


def motion(
    recordings: Recordings,
    out: Annotated[Path, typer.Option("--out", help="Directory of the model.", show_default=False)],
    rover: RoverName = None,
    test: Annotated[
        list[Path] | None,
        typer.Option("--test", metavar="RECORDING", help="Tests the model; may be repeated.", show_default=False),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(help="Model that the fit begins with: wheeled, tracked, or a directory.", show_default="none"),
    ] = None,
    soil: Annotated[
        str | None,
        typer.Option(
            help="Soil of recordings that name none: a preset, or a .toml file of fit soil.", show_default=False
        ),
    ] = None,
    assignments: Set = None,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Fit how a rover moves: its speed, sideways speed, turn rate and attitude from commands, ground and soil.

    The model is an ensemble of small nets. It learns from any number of soils and terrains, and then drives on others.
    With --start it begins with a model that was trained on many soils, and few recordings are enough; give it a small
    rate: --set rate=0.001 --set epochs=60. With --test it is compared with recordings that it has not seen. The
    model's report.html shows errors by soil, slope and speed, and free runs. Use it with:
    sandlot record terrain --fidelity learned --set motion_model=OUT
    """
    for each in (*recordings, *(test or ())):
        check_needs(each, ROVER)
    refuse_existing(out, ModelError)
    from sandlot.settings import build, read_settings

    values = read_settings(settings, assignments or ())
    declared.check("fit motion", values)
    _check_rover(rover)
    from sandlot.extras import need
    from sandlot.models.card import TrainingData
    from sandlot.recordings import open as open_recording
    from sandlot.recordings.digests import digest
    from sandlot.studies.rover_page import motion_page
    from sandlot.surrogates.terrain.evaluation import evaluate
    from sandlot.surrogates.terrain.fit_motion import check_start, fit_motion
    from sandlot.surrogates.terrain.motion_model import SHIPPED, load_motion
    from sandlot.surrogates.terrain.recorded import read_drives
    from sandlot.surrogates.terrain.shape import shape_of
    from sandlot.surrogates.terrain.training import Training

    given = build(Training, values)
    need("torch", "learn").set_num_threads(1)  # its batches are small: more threads wait for each other
    shape = shape_of(_rover_of(recordings, rover))
    kind = None if soil is None else _soil_of(soil)
    first = None if start is None else load_motion(SHIPPED / start if start in ("wheeled", "tracked") else Path(start))
    drives = read_drives(recordings, shape, kind)
    if first is not None:
        check_start(first, shape, drives[0].interval)
        if any(drive.kind is None for drive in drives):
            raise SettingError("--start needs --soil for recordings that name no soil; sandlot fit soil finds one")
    if test:
        read_drives(test, shape, kind)  # a mistake in them is found before the fit
    data = [
        TrainingData(path=str(path), digest=digest(each), frames=int(each.sizes["time"]))
        for path, each in zip(recordings, map(open_recording, recordings), strict=True)
    ]
    with progress_bar("epoch") as show:
        bar = show("training")
        model = fit_motion(drives, shape, given, data, lambda epoch, epochs, _: bar(epoch, epochs), first)
    errors = evaluate(model, test, kind=kind) if test else {}
    model = model.with_errors(errors)
    model.save(out)
    (out / REPORT).write_text(motion_page(model, test or recordings, not test, out, kind), encoding="utf-8")
    if as_json:
        print_json({"model": str(out), "drives": len(drives), "errors": errors})
        return
    console = Console(highlight=False, soft_wrap=True)
    if errors:
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column("on the recordings for testing")
        table.add_column("", justify="right")
        for name, value in errors.items():
            table.add_row(escape(name), f"{value:.4f}")
        console.print(table)
    count = "1 drive" if len(drives) == 1 else f"{len(drives)} drives"
    console.print(f"Model: [bold]{escape(str(out))}[/bold], fitted to {count}")
    console.print(f"Report: {escape(str(out / REPORT))}")
    like = "" if soil is None else f" --set soil={soil}"
    console.print(
        escape(f"Use it: sandlot record terrain --fidelity learned --set motion_model={out}{like}"), style="dim"
    )


def ground(
    recordings: Recordings,
    out: Annotated[Path, typer.Option("--out", help="A .toml file for the model.", show_default=False)],
    rover: RoverName = None,
    seconds: Annotated[int, typer.Option(min=1, help="Seconds of each episode that are compared.")] = 8,
    as_json: Json = False,
) -> None:
    """Fit how a rover changes the ground: where the soil goes that its wheels or tracks displace.

    The footprints of the model on the recorded drives are compared with the ruts that were recorded; a page beside
    the model shows both. Use it with:
    sandlot record terrain --fidelity learned --set ground_model=OUT
    """
    if out.suffix != ".toml":
        raise ModelError(f"--out {out} is not a .toml file; a model of the ground is one")
    report = out.with_suffix(".html")
    for each in (out, report):
        refuse_existing(each, ModelError)
    for each in recordings:
        check_needs(each, ROVER)
    _check_rover(rover)
    from sandlot.models.card import Card
    from sandlot.studies.rover_page import ground_page
    from sandlot.surrogates.terrain.fit_ground import fit_ground, stretches_of
    from sandlot.surrogates.terrain.recorded import open_drives
    from sandlot.surrogates.terrain.shape import shape_of

    shape = shape_of(_rover_of(recordings, rover))
    with progress_bar("evaluation") as show:
        model, correlation = fit_ground(recordings, shape, seconds, show(f"fitting {out.name}"))
    errors = {"correlation of height changes in 1 s [1]": round(correlation, 4)}
    model.save(out, Card(kind="ground", description="how a rover changes the ground", errors=errors))
    compared = [(path.name, list(stretches_of(open_drives(path), seconds))) for path in recordings]
    report.write_text(ground_page(model, shape, compared, out), encoding="utf-8")
    if as_json:
        print_json({"model": str(out), "correlation": correlation, "settings": model.model_dump()})
        return
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"Height changes in 1 s correlate by {correlation:.3f} with the recorded ones.")
    console.print(f"Model: [bold]{escape(str(out))}[/bold]; report: {escape(str(report))}")
    console.print(escape(f"Use it: sandlot record terrain --fidelity learned --set ground_model={out}"), style="dim")
