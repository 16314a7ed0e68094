"""Controllers of a swimming snake as files that people can read: gaits in TOML, nets in JSON.

A file says which body it is for.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from sandlot.control.snake.gaits import Gait
from sandlot.control.snake.nets import Net, NetCard, NetController, from_card, to_card
from sandlot.errors import SandlotError
from sandlot.robots.snake import Snake
from sandlot.settings import build, read_settings
from sandlot.typing import Array


class GaitController:
    """Observation of the water world in, action out."""

    def __init__(self, gait: Gait, snake: Snake) -> None:
        """A gait, and the body that is to swim with it.

        Raises:
            SandlotError: If the gait has parameters for another number of joints.
        """
        self.gait, self.snake = gait, snake
        self._waves = gait.waves(snake.joints)

    def __call__(self, observation: Array) -> Array:
        """Where the joints should be at the next command: (joints,) [rad]."""
        amplitude, frequency, phase, veer = self._waves
        targets = amplitude * np.sin(frequency * (observation[0] + self.snake.interval) - phase) + veer
        return np.clip(targets, -self.snake.max_angle, self.snake.max_angle)


def save_controller(file: Path, controller: Gait | Net, snake: Snake) -> None:
    """Write a gait (``.toml``) or a net (``.json``) for a body.

    Raises:
        SandlotError: If the file's name ends otherwise, the controller is for another body, or nothing can be written.
    """
    if isinstance(controller, Gait):
        _check_suffix(file, ".toml", "gait")
        text = gait_text(GaitController(controller, snake).gait, snake)
    else:
        _check_suffix(file, ".json", "net")
        text = net_text(to_card(NetController(controller, snake).net))
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SandlotError(f"cannot write a controller to {file}: {error.strerror}") from None


def load_controller(file: Path, snake: Snake) -> GaitController | NetController:
    """Read what `save_controller` wrote, or a person.

    Raises:
        SandlotError: If the file cannot be read, holds no controller, or one for another body.
    """
    if file.suffix not in (".toml", ".json"):
        raise SandlotError(f"{file} is no controller: a gait ends in .toml, a net in .json")
    values = read_settings(file) if file.suffix == ".toml" else _read_json(file)
    try:
        return _gait(values, snake) if file.suffix == ".toml" else _net(values, snake)
    except SandlotError as error:
        raise SandlotError(f"{file}: {error}") from None


def _gait(values: dict[str, Any], snake: Snake) -> GaitController:
    head = {name: values.pop(name, None) for name in ("kind", "links", "joints")}
    if head["kind"] != "gait":
        raise SandlotError(f'kind={head["kind"]} is not possible; allowed: only "gait"')
    for name in ("links", "joints"):
        if head[name] is None:
            raise SandlotError(f"{name} is missing: a controller says for which body it is; allowed: a whole number")
    _check_body(head["links"], head["joints"], snake)
    return GaitController(build(Gait, values), snake)


def _net(values: Any, snake: Snake) -> NetController:
    if not isinstance(values, dict):
        raise SandlotError("a net is a table with " + ", ".join(NetCard.model_fields))
    card = build(NetCard, values)
    _check_body(card.links, card.joints, snake)
    return NetController(from_card(card), snake)


def _check_body(links: object, joints: object, snake: Snake) -> None:
    if (links, joints) != (snake.links, snake.joints):
        raise SandlotError(
            f"a controller for a body of {links} links and {joints} joints; "
            f"this body has {snake.links} links and {snake.joints} joints"
        )


def _check_suffix(file: Path, suffix: str, what: str) -> None:
    if file.suffix != suffix:
        raise SandlotError(f"a {what} is saved in a file that ends in {suffix}, not as {file.name}")


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SandlotError(f"cannot read a net from {file}: {error.strerror}") from None
    except ValueError as error:
        raise SandlotError(f"{file} is not JSON: {error}") from None


def gait_text(gait: Gait, snake: Snake) -> str:
    """TOML: numbers and lists of numbers are written there as in JSON."""
    rows = {"kind": "gait", "links": snake.links, "joints": snake.joints, **gait.model_dump(mode="json")}
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in rows.items())


def net_text(card: NetCard) -> str:
    """JSON with one line for each node and each connection."""
    rows = []
    for name, value in card.model_dump(mode="json").items():
        text = json.dumps(value)
        if name in ("nodes", "connections"):
            text = "[\n" + ",\n".join(f"    {json.dumps(each)}" for each in value) + "\n  ]"
        rows.append(f'  "{name}": {text}')
    return "{\n" + ",\n".join(rows) + "\n}\n"
