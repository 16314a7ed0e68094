"""The command ``models``: lists fitted models and controllers on disk, or explains one."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sandlot.cli.show import Json, print_json
from sandlot.errors import ModelError, quote

DEFAULT_PATHS = (Path("models"), Path("runs"))


def models(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="A model, or directories to search.", show_default="models and runs"),
    ] = None,
    as_json: Json = False,
) -> None:
    """List models and controllers: sensor models, gaits, nets; or explain one in full.

    A model is a directory with a card, or a .toml or .json file. Its card says what it is, which recordings it was
    trained on, how large its errors are, and for which inputs it is valid.
    """
    from sandlot.models.store import find

    roots = paths or [path for path in DEFAULT_PATHS if path.exists()]
    missing = [path for path in roots if not path.exists()]
    if missing:
        raise ModelError(f"there is no {quote(missing[0])}; give a model, or a directory to search")
    found = find(path for path in roots if path.is_dir())
    single = len(roots) == 1 and (not roots[0].is_dir() or found == roots)
    if single:
        facts = explain(roots[0])
        print_json(facts) if as_json else _print_model(facts)
        return
    rows = [_row(path) for path in [*(path for path in roots if not path.is_dir()), *found]]
    if as_json:
        print_json(rows)
    elif rows:
        _print_rows(rows)
    else:
        places = " or ".join(map(str, roots or DEFAULT_PATHS))
        Console(highlight=False).print(f"no models in {escape(places)}; sandlot fit sensor makes one", soft_wrap=True)


def explain(path: Path) -> dict[str, Any]:
    """Everything about one model, for JSON.

    Raises:
        ModelError: If it cannot be read.
    """
    from sandlot.models.card import KINDS
    from sandlot.models.store import load

    model = load(path)
    arrays = {name: {"shape": list(each.shape), "dtype": str(each.dtype)} for name, each in model.arrays.items()}
    card = model.card.model_dump(mode="json")
    return {"path": str(path), "bytes": _bytes(path), "about": KINDS[model.card.kind], **card, "arrays": arrays}


def _row(path: Path) -> dict[str, Any]:
    """One line of the list; a model that cannot be read gets its error there."""
    from sandlot.models.store import load_card

    try:
        card = load_card(path)
    except ModelError as error:
        return {"path": str(path), "bytes": _bytes(path), "kind": None, "description": "", "error": str(error)}
    row = {"path": str(path), "bytes": _bytes(path), "kind": card.kind, "description": card.description}
    return row | {"error": None}


def _bytes(path: Path) -> int:
    return sum(each.stat().st_size for each in (path.iterdir() if path.is_dir() else [path]) if each.is_file())


def _print_rows(rows: list[dict[str, Any]]) -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("model", "kind"):
        table.add_column(column, no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("description")
    for row in rows:
        about = escape(row["description"]) if row["error"] is None else f"[red]{escape(row['error'])}[/]"
        table.add_row(escape(row["path"]), row["kind"] or "-", _size(row["bytes"]), about)
    Console(highlight=False).print(table)


def _print_model(facts: dict[str, Any]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"[bold]{escape(facts['path'])}[/]: {escape(facts['about'])}, {_size(facts['bytes'])}")
    if facts["description"]:
        console.print(escape(facts["description"]))
    sections = {
        "trained on": [f"{each['path']}: {each['frames']:,} frames, {each['digest']}" for each in facts["trained_on"]],
        "errors": [f"{name}: {value:.4g}" for name, value in facts["errors"].items()],
        "valid for": [f"{name}: {low:.4g} to {high:.4g}" for name, (low, high) in facts["valid_ranges"].items()],
        "settings": [f"{name}: {_short(value)}" for name, value in facts["settings"].items()],
        "arrays": [
            f"{name}: {each['dtype']} ({', '.join(map(str, each['shape']))})" for name, each in facts["arrays"].items()
        ],
        "written by": [f"Sandlot {facts['sandlot_version'] or '(unknown version)'}, format {facts['format_version']}"],
    }
    for title, lines in sections.items():
        if lines:
            console.print(f"[bold]{title}[/]")
            for line in lines:
                console.print(escape(f"  {line}"))


def _short(value: object) -> str:

    return f"{len(value)} entries" if isinstance(value, list) and len(value) > 8 else quote(value)


def _size(count: int) -> str:
    """Bytes for people."""
    return f"{count} B" if count < 1000 else f"{count / 1e3:,.1f} kB" if count < 1e6 else f"{count / 1e6:,.1f} MB"
