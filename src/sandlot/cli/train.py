"""The command ``train``: controllers that learn in simulation."""

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from sandlot.cli.show import Json, print_json
from sandlot.cli.work import Set, SettingsFile, progress_bar
from sandlot.worlds import WORLDS

if TYPE_CHECKING:
    from sandlot.learning.ppo import Update

app = typer.Typer(help="Train controllers in simulation.")


@app.callback()
def train() -> None:
    """Train controllers in simulation."""


def _checked(name: str, out: Path, settings: Path | None, assignments: list[str] | None) -> dict[str, Any]:
    """The settings of a training; mistakes are found before anything heavy is imported."""
    from sandlot import declared
    from sandlot.errors import ModelError
    from sandlot.settings import read_settings
    from sandlot.writing import refuse_existing

    refuse_existing(out, ModelError)
    values = read_settings(settings, assignments or ())
    declared.check(f"train {name}", values)
    return values


@app.command()
def climber(
    out: Annotated[Path, typer.Option("--out", help="Directory of the controller.", show_default=False)],
    start: Annotated[
        Path | None, typer.Option(help="Directory of a controller to train further.", show_default="a random one")
    ] = None,
    assignments: Set = None,
    settings: SettingsFile = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads that simulate; results do not depend on them.")] = 2,
    as_json: Json = False,
) -> None:
    """Train a climbing robot at fidelity fast, by proximal policy optimisation.

    Thousands of robots that differ in size, mass, friction and motors climb boxes, stairs and rubble, which get higher
    as they pass. Without settings this trains the controller that comes with Sandlot, in several stages; interrupted,
    the same command goes on after the last finished stage. With settings there is one stage, and --start trains a
    controller further. Use it with: sandlot record obstacles --controller OUT
    """
    values = _checked("climber", out, settings, assignments)
    if start is not None:
        from sandlot.models.store import load_card

        load_card(start)
    from sandlot.extras import need
    from sandlot.learning.climber import ClimberTraining
    from sandlot.learning.climber import train as train_climber
    from sandlot.learning.climber_stages import STAGES, train_in_stages
    from sandlot.learning.ppo import Nets
    from sandlot.models.dense import load_dense, save_dense
    from sandlot.robots.climber import load_climber
    from sandlot.settings import build

    given = build(ClimberTraining, values)
    before = None
    if start is not None:
        policy, its_card = load_dense(start)
        before = Nets(policy), its_card
    staged = settings is None and not assignments and start is None
    stages = STAGES if staged else (given,)
    need("torch", "learn").set_num_threads(1)  # its batches are small: more threads wait for each other
    began, used = time.monotonic(), time.process_time()
    with progress_bar("iteration") as show:
        bar = show(f"training {out.name}")

        def progress(stage: int, update: "Update") -> None:
            done = sum(each.ppo.iterations for each in stages[:stage])
            bar(done + update.number, sum(each.ppo.iterations for each in stages))

        if staged:
            folder = out.with_name(f"{out.name}.stages")
            nets, card = train_in_stages(load_climber(), stages, folder, threads, progress)
        else:
            nets, card = train_climber(load_climber(), given, threads, lambda update, _: progress(0, update), before)
    save_dense(out, nets.policy, card)
    if staged:
        shutil.rmtree(folder)
    seconds = {"seconds": time.monotonic() - began, "processor_seconds": time.process_time() - used}
    _say(out, card.errors, seconds, as_json)


@app.command()
def avoider(
    out: Annotated[Path, typer.Option("--out", help="Directory of the controller.", show_default=False)],
    assignments: Set = None,
    settings: SettingsFile = None,
    threads: Annotated[int, typer.Option(min=1, help="Agents at a time; results do not depend on them.")] = 2,
    as_json: Json = False,
) -> None:
    """Train a rover to get around obstacles, by deep Q-learning.

    Several agents learn at once, each 4,000 episodes, and the best is kept. Without settings this trains the controller
    that comes with Sandlot. Use it with: sandlot record avoid --fidelity reference --controller OUT
    """
    values = _checked("avoider", out, settings, assignments)
    from sandlot.learning.avoider import AvoiderTraining
    from sandlot.learning.avoider import train as train_avoider
    from sandlot.models.dense import save_dense
    from sandlot.settings import build

    given = build(AvoiderTraining, values)
    began, used = time.monotonic(), time.process_time()
    with progress_bar("agent") as show:
        net, card = train_avoider(given, threads, show(f"training {out.name}"))
    save_dense(out, net, card)
    seconds = {"seconds": time.monotonic() - began, "processor_seconds": time.process_time() - used}
    _say(out, card.errors, seconds, as_json)


def _say(out: Path, errors: dict[str, float], seconds: dict[str, float], as_json: bool) -> None:
    """Print what came of a training."""
    if as_json:
        print_json({"controller": str(out), **seconds, "failures": errors})
        return
    console = Console(highlight=False)
    for name, share in errors.items():
        console.print(escape(f"{share:7.2%} {name.removesuffix(' [1]')}"), soft_wrap=True)
    said = f"{seconds['seconds']:.0f} s, {seconds['processor_seconds']:.0f} s of processor time"
    console.print(f"Controller: [bold]{escape(str(out))}[/bold] ({said})", soft_wrap=True)


@app.command()
def rover(
    out: Annotated[Path, typer.Option("--out", help="Directory of the model.", show_default=False)],
    recordings: Annotated[
        Path | None,
        typer.Option(help="Directory of the recordings; those that are there are used.", show_default="OUT.recordings"),
    ] = None,
    assignments: Set = None,
    settings: SettingsFile = None,
    workers: Annotated[int, typer.Option(min=1, help="Recordings at a time; results do not depend on them.")] = 2,
    as_json: Json = False,
) -> None:
    """Record a rover on 1,600 random soils and hills, and fit how it moves.

    Without settings this makes the model of the wheeled rover that comes with Sandlot; --set rover=tracked makes the
    other one. Interrupted, the same command goes on with the recordings that are there. Use the model with:
    sandlot record terrain --fidelity learned --set motion_model=OUT
    """
    values = _checked("rover", out, settings, assignments)
    from sandlot.extras import need
    from sandlot.learning.rover import RoverTraining, train_rover
    from sandlot.settings import build

    given = build(RoverTraining, values)
    need("torch", "learn").set_num_threads(1)  # its batches are small: more threads wait for each other
    began, used = time.monotonic(), time.process_time()
    folder = out.with_name(f"{out.name}.recordings") if recordings is None else recordings
    with progress_bar("step") as show:
        bars = {what: show(what) for what in ("recording", "reading", "training")}
        model = train_rover(folder, given, workers, lambda what, done, total: bars[what](done, total))
    model.save(out)
    seconds = {"seconds": time.monotonic() - began, "processor_seconds": time.process_time() - used}
    if as_json:
        print_json({"model": str(out), "recordings": str(folder), **seconds})
        return
    console = Console(highlight=False)
    console.print(f"Model: [bold]{escape(str(out))}[/bold] ({seconds['seconds']:.0f} s)", soft_wrap=True)


def _add_world(world: str) -> None:
    """Make the command that trains a controller of a world."""

    def command(
        out: Annotated[Path, typer.Option("--out", help="Directory of the controller.", show_default=False)],
        algorithm: Annotated[str, typer.Option(help="ppo, sac or dqn.")] = "ppo",
        steps: Annotated[
            int | None,
            typer.Option(min=1, help="Decisions of all worlds together.", show_default="1500000, or a recipe's"),
        ] = None,
        fidelity: Annotated[
            str | None, typer.Option(help="To train at.", show_default="fast, or learned for terrain")
        ] = None,
        assignments: Set = None,
        world_settings: Annotated[
            list[str] | None,
            typer.Option("--world", metavar="KEY=VALUE", help="A setting of the world; may be repeated."),
        ] = None,
        settings: SettingsFile = None,
        episodes: Annotated[int, typer.Option(min=0, help="Of the test at each fidelity at the end.")] = 10,
        as_json: Json = False,
    ) -> None:
        from sandlot.cli.train_world import train_world

        chosen = [] if steps is None else [f"steps={steps}"]
        training = ["algorithm=" + algorithm, *chosen, *(assignments or ())]
        fixed = [] if fidelity is None else [f"fidelity={fidelity}"]
        train_world(world, out, training, [*(world_settings or ()), *fixed], settings, episodes, as_json)

    command.__doc__ = (
        f"Train a controller of the world {world} with Stable-Baselines3.\n\n"
        "It learns at the normalised interface of the world, for indoor, terrain and water with settings that are "
        "known to work. Interrupted, the same command goes on from the last "
        "checkpoint. At the end it is tested at every fidelity. "
        f"Use it with: sandlot record {world} --controller OUT"
    )
    app.command(world, help=command.__doc__)(command)


for _world in WORLDS:
    _add_world(_world)
