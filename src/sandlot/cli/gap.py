"""The command ``gap``: the outcomes of the same controller at each fidelity of a world."""

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sandlot.cli.show import Json, print_json
from sandlot.cli.work import Controller, Set, SettingsFile, progress_bar
from sandlot.worlds import WORLDS

if TYPE_CHECKING:
    import xarray as xr


def gap(
    world: Annotated[
        str,
        typer.Argument(
            help="Name of a world; see: sandlot worlds, or sandlot worlds WORLD", autocompletion=lambda: [*WORLDS]
        ),
    ],
    controller: Controller = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes at each fidelity, with the same seeds.")] = 3,
    steps: Annotated[int, typer.Option(min=1, help="Maximum steps of an episode.")] = 4000,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same result.")] = 0,
    assignments: Set = None,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Measure the gap: how outcomes change when the same controller moves to a better fidelity.

    Every fidelity of the world runs the same episodes; outcomes are means over them. Simulations that explode are
    reported, and not counted.
    """
    from sandlot import declared
    from sandlot.errors import SettingError
    from sandlot.settings import read_settings
    from sandlot.worlds import FIDELITIES, check_controller, check_name

    check_name(world)
    offered = FIDELITIES.get(world, ())
    if len(offered) == 1:
        raise SettingError(f"{world} has only one fidelity, {offered[0]}: there is no gap to measure")
    check_controller(world, controller)
    values = read_settings(settings, assignments or ())
    declared.check(f"world {world}", values)
    from sandlot.worlds.gap import measure_gap, summarize_gap

    with progress_bar("step") as show:
        outcomes = measure_gap(world, controller, episodes, steps, seed, values, show(f"gap of {world}"))
    summary = summarize_gap(outcomes)
    if as_json:
        print_json(_plain(outcomes, summary))
        return
    _print_summary(outcomes, summary)


def _print_summary(outcomes: "xr.Dataset", summary: "xr.Dataset") -> None:
    console = Console(highlight=False)
    best = summary.attrs["best"]
    count, steps, controller = outcomes.sizes["episode"], outcomes.attrs["steps"], outcomes.attrs["controller"]
    many = "episode" if count == 1 else "episodes"
    console.print(escape(f"{count} {many} of at most {steps} steps, by {controller}"), soft_wrap=True)
    for fidelity in summary["fidelity"].values.tolist():
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column("outcome", no_wrap=True)
        table.add_column("unit", no_wrap=True)
        for column in (fidelity, best, "gap", "", "largest"):
            table.add_column(column, justify="right", no_wrap=True)
        table.add_column("compared")
        for name in summary["outcome"].values.tolist():
            row = summary.sel(outcome=name, fidelity=fidelity)
            mean, better, change, largest = (float(row[key]) for key in ("mean", "better", "gap", "largest"))
            share = f"{round(change / abs(mean), 3) + 0.0:+.1%}" if math.isfinite(change) and abs(mean) > 1e-9 else ""
            numbers = (_number(mean), _number(better), _number(change, "+"), share, _number(largest, "+"))
            compared = int(row["episodes"])
            table.add_row(name, str(row["units"].item()), *numbers, f"{compared} of {count}")
        console.print(table)
    for fidelity in outcomes["fidelity"].values.tolist():
        late = int(outcomes["cut_off"].sel(fidelity=fidelity).sum())
        if late:
            console.print(f"{late} of {count} at {fidelity} had not ended by then; more --steps may change this")
        lost = outcomes.isel(episode=outcomes["exploded"].sel(fidelity=fidelity).values)["seed"].values.tolist()
        if lost:
            seeds = ", ".join(map(str, lost))
            message = f"{len(lost)} of {count} simulations at {fidelity} exploded"
            settings = ", ".join(f"{key}={value}" for key, value in outcomes.attrs["settings"].items())
            console.print(f"[bold red]{message} and are not counted[/]: seeds {seeds}", soft_wrap=True)
            console.print(escape(f"Their settings: {settings}"), style="dim", soft_wrap=True)


def _number(value: float, sign: str = "") -> str:
    return format(value, f"{sign}.3g" if sign else ".4g") if math.isfinite(value) else "-"


def _plain(outcomes: "xr.Dataset", summary: "xr.Dataset") -> dict[str, Any]:
    """Everything, for JSON; NaN becomes null."""

    def clean(value: Any) -> Any:
        if isinstance(value, list):
            return [clean(each) for each in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    rows = [
        {
            "outcome": name,
            "units": str(summary["units"].sel(outcome=name).item()),
            "fidelity": fidelity,
            "better_fidelity": summary.attrs["best"],
            **{str(key): clean(value.sel(outcome=name, fidelity=fidelity).item()) for key, value in summary.items()},
        }
        for name in summary["outcome"].values.tolist()
        for fidelity in summary["fidelity"].values.tolist()
    ]
    each = {str(key): clean(value.values.tolist()) for key, value in outcomes.items()}
    axes = {"fidelities": outcomes["fidelity"].values.tolist(), "seeds": outcomes["seed"].values.tolist()}
    return {**outcomes.attrs, **axes, "gaps": rows, "outcomes": each}
