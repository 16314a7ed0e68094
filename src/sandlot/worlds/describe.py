"""What there is to know about worlds before one is made: their fidelities, controllers and settings."""

from dataclasses import asdict
from typing import Any

from sandlot.settings import describe
from sandlot.worlds import WORLDS, load, world_id
from sandlot.worlds.base import World


def describe_worlds() -> list[dict[str, Any]]:
    """Name, Gymnasium id, fidelities and purpose of every world."""
    return [_outline(name) for name in WORLDS]


def describe_world(name: str) -> dict[str, Any]:
    """The same for one world, with its controllers and settings.

    Raises:
        SandlotError: If there is no world of that name.
    """
    kind = load(name)
    return {
        **_outline(name),
        "controllers": list(kind().controllers()),
        "controller_files": kind.load_controller is not World.load_controller,
        "settings": [asdict(setting) for setting in describe(kind.Settings)],
    }


def _outline(name: str) -> dict[str, Any]:
    kind = load(name)
    return {"world": name, "id": world_id(name), "fidelities": kind.fidelities(), "about": kind.about()}
