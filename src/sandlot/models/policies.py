"""What the card of a trained controller says about its world; read before the world, or its net, is loaded."""

from pathlib import Path
from typing import Any

from sandlot.errors import ModelError, quote
from sandlot.models.store import is_model, load_card

KIND = "policy"
"""Of its card, whose settings have ``world`` and ``world_settings``."""


def settings_for(controller: str | None, world: str) -> dict[str, Any]:
    """The settings that a world needs so that a trained controller fits it; empty for any other controller.

    Args:
        controller: Its name or path.
        world: Short name of the world.

    Raises:
        ModelError: If it was trained in another world.
    """
    if controller is None or not is_model(Path(controller)) or not Path(controller).is_dir():
        return {}
    card = load_card(Path(controller))
    if card.kind != KIND:
        return {}
    if card.settings.get("world") != world:
        raise ModelError(f"{quote(controller)} was trained in the world {card.settings.get('world')}, not in {world}")
    return dict(card.settings["world_settings"])
