"""One world in full: its fidelities, who can act in it, and what can be set."""

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sandlot.settings import describe
from sandlot.worlds import load, world_id
from sandlot.worlds.base import World


def facts(name: str) -> dict[str, Any]:
    """What there is to know, for JSON.

    Raises:
        SandlotError: If there is no world of that name.
    """
    kind = load(name)
    return {
        "world": name,
        "id": world_id(name),
        "fidelities": kind.fidelities(),
        "about": kind.about(),
        "controllers": list(kind().controllers()),
        "controller_files": kind.load_controller is not World.load_controller,
        "settings": [asdict(setting) for setting in describe(kind.Settings)],
    }


def print_world(found: dict[str, Any]) -> None:
    """The same, for people."""
    console = Console(highlight=False)
    files = ["or a file"] if found["controller_files"] else []
    console.print(f"[bold]{found['world']}[/], {found['id']}: {escape(found['about'])}")
    console.print(f"fidelities: {_listed(found['fidelities'])}")
    console.print(f"controllers: {_listed(found['controllers'] + files)}")
    console.print("\nWhat --set can change, at every fidelity unless it says otherwise:")
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("setting", "default"):
        table.add_column(column, no_wrap=True)
    table.add_column("meaning, and what is allowed")
    for each in found["settings"]:
        meaning = escape(each["meaning"].replace("``", ""))
        table.add_row(each["key"], escape(each["default"]), f"{meaning} [dim]({escape(each['allowed'])})[/]")
    console.print(table)


def _listed(names: list[str]) -> str:
    first, *others = names
    return ", ".join([f"{first} (if none is named)", *others])
