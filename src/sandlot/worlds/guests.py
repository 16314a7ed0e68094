"""Makes worlds of other packages for Gymnasium, with the interface for learners if they can be asked for it."""

import inspect
from collections.abc import Callable
from typing import Any

from sandlot.worlds import load
from sandlot.worlds.base import World


def make_guest(guest_world: str, **values: Any) -> World:
    """Make a world that another package brings.

    Args:
        guest_world: Short name.
        values: What its class takes.
    """
    kind = load(guest_world)
    usual: dict[str, Any] = {"usual_interface": "normalised"} if takes_usual_interface(kind) else {}
    return kind(**usual, **values)


def takes_usual_interface(kind: Callable[..., World]) -> bool:
    """Whether what makes a world takes ``usual_interface``: by this name, or among keywords that `World` gets."""
    parameters = inspect.signature(kind).parameters
    rest = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    return "usual_interface" in parameters or (rest and isinstance(kind, type) and issubclass(kind, World))
