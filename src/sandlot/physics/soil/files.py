"""Soils in TOML files: a line for each parameter, and the card of a model."""

from pathlib import Path

from sandlot.errors import ModelError, SandlotError
from sandlot.models.card import Card
from sandlot.models.store import load, save
from sandlot.physics.soil.kinds import SoilKind
from sandlot.settings import build

SUFFIX = ".toml"


def save_soil(path: Path, kind: SoilKind, card: Card | None = None) -> None:
    """Write a soil to a new ``.toml`` file.

    Args:
        path: Of the file.
        kind: The soil.
        card: What it was fitted to; of a soil that a person describes, nothing.

    Raises:
        ModelError: If it exists, cannot be written, or the soil never yields.
    """
    if kind.kphi == float("inf"):
        raise ModelError(f"{path}: ground that never yields has no file; use the preset 'rigid'")
    usual = SoilKind(kphi=1.0, friction=1.0, shear=1.0, elastic=1.0).model_dump()
    values = {name: value for name, value in kind.model_dump().items() if name not in usual or value != usual[name]}
    about = card or Card(kind="soil", description="a soil")
    save(path, about.model_copy(update={"kind": "soil", "settings": values}))


def load_soil(path: Path) -> SoilKind:
    """Read a soil: ``kind = "soil"``, and a line for each parameter of `SoilKind`.

    Raises:
        ModelError: If it cannot be read, is no soil, or a parameter is impossible.
    """
    card = load(path, "soil").card
    try:
        return build(SoilKind, card.settings)
    except SandlotError as error:
        raise ModelError(f"{path}: {error}") from None
