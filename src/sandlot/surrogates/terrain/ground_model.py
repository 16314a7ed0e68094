"""A fitted model of how a rover changes the ground: where the soil goes that its feet displace."""

import math
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import Field

from sandlot.errors import ModelError, SandlotError
from sandlot.models.card import Card
from sandlot.models.store import load, save
from sandlot.physics.soil import SoilKind
from sandlot.settings import Settings, build
from sandlot.typing import Array


class GroundModel(Settings):
    """Where displaced soil goes; see `sandlot.surrogates.terrain.imprint.Spreading`.

    Attributes:
        ahead: Share that rises ahead of and behind a moving foot, beside that at its sides.
        slow: Feet slower than about this displace soil equally in all directions [m/s].
        shelter: A foot goes on touching a node as long as it is no higher above it than this [m].
        repose: Tangent of the angle of repose, for ground that is not soil.
        repose_share: The same for soil, as a share of that of its kind.
    """

    ahead: float = Field(0.01, ge=0.0, le=1.0)
    slow: float = Field(0.02, gt=0.0)
    shelter: float = Field(0.001, ge=0.0)
    repose: float = Field(0.6, gt=0.0)
    repose_share: float = Field(1.0, gt=0.0)

    def spreading(self, kind: SoilKind | None) -> Array:
        """For kernels: (4,)."""
        if kind is None:
            return np.array([self.ahead, self.slow, self.shelter, self.repose])
        angle = kind.friction if kind.repose is None else kind.repose
        return np.array([self.ahead, self.slow, self.shelter, self.repose_share * math.tan(math.radians(angle))])

    def save(self, path: Path, card: Card) -> None:
        """Write it to a new ``.toml`` file.

        Raises:
            ModelError: If it exists, or cannot be written.
        """
        save(path, card.model_copy(update={"kind": "ground", "settings": self.model_dump()}))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read it.

        Raises:
            ModelError: If it cannot be read, or is not a model of ground.
        """
        card = load(path, "ground").card
        try:
            return build(cls, card.settings)
        except SandlotError as error:
            raise ModelError(f"{path}: {error}") from None
