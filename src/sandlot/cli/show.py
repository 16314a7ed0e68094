"""Commands that show what there is: ``worlds`` and ``studies``."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sandlot.worlds import WORLDS

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def worlds(
    name: Annotated[
        str | None,
        typer.Argument(metavar="WORLD", help="Show this one in full.", autocompletion=lambda: [*WORLDS]),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the worlds and their fidelities; or show one, with its controllers and settings."""
    from sandlot.worlds import check_name

    if name is not None:
        check_name(name)
    from sandlot.worlds.describe import describe_world, describe_worlds

    found = describe_worlds() if name is None else describe_world(name)
    if as_json:
        print_json(found)
    elif isinstance(found, list):
        table = _table("world", "Gymnasium id", "fidelities", "what happens there")
        for each in found:
            table.add_row(each["world"], each["id"], ", ".join(each["fidelities"]), each["about"])
        Console().print(table)
    else:
        _print_world(found)


def _print_world(found: dict[str, Any]) -> None:
    console = Console(highlight=False)
    files = ["or a file"] if found["controller_files"] else []
    console.print(f"[bold]{found['world']}[/], {found['id']}: {escape(found['about'])}")
    console.print(f"fidelities: {_listed(found['fidelities'])}")
    console.print(f"controllers: {_listed(found['controllers'] + files)}")
    console.print("\nSettings for --set, at every fidelity unless the meaning says otherwise:")
    console.print(_settings_table(found["settings"]))


def _listed(names: list[str]) -> str:
    first, *others = names
    return ", ".join([f"{first} (default)", *others])


def _studies() -> list[str]:
    from sandlot.studies.catalogue import catalogue

    return list(catalogue())


def studies(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="STUDY", help="Show this one in full, or list those of a world.", autocompletion=_studies
        ),
    ] = None,
    runs: Annotated[Path, typer.Option(help="Where to look for runs.")] = Path("runs"),
    as_json: Json = False,
) -> None:
    """List the studies, how long they take, and their last runs; or show one, with its settings."""
    from sandlot.studies import find

    group = name is not None and any(each.startswith(f"{name}.") for each in _studies())
    if name is not None and not group:
        find(name)
    from sandlot.studies.states import describe_studies, describe_study, last_runs

    found = last_runs(runs)
    rows: list[dict[str, Any]] | dict[str, Any]
    if name is None or group:
        rows = [row for row in describe_studies(found) if name is None or row["study"].startswith(f"{name}.")]
    else:
        rows = describe_study(name, found)
    console = Console(stderr=True, highlight=False, emoji=False)
    for directory, reason in found.skipped.items():
        console.print(f"[yellow]skipped {escape(directory)}:[/] {escape(reason)}", soft_wrap=True)
    if as_json:
        print_json(rows)
    elif isinstance(rows, list):
        _print_studies(rows)
    else:
        _print_study(rows)


WIDE, NARROW = 120, 20
"""Columns of a terminal from which on last runs need not be wrapped, and their width on others."""


def _print_studies(rows: list[dict[str, Any]]) -> None:
    from sandlot.studies.catalogue import in_words

    console = Console(highlight=False)
    table = Table(box=None, header_style="bold", pad_edge=False, expand=True)
    table.add_column("study", no_wrap=True)
    table.add_column("question", ratio=1)
    table.add_column("time", no_wrap=True, justify="right")
    table.add_column("last run", max_width=NARROW if console.width < WIDE else None)
    world = ""
    for row in rows:
        if world != (world := row["study"].partition(".")[0]):
            table.add_row(f"[bold]{world}[/]", f"[dim]{escape(_sources(rows, world))}[/]")
        last = row["last_run"] + ("" if row["usual"] else "*")
        short = row["study"].partition(".")[2]
        table.add_row(f"  [dim]{world}.[/]{short}", escape(row["question"]), in_words(row["seconds"]), last)
    console.print(table)
    if not all(row["usual"] for row in rows):
        console.print("* with other settings than the default", style="dim")
    console.print("time: of a full run on two cores. Show one in full: sandlot studies STUDY", style="dim")


def _sources(rows: list[dict[str, Any]], world: str) -> str:
    """The published works that studies of a world repeat."""
    mine = [row["source"] for row in rows if row["study"].startswith(f"{world}.")]
    works = [work for source in mine for work in re.findall(r"[A-Z]\w+(?:(?:,| and) [A-Z]\w+)* \d{4}", source)]
    return "; ".join(dict.fromkeys(works))


def _print_study(row: dict[str, Any]) -> None:
    from sandlot.studies.catalogue import in_words

    console = Console(highlight=False)
    console.print(f"[bold]{row['study']}[/]: {escape(row['question'])}")
    if row["about"]:
        console.print(escape(row["about"]))
    console.print(f"source: {escape(row['source'])}")
    console.print(f"time: {in_words(row['seconds'])} on two cores")
    where = f", {row['run_directory']}" if row["run_directory"] else ""
    usual = "" if row["usual"] else " (with other settings than the default)"
    console.print(escape(f"last run: {row['last_run']}{usual}{where}"), soft_wrap=True)
    console.print("\nSettings for --set:")
    console.print(_settings_table(row["settings"]))


def _settings_table(settings: list[dict[str, str]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("setting", no_wrap=True)
    table.add_column("default", max_width=20, overflow="fold")
    table.add_column("meaning, and what is allowed")
    for each in settings:
        meaning = escape(each["meaning"].replace("``", ""))
        table.add_row(each["key"], escape(each["default"]), f"{meaning} [dim]({escape(each['allowed'])})[/]")
    return table


def _table(*columns: str) -> Table:
    """A plain table; only its last column is wrapped."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns[:-1]:
        table.add_column(column, no_wrap=True)
    table.add_column(columns[-1])
    return table


def print_json(value: object) -> None:
    """Print one JSON value on standard output, and nothing else."""
    import json

    typer.echo(json.dumps(value, indent=2))
