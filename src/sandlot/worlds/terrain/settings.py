"""Settings of the terrain world."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from sandlot.errors import SandlotError
from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.physics.soil.files import SUFFIX, load_soil
from sandlot.places.terrains import TERRAINS, from_image, hills
from sandlot.robots.rover import RoverName
from sandlot.schema import MODEL
from sandlot.sensing.encoders import Encoders
from sandlot.sensing.imu import Imu
from sandlot.settings import Named, Settings, build
from sandlot.typing import Array
from sandlot.worlds.settings import WorldSettings

Nodes = Annotated[int, Field(ge=8, le=8192)]


class GroundKind(NamedTuple):
    """A kind of ground.

    Attributes:
        shape: (ny, nx) default number of nodes.
        no_wrap: Why it cannot continue at the opposite edge; empty if it can.
    """

    shape: tuple[int, int] = (600, 600)
    no_wrap: str = ""


GROUNDS = {
    "soil": GroundKind(),
    "rigid": GroundKind(),
    "particles": GroundKind((150, 150), "particles, which lie in a container"),
}
"""Default map sizes are the source's largest, 72 of its units, and its smallest, 18; 12 of them are 1 m."""


class ParticleSettings(Settings):
    """Material of ground made of particles.

    Attributes:
        radius: Of a particle [m]; the source's 0.15 units.
        density: Of a particle [kg/m^3].
        friction: Coefficient, between particles and with everything else.
        rolling: Rolling friction, as a share of the sliding friction: torque over radius.
        inertia: Moment of inertia over mass and squared radius: 0.4 is a solid sphere; the source says 1.
        depth: Thickness of the ground at its lowest point [m].
        settle: Whether the stacks of particles are shaken into loose ground before the start. This takes about ten
            seconds for a map of the default size, once for each terrain. The source does not do it, but stacks are a
            crystal and topple in rows where a rover drives.
        packing: Seed of the shaking. Another one puts the particles in other places on the same terrain.
    """

    radius: float = Field(0.0125, ge=1e-3, le=1.0)
    density: float = Field(1600.0, gt=0.0)
    friction: float = Field(0.5, ge=0.0)
    rolling: float = Field(0.09, ge=0.0)
    inertia: float = Field(0.4, gt=0.0)
    depth: float = Field(0.1, ge=0.0)
    settle: bool = True
    packing: int = Field(0, ge=0)


class TerrainSettings(WorldSettings):
    """Settings of the terrain world.

    Attributes:
        fidelity: ``reference``: MuJoCo with a soil or particle model; ``learned``: nets move the rovers, and their
            footprints change the ground.
        ground: ``soil``, which yields; ``particles``, many small spheres; or ``rigid``.
        soil: For ``soil``: a preset (``soft``, ``mid``, ``LETE sand``, ``rigid``), a table of its parameters, or the
            path of a ``.toml`` file with them, as ``sandlot fit soil`` writes it.
        particles: For ``particles``: their material.
        task: ``drive`` forward, or reach a ``goal``.
        goal: x and y to reach [m], of every rover; random at each reset if not given.
        goal_distance: So near to the goal a rover has reached it [m].
        goal_range: A random goal is at most this far from the start, and at least half as far, if there is room [m].
        terrain: ``A``, wide gentle hills, or ``B``, short rough bumps, which are always the same unless ``redraw`` is
            set; ``hills``, random at each reset; ``flat``; or the path of a grayscale image, 8 or 16 bit, one node for
            each pixel.
        redraw: Whether every reset draws another ``A`` or ``B``, of the same kind of hills.
        relief: Height of the highest point above the lowest for ``hills``, and of white above black in an image [m].
        hill_size: Typical radius of a hill, for ``hills`` [m].
        roughness: For ``hills``: from 0, rounded, to 1, detail at every scale.
        shape: (ny, nx) nodes; an image has its own. If left out, 600 x 600, and 150 x 150 for particles.
        spacing: Of nodes [m].
        wrap: Whether the ground continues at the opposite edge. If left out, it does, except for images and particles.
        rovers: Each ``wheeled``, ``tracked``, or the path of a TOML file; one alone needs no list.
        poses: x [m], y [m] and yaw [rad] where each rover starts; side by side in the middle if left out.
        interval: Between frames [s].
        frame_skip: Frames with one action.
        step: Of the physics [s].
        motion_model: For ``learned``: how all rovers move, as ``sandlot fit motion`` writes it. If left out, the model
            of each shipped rover on soil.
        ground_model: For ``learned``: how rovers change the ground, as ``sandlot fit ground`` writes it. If left out, a
            model of soil.
        imu: Inertial measurement units of the rovers.
        encoders: Wheel encoders of the rovers.
        patch: Points along each side of the square of heights around a rover that it observes; none if 0.
        patch_stride: Distance between these points, in nodes.
        patch_ahead: How far ahead of the rover the middle of the square is [m].
        window: Nodes along each side of the square around a rover whose height changes are recorded; 0 for a recording
            of the motion without them, which is smaller and quicker.
        map_every: A recording keeps the whole map every this many frames.
    """

    fidelity: Literal["reference", "learned"] = "reference"
    ground: Literal["soil", "particles", "rigid"] = "soil"
    soil: Annotated[str | SoilKind, Named("soil", tuple(PRESETS), SUFFIX)] = "mid"
    particles: ParticleSettings = ParticleSettings()
    task: Literal["drive", "goal"] = "drive"
    goal: tuple[float, float] | None = None
    goal_distance: float = Field(0.2, gt=0.0)
    goal_range: float = Field(2.0, gt=0.0, le=1000.0)
    terrain: Annotated[Literal["A", "B", "hills", "flat"] | Path, Named("terrain", (*TERRAINS, "hills", "flat"))] = "A"
    redraw: bool = False
    relief: float = Field(0.3, ge=0.0, le=8.0)
    hill_size: float = Field(0.3, gt=0.0)
    roughness: float = Field(0.0, ge=0.0, le=1.0)
    shape: tuple[Nodes, Nodes] | None = None
    spacing: float = Field(0.01, gt=0.0)
    wrap: bool | None = None
    rovers: Annotated[tuple[RoverName, ...], Field(min_length=1)] = ("wheeled",)
    poses: tuple[tuple[float, float, float], ...] | None = None
    interval: float = Field(0.01, ge=1e-5, le=1.0)
    frame_skip: int = Field(1, ge=1, le=100)
    step: float = Field(0.001, ge=1e-5, le=0.1)
    motion_model: Path | None = Field(None, json_schema_extra={MODEL: True})
    ground_model: Path | None = Field(None, json_schema_extra={MODEL: True})
    imu: Imu = Imu()
    encoders: Encoders = Encoders()
    patch: int = Field(0, ge=0, le=512)
    patch_stride: float = Field(1.0, gt=0.0, le=1000.0)
    patch_ahead: float = Field(0.0, ge=-100.0, le=100.0)
    window: int = Field(128, ge=0, le=4096)
    map_every: int = Field(1000, ge=1)

    @field_validator("rovers", mode="before")
    @classmethod
    def _one_rover(cls, rovers: Any) -> Any:
        return (rovers,) if isinstance(rovers, str) else rovers

    @field_validator("soil", mode="before")
    @classmethod
    def _explained_soil(cls, soil: Any) -> Any:
        # Built by itself, so that the message names the wrong key of a table. A file is read here, so that recordings
        # hold its parameters.
        try:
            if isinstance(soil, str) and soil.endswith(SUFFIX):
                return load_soil(Path(soil))
            return build(SoilKind, soil) if isinstance(soil, Mapping) else soil
        except SandlotError as error:
            raise ValueError(str(error)) from None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.wrap and self._ground_kind.no_wrap:
            raise ValueError(f"wrap=True is not possible with {self._ground_kind.no_wrap}; leave it out")
        if self.poses is not None and len(self.poses) != len(self.rovers):
            raise ValueError(f"poses has {len(self.poses)} for {len(self.rovers)} rovers; allowed: one for each")
        if abs(self.interval / self.step - self.steps) > 1e-6 or self.steps < 1:
            raise ValueError(f"interval={self.interval:g} is not a whole number of steps of {self.step:g}")
        if self.goal is not None and self.task != "goal":
            raise ValueError(f"goal is only for task=goal, not {self.task}; leave it out")
        if not self.patch and (self.patch_stride != 1.0 or self.patch_ahead):
            raise ValueError("patch_stride and patch_ahead need a patch; allowed: patch of at least 1")
        fixed = TERRAINS.get(str(self.terrain))
        if self.redraw and fixed is None:
            raise ValueError(f"redraw is only for the terrains {' and '.join(TERRAINS)}, not {self.terrain}")
        size = fixed.hill_size if fixed else self.hill_size if self.terrain == "hills" else 0.0
        across = self.spacing * max(self.shape or self._ground_kind.shape)
        # The spectrum of longer waves is rounded away, which leaves noise.
        if size > across:
            raise ValueError(
                f"hills with a radius of {size:g} m are larger than the map, which is {across:g} m along its longer "
                "side; allowed: smaller ones, or a larger shape or spacing"
            )
        return self

    @property
    def _ground_kind(self) -> GroundKind:
        return GROUNDS[self.ground]

    @property
    def steps(self) -> int:
        """Of the physics, in each frame."""
        return round(self.interval / self.step)

    @property
    def wraps(self) -> bool:
        """Whether the ground continues at the opposite edge."""
        if self.wrap is None:
            return not self._ground_kind.no_wrap and not isinstance(self.terrain, Path)
        return self.wrap

    @property
    def random(self) -> bool:
        """Whether every reset draws a new terrain."""
        return self.redraw or self.terrain == "hills"

    def heights(self, rng: np.random.Generator) -> Array:
        """Make the map: (ny, nx) [m].

        Raises:
            PlaceError: If the image cannot be read, or its edges do not fit together though the ground wraps.
        """
        shape = self.shape or self._ground_kind.shape
        if isinstance(self.terrain, Path):
            return from_image(self.terrain, self.relief, tileable=self.wraps)
        if self.terrain == "flat":
            return np.zeros(shape)
        if self.terrain == "hills":
            return hills(shape, rng, self.hill_size / self.spacing, self.relief, self.roughness, self.wraps)
        return TERRAINS[self.terrain].heights(shape, self.spacing, rng if self.redraw else None)
