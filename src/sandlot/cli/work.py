"""Commands that work: ``tour``, ``run``, ``report`` and ``record``."""

import enum
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from sandlot.cli import stop
from sandlot.cli.show import Json, _studies, print_json
from sandlot.errors import RecordingError, RunError, SettingError, quote
from sandlot.worlds import WORLDS
from sandlot.writing import VIDEOS, check_suffix, refuse_existing

if TYPE_CHECKING:
    from rich.progress import TaskID

    from sandlot.studies.base import Claim
    from sandlot.studies.runner import Outcome

error_console = Console(stderr=True, emoji=False)

Out = Annotated[Path | None, typer.Option("--out", help="Directory to write to.", show_default=False)]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; may be repeated.", show_default=False),
]
SettingsFile = Annotated[
    Path | None, typer.Option("--settings", help="TOML file with settings.", show_default=False, dir_okay=False)
]
Controller = Annotated[
    str | None,
    typer.Option(
        help="What acts: a name, a file (.toml, .json), the directory of a model, or your own: module:Class, "
        "file.py:function.",
        show_default="the world's first",
    ),
]
Workers = Annotated[int | None, typer.Option(min=1, help="Jobs at a time.", show_default="all cores")]
LOG_EVERY = 60.0
"""Time between two lines about progress in a log file [s]."""


class Backend(enum.StrEnum):
    """Where jobs run."""

    processes = "processes"
    ray = "ray"


def tour(
    out: Annotated[Path, typer.Option("--out", help="Directory to write to.")] = Path("runs/tour"),
    workers: Workers = None,
    full: Annotated[bool, typer.Option("--full", help="Run more studies, of every world; some minutes.")] = False,
) -> None:
    """See what Sandlot does: a rover's ruts, a snake's delivery and a swarm, on one page."""
    console = Console()
    console.print("The tour: a rover on soft soil, a snake that fetches a ball, a swarm that levels a terrain.")
    console.print("Kernels are compiled for the first use, which takes up to a minute, once.", style="dim")
    from sandlot.studies.tour import take_tour

    with progress_bar("job") as show:
        page = take_tour(out, workers, lambda study: show(study.name), full)
    console.print(f"The tour's page: [bold]{escape(str(page))}[/bold]", soft_wrap=True)
    console.print("Open it in a browser.", style="dim")
    command = sys.argv[0]
    then = {} if full else {"more of the tour": f"{command} tour --full"}
    then |= {"all studies": f"{command} studies", "live, in the browser": f"{command} lab"}
    then["a rover over a network"] = f"{command} rover serve, and in another terminal: {command} rover drive"
    for what, typed in then.items():
        console.print(escape(f"  {what}: {typed}"), style="dim", soft_wrap=True)


def run(
    study: Annotated[str, typer.Argument(help="Name of a study; see: sandlot studies", autocompletion=_studies)],
    assignments: Set = None,
    settings: SettingsFile = None,
    out: Out = None,
    workers: Workers = None,
    backend: Annotated[Backend, typer.Option(help="This machine's processes, or a Ray cluster.")] = Backend.processes,
    as_json: Json = False,
) -> None:
    """Run a study, or resume it: finished jobs are kept, even if the run is killed.

    Results depend on settings and seed alone, not on workers, backend or interruptions.
    Runs go to runs/STUDY unless --out says otherwise; the same directory again resumes.
    """
    from sandlot import declared
    from sandlot.settings import build, read_settings
    from sandlot.studies import find

    values = read_settings(settings, assignments or ())
    declared.check(f"study {study}", values)
    if out is not None and out.exists() and not out.is_dir():
        raise RunError(f"cannot keep a run in {quote(out)}: it is a file")
    chosen = build(find(study), values)
    from sandlot.studies.runner import run as run_study

    with progress_bar("job") as show:
        outcome = run_study(chosen, out, workers, backend.value, _announced(study, show(study)))
    _finish(outcome, as_json)


def _announced(study: str, update: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """Say how long the jobs may take that are left, once they begin."""
    from sandlot.studies.catalogue import catalogue, in_words

    said = False

    def announce(done: int, total: int) -> None:
        nonlocal said
        left = total - done
        if not said and left:
            expected = catalogue()[study].expected(left)
            about = "" if expected is None else f", about {in_words(expected)} on two cores"
            noun = "job" if left == 1 else "jobs"
            error_console.print(f"{study}: {left} {noun}{about}", style="dim", highlight=False)
        said = True
        update(done, total)

    return announce


def report(
    directory: Annotated[Path, typer.Argument(metavar="RUN", help="Directory of a finished run.")],
    as_json: Json = False,
) -> None:
    """Write the page of a finished run: settings, figure, claims, and where the data is."""
    from sandlot.studies.store import Store

    if not (directory / Store.FILE).exists():
        raise RunError(f"no run in {quote(directory)}; `sandlot run STUDY --out {quote(directory)}` makes one")
    from sandlot.studies.runner import load as load_run

    outcome = load_run(directory)
    _finish(outcome, as_json)


def _finish(outcome: "Outcome", as_json: bool) -> None:
    """Write the run's page and print its claims."""
    from sandlot.studies.report import write_report

    page = write_report(outcome)
    if as_json:
        print_json(outcome.summary())
        return
    print_claims(outcome.claims)
    Console().print(f"Report: [bold]{escape(str(page))}[/bold]", soft_wrap=True)


def record(
    world: Annotated[
        str,
        typer.Argument(
            help="Name of a world; see: sandlot worlds, or sandlot worlds WORLD", autocompletion=lambda: [*WORLDS]
        ),
    ],
    fidelity: Annotated[str | None, typer.Option(help="Which physics.", show_default="the world's first")] = None,
    controller: Controller = None,
    steps: Annotated[int, typer.Option(min=1, help="Steps to record.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same recording.")] = 0,
    assignments: Set = None,
    settings: SettingsFile = None,
    out: Out = None,
    video: Annotated[
        Path | None, typer.Option(help="Write a video too: .mp4, .gif or .webp.", show_default=False)
    ] = None,
    video_speed: Annotated[float, typer.Option(help="Of the video, relative to real time.")] = 1.0,
    observations: Annotated[
        bool, typer.Option(help="Keep observations. With patches, long drives are recorded slower.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Record a world: every frame, with units, into a Zarr store; with --video also as a moving picture.

    See the settings, controllers and fidelities of a world with: sandlot worlds WORLD.
    Open a recording with sandlot.recordings.open(PATH); it is an xarray.Dataset. When an episode ends, the next
    begins. An episode whose simulation explodes ends; it is counted, and its last frame is marked. The first time, a
    world's kernels are compiled, which can take half a minute.
    """
    from sandlot.settings import read_settings
    from sandlot.worlds import check_controller, check_fidelity, check_name, check_settings

    check_name(world)
    check_fidelity(world, fidelity)
    check_controller(world, controller)
    if video is not None:
        check_suffix(video, "a video", VIDEOS, SettingError)
        refuse_existing(video, RecordingError)
    path = out or Path("recordings") / world
    refuse_existing(path, RecordingError)
    values = read_settings(settings, assignments or ())
    if fidelity is not None:
        values["fidelity"] = fidelity
    check_settings(world, values, controller)
    from sandlot.worlds.record import record_world

    with progress_bar("step") as show:
        bar = show(f"recording {world}")
        facts = record_world(world, path, steps, controller, seed, values, bar, video, video_speed, observations)
    if as_json:
        print_json(facts)
        return
    Console().print(f"Recording: [bold]{escape(str(path))}[/bold] ({facts['frames']:,} frames)", soft_wrap=True)
    if video is not None:
        Console().print(f"Video: [bold]{escape(str(video))}[/bold]", soft_wrap=True)
    Console().print(escape(f"Look at it: sandlot show {path}"), style="dim", soft_wrap=True)
    if facts["exploded"]:
        _print_exploded(facts)


def _print_exploded(facts: dict[str, Any]) -> None:
    """Print how many episodes exploded, with their seed and settings."""
    from sandlot import recordings
    from sandlot.settings import flatten

    console = Console(highlight=False)
    message = f"{facts['exploded']} of {facts['episodes']} episodes exploded; their last frames are marked"
    console.print(f"[bold red]{message}[/]: seed {facts['seed']}", soft_wrap=True)
    with recordings.open(facts["recording"]) as recording:
        settings = flatten(recordings.settings(recording))
    said = ", ".join(f"{key}={value}" for key, value in settings.items())
    console.print(escape(f"Their settings: {said}"), style="dim", soft_wrap=True)


@contextmanager
def progress_bar(noun: str) -> Iterator[Callable[[str], Callable[[int, int], None]]]:
    """Show progress on standard error, with a rate and the time left; yields a function that makes a bar for a name.

    If standard error is not a terminal, a line every `LOG_EVERY` seconds takes the place of the bar.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", style="dim"),
        TimeRemainingColumn(),
    )
    progress = Progress(*columns, console=error_console)

    def bar(name: str) -> Callable[[int, int], None]:
        task: TaskID | None = None
        said = time.monotonic()

        def update(done: int, total: int) -> None:
            nonlocal said, task
            stop.check()
            # Start the bar with the first update: a mistake that is found before shows its error and no bar.
            if task is None:
                progress.start()
                task = progress.add_task(name, total=total, rate="")
            speed = progress.tasks[task].speed
            rate = f"{speed:,.1f} {noun}s/s" if speed else ""
            progress.update(task, completed=done, total=total, rate=rate)
            if not error_console.is_terminal and time.monotonic() - said > LOG_EVERY:
                said = time.monotonic()
                print(f"{name}: {done} of {total} {noun}s {rate}", file=sys.stderr, flush=True)

        return update

    try:
        yield bar
    finally:
        if progress.tasks:
            progress.stop()


COLOURS = {"holds": "green", "does not hold": "red", "undecided": "yellow"}


def print_claims(claims: "list[Claim]") -> None:
    """For each claim whether it holds, what the source says, and what was measured; then how many hold."""
    from collections import Counter

    from rich.table import Table

    from sandlot.studies.base import VERDICTS, in_number

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for claim in claims:
        table.add_row(f"[{COLOURS[claim.verdict]}]{claim.verdict}[/]", escape(claim.text))
        said = f"source: {claim.source}; measured: {claim.measured}"
        for line in filter(None, (said, claim.note, claim.undecided)):
            table.add_row("", f"[dim]{escape(line)}[/]")
    console = Console(highlight=False)
    console.print(table)
    counts = Counter(claim.verdict for claim in claims)
    found = [f"[{COLOURS[verdict]}]{in_number(verdict, counts[verdict])}[/]" for verdict in VERDICTS if counts[verdict]]
    console.print("Claims: " + ", ".join(found))
