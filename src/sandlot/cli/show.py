"""Commands that show what there is: ``worlds`` and ``studies``."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from sandlot.worlds import WORLDS, load, world_id

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def worlds(
    name: Annotated[
        str | None,
        typer.Argument(metavar="WORLD", help="Show this one in full.", autocompletion=lambda: [*WORLDS]),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the worlds and their fidelities; or show one, with its controllers and all that can be set."""
    if name is not None:
        from sandlot.cli.world import facts, print_world

        found = facts(name)
        if as_json:
            print_json(found)
        else:
            print_world(found)
        return
    rows = []
    for each in WORLDS:
        kind = load(each)
        rows.append((each, world_id(each), kind.fidelities(), kind.about()))
    if as_json:
        print_json([dict(zip(("world", "id", "fidelities", "about"), row, strict=True)) for row in rows])
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("world", "Gymnasium id", "fidelities"):
        table.add_column(column, no_wrap=True)
    table.add_column("what happens there")
    for each, gym_id, offered, about in rows:
        table.add_row(each, gym_id, ", ".join(offered), about)
    Console().print(table)


def studies(
    runs: Annotated[Path, typer.Option(help="Where to look for runs.")] = Path("runs"), as_json: Json = False
) -> None:
    """List the studies, their sources, and how their last runs ended."""
    from sandlot.studies import all_studies
    from sandlot.studies.runner import State, last_runs

    states = last_runs(runs)
    rows = [
        {"study": name, "source": each.source, "question": each.question(), **asdict(states.get(name, State()))}
        for name, each in all_studies().items()
    ]
    if as_json:
        print_json(rows)
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("study", no_wrap=True)
    for column in ("question", "source", "last run"):
        table.add_column(column)
    for row in rows:
        ending = row["state"]
        if ending == "finished":
            ending = f"{row['holding']} of {row['claims']} claims hold"
        elif ending == "unfinished":
            ending = f"{row['done']} of {row['jobs']} jobs done"
        if not row["usual"]:
            ending += "\n(other settings)"
        table.add_row(row["study"], row["question"], row["source"], ending)
    Console().print(table)


def print_json(value: object) -> None:
    """Print one JSON value on standard output, and nothing else."""
    import json

    typer.echo(json.dumps(value, indent=2))
