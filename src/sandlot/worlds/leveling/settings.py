"""Settings of the leveling world."""

from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from sandlot.physics.swarm import CEILING
from sandlot.places.terrains import from_image, heap, hills
from sandlot.settings import Named
from sandlot.worlds.settings import WorldSettings

MAX_SIDE = 16384
"""Maximum number of cells along a side."""

Cells = Annotated[int, Field(ge=1, le=MAX_SIDE)]


class LevelingSettings(WorldSettings):
    """Settings of the leveling world.

    Attributes:
        fidelity: Only ``fast``: the source's model is the grid itself.
        terrain: ``hills``, ``heap``, or the path of a grayscale image.
        shape: (ny, nx) of hills and heap [cell]; an image has its own.
        hill_size: Typical radius of a hill, or radius of the heap [cell].
        relief: Height of the highest cell above the lowest [unit].
        roughness: From 0, rounded hills, to 1, detail at every scale.
        agents: Number of agents.
        sensing: Probability that an agent stores the height of the cell it has entered. It must be low, so that the
            eight heights it remembers come from all over the terrain and not from one hill.
        flatness: Criterion of a flat terrain: ``range``, highest and lowest cell differ by at most one unit, or
            ``gradient``, no gradient (by forward differences) exceeds ``slope``.
        slope: Maximum gradient of flat ground [unit/cell], for ``flatness="gradient"``.
    """

    fidelity: Literal["fast"] = "fast"
    terrain: Annotated[Literal["hills", "heap"] | Path, Named("terrain", ("hills", "heap"))] = "hills"
    shape: tuple[Cells, Cells] = (32, 32)
    hill_size: float = Field(8.0, gt=0.0)
    relief: int = Field(12, ge=0, le=CEILING)
    roughness: float = Field(0.0, ge=0.0, le=1.0)
    agents: int = Field(8, ge=1, le=MAX_SIDE**2)
    sensing: float = Field(0.01, ge=0.0, le=1.0)
    flatness: Literal["range", "gradient"] = "range"
    slope: float = Field(1.0, ge=0.0)

    @model_validator(mode="after")
    def _agents_fit(self) -> Self:
        cells = self.shape[0] * self.shape[1]
        if not isinstance(self.terrain, Path) and self.agents > cells:
            raise ValueError(f"agents={self.agents} on {cells} cells; allowed are 1 to {cells}")
        return self

    def heights(self, rng: np.random.Generator) -> NDArray[np.int16]:
        """Make the terrain: (ny, nx) [unit]."""
        if isinstance(self.terrain, Path):
            field = from_image(self.terrain, self.relief)
        elif self.terrain == "heap":
            field = heap(self.shape, self.hill_size, self.relief)
        else:
            field = hills(self.shape, rng, self.hill_size, self.relief, self.roughness)
        return np.rint(field).astype(np.int16)
