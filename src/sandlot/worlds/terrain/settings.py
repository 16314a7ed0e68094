"""What can be set in the terrain world, and the height maps that come of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from sandlot.errors import SandlotError
from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.places.terrains import from_image, hills, seam
from sandlot.robots.sensors import Encoders, Imu
from sandlot.settings import Settings, build, nearest
from sandlot.typing import Array
from sandlot.worlds.base import WorldSettings

Nodes = Annotated[int, Field(ge=8, le=8192)]
SHAPES = {"soil": (600, 600), "rigid": (600, 600), "particles": (150, 150)}
"""Of maps, unless said otherwise: the source's largest, 72 of its units, and its smallest, 18; 12 of them are 1 m."""
STEEP_SEAM = 3.0
"""A map whose seam is this many times as steep as its inside does not go on at the other edge."""
TERRAINS = {"A": (1, 0.35, 0.0, 0.1), "B": (2, 0.08, 0.3, 0.15)}
"""Seed, radius of a hill [m], roughness, and the slope whose square is the mean of all squared slopes."""


class ParticleSettings(Settings):
    """What ground of particles is made of.

    Attributes:
        radius: Of a particle [m]; the source's 0.15 units.
        density: Of a particle [kg/m^3].
        friction: Coefficient, between particles and with all else.
        rolling: How much of the friction is felt when rolling, as torque over radius.
        inertia: Moment of inertia over mass and squared radius: 0.4 is a solid sphere; the source says 1.
        depth: How thick the ground is where it is lowest [m].
        settle: Whether the stacks are shaken until they are loose ground, which takes some ten seconds for a map of the
            usual size, but only once for each terrain. The source does not; but stacks are a crystal, and fall like
            dominoes where a rover drives.
    """

    radius: float = Field(0.0125, gt=0.0)
    density: float = Field(1600.0, gt=0.0)
    friction: float = Field(0.5, ge=0.0)
    rolling: float = Field(0.09, ge=0.0)
    inertia: float = Field(0.4, gt=0.0)
    depth: float = Field(0.1, ge=0.0)
    settle: bool = True


class TerrainSettings(WorldSettings):
    """What can be set in the terrain world.

    Attributes:
        fidelity: Only ``reference``.
        ground: ``soil``, which gives way; ``particles``, many small spheres; or ``rigid``.
        soil: Name of a preset (``soft``, ``mid``, ``LETE sand``, ``rigid``), or a table of what it is made of; for
            ``soil``.
        particles: What they are like; for ``particles``.
        terrain: ``A``, wide gentle hills; ``B``, short rough bumps; both are always the same. ``hills``, drawn anew at
            each reset; ``flat``; or the path of a grayscale image, 8 or 16 bit, a node for each pixel.
        relief: Height of the highest point above the lowest, of hills, and of white above black in an image [m].
        hill_size: Typical radius of a hill, of hills [m].
        roughness: Of hills: from 0, rounded, to 1, detail at every scale.
        shape: (ny, nx) nodes; an image brings its own. 600 x 600 if left out, 150 x 150 for particles.
        spacing: Of nodes [m].
        wrap: Whether the ground goes on at the other edge. If left out, it does, except for images and particles.
        rovers: Each ``wheeled``, ``tracked``, or the path of a TOML file; one alone needs no list.
        poses: x [m], y [m] and yaw [rad] where each of them starts; side by side in the middle if left out.
        interval: Between frames [s].
        step: Of the physics [s].
        imu: What measures how the rovers move; its ``interval`` is that of the world.
        encoders: What measures how fast their wheels turn.
        patch: Nodes along each side of a square of heights around a rover that it observes; none if 0.
        window: Nodes along each side of the square around a rover whose changes are recorded.
        map_every: Frames from one recorded map of the whole ground to the next.
    """

    fidelity: Literal["reference"] = "reference"
    ground: Literal["soil", "particles", "rigid"] = "soil"
    soil: str | SoilKind = "mid"
    particles: ParticleSettings = ParticleSettings()
    terrain: Literal["A", "B", "hills", "flat"] | Path = "A"
    relief: float = Field(0.3, ge=0.0, le=8.0)
    hill_size: float = Field(0.3, gt=0.0)
    roughness: float = Field(0.0, ge=0.0, le=1.0)
    shape: tuple[Nodes, Nodes] | None = None
    spacing: float = Field(0.01, gt=0.0)
    wrap: bool | None = None
    rovers: Annotated[tuple[str, ...], Field(min_length=1)] = ("wheeled",)
    poses: tuple[tuple[float, float, float], ...] | None = None
    interval: float = Field(0.01, gt=0.0, le=1.0)
    step: float = Field(0.001, gt=0.0, le=0.1)
    imu: Imu = Imu()
    encoders: Encoders = Encoders()
    patch: int = Field(0, ge=0, le=512)
    window: int = Field(128, ge=1, le=4096)
    map_every: int = Field(1000, ge=1)

    @field_validator("rovers", mode="before")
    @classmethod
    def _one_rover(cls, rovers: Any) -> Any:
        return (rovers,) if isinstance(rovers, str) else rovers

    @field_validator("soil", mode="before")
    @classmethod
    def _explained_soil(cls, soil: Any) -> Any:
        # Of a table, the key that is wrong should be named.
        try:
            return build(SoilKind, soil) if isinstance(soil, Mapping) else soil
        except SandlotError as error:
            raise ValueError(str(error)) from None

    @field_validator("soil")
    @classmethod
    def _known_soil(cls, soil: str | SoilKind) -> str | SoilKind:
        if isinstance(soil, str) and soil not in PRESETS:
            raise ValueError(f"no such soil; {nearest(soil, list(PRESETS))}")
        return soil

    @field_validator("terrain")
    @classmethod
    def _known_terrain(cls, terrain: str | Path) -> str | Path:
        # A word without a suffix is meant to be a kind of terrain, rather than an image.
        if isinstance(terrain, Path) and not terrain.suffix and not terrain.exists():
            raise ValueError(f"no such terrain, and no image; {nearest(str(terrain), [*TERRAINS, 'hills', 'flat'])}")
        return terrain

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.wrap and self.ground == "particles":
            raise ValueError("wrap=True is not possible with particles, which lie in a container; leave it out")
        if self.poses is not None and len(self.poses) != len(self.rovers):
            raise ValueError(f"poses has {len(self.poses)} for {len(self.rovers)} rovers; allowed: one for each")
        if abs(self.interval / self.step - self.steps) > 1e-6 or self.steps < 1:
            raise ValueError(f"interval={self.interval:g} is not a whole number of steps of {self.step:g}")
        size = TERRAINS[self.terrain][1] if self.terrain in TERRAINS else self.hill_size if self.drawn else 0.0
        across = self.spacing * max(self.shape or SHAPES[self.ground])
        # Of longer waves, rounding leaves nothing.
        if size > across:
            raise ValueError(
                f"hills with a radius of {size:g} m are larger than the map, which is {across:g} m along its longer "
                "side; allowed: smaller ones, or a larger shape or spacing"
            )
        return self

    @property
    def steps(self) -> int:
        """Of the physics, from frame to frame."""
        return round(self.interval / self.step)

    @property
    def wraps(self) -> bool:
        """Whether the ground goes on at the other edge."""
        if self.wrap is None:
            return self.ground != "particles" and not isinstance(self.terrain, Path)
        return self.wrap

    @property
    def drawn(self) -> bool:
        """Whether every reset has a terrain of its own."""
        return self.terrain == "hills"

    def heights(self, rng: np.random.Generator) -> Array:
        """Make the map: (ny, nx) [m].

        Raises:
            SandlotError: If the image cannot be read, or its edges do not fit together though the ground goes on there.
        """
        shape = self.shape or SHAPES[self.ground]
        if isinstance(self.terrain, Path):
            field = from_image(self.terrain, self.relief)
            steep = seam(field) if self.wraps else 0.0
            if steep > STEEP_SEAM:
                raise SandlotError(
                    f"wrap=True is not possible: where the edges of {self.terrain} would meet, it is {steep:.0f} times "
                    f"as steep as inside; allowed: {STEEP_SEAM:g}"
                )
            return field
        if self.terrain == "flat":
            return np.zeros(shape)
        if self.terrain == "hills":
            return hills(shape, rng, self.hill_size / self.spacing, self.relief, self.roughness, self.wraps)
        seed, size, roughness, slope = TERRAINS[self.terrain]
        field = hills(shape, np.random.default_rng(seed), size / self.spacing, 1.0, roughness, tileable=True)
        slopes = [(np.roll(field, -1, axis) - field) / self.spacing for axis in (0, 1)]
        return field * (slope / np.sqrt(np.mean(slopes[0] ** 2 + slopes[1] ** 2)))
