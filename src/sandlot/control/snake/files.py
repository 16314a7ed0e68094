"""Controllers of a swimming snake as files that people can read and edit: gaits in TOML, nets in JSON.

Each is a model of `sandlot.models.store`; the number of links and joints says which body it is for.
"""

from pathlib import Path

from sandlot.control.snake.gaits import Gait, GaitController
from sandlot.control.snake.nets import Net, NetCard, NetController, from_card, to_card
from sandlot.errors import ModelError, SandlotError
from sandlot.models import store
from sandlot.models.card import Card
from sandlot.robots.snake import Snake
from sandlot.settings import build

SUFFIXES = {"gait": ".toml", "net": ".json"}


def save_controller(path: Path, controller: Gait | Net, snake: Snake, description: str = "") -> None:
    """Write a gait or a net for a body.

    Args:
        path: Must not exist yet: a file (a gait ends in ``.toml``, a net in ``.json``) or, without suffix, a directory.
        controller: To write.
        snake: The body it is for.
        description: One line for its card.

    Raises:
        ModelError: If the suffix is another, or the path exists or cannot be written.
        SandlotError: If the controller is for another body.
    """
    if isinstance(controller, Gait):
        card = gait_card(GaitController(controller, snake).gait, snake, description)
    else:
        card = net_card(to_card(NetController(controller, snake).net), description)
    if path.suffix not in ("", SUFFIXES[card.kind]):
        raise ModelError(f"a {card.kind} is saved in a file that ends in {SUFFIXES[card.kind]}, not as {path.name}")
    store.save(path, card)


def load_controller(path: Path, snake: Snake) -> GaitController | NetController:
    """Read what `save_controller` or a person wrote.

    Raises:
        ModelError: If it cannot be read, is not a controller, or is for another body.
    """
    card = store.load(path).card
    try:
        if card.kind not in SUFFIXES:
            raise ModelError(f"kind={card.kind} is not possible for a snake; allowed: {', '.join(SUFFIXES)}")
        body = {name: card.settings.get(name) for name in ("links", "joints")}
        for name, count in body.items():
            if count is None:
                raise ModelError(f"{name} is missing: a controller says which body it is for; allowed: a whole number")
        if body != {"links": snake.links, "joints": snake.joints}:
            raise ModelError(
                f"the controller is for a body of {body['links']} links and {body['joints']} joints; "
                f"this body has {snake.links} links and {snake.joints} joints"
            )
        if card.kind == "net":
            return NetController(from_card(build(NetCard, {"kind": "net", **card.settings})), snake)
        parameters = {name: value for name, value in card.settings.items() if name not in body}
        return GaitController(build(Gait, parameters), snake)
    except SandlotError as error:
        raise ModelError(f"{path}: {error}") from None


def gait_card(gait: Gait, snake: Snake, description: str = "") -> Card:
    """A gait as a model."""
    body = {"links": snake.links, "joints": snake.joints}
    return Card(kind="gait", description=description, settings=body | gait.model_dump(mode="json"))


def net_card(net: NetCard, description: str = "") -> Card:
    """A net as a model."""
    return Card(kind="net", description=description, settings=net.model_dump(mode="json", exclude={"kind"}))


def gait_text(gait: Gait, snake: Snake) -> str:
    """The TOML file of a gait."""
    return store.text(gait_card(gait, snake), ".toml")


def net_text(net: NetCard) -> str:
    """The JSON file of a net; without the version of Sandlot, since studies keep it among their results."""
    return store.text(net_card(net).model_copy(update={"sandlot_version": ""}), ".json")
