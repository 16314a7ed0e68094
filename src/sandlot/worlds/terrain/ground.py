"""Ground under rovers in MuJoCo: soil, rigid ground, or particles."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from sandlot.physics.attachment import Track
from sandlot.physics.particles import Particles
from sandlot.physics.soil import Soil, SoilKind
from sandlot.robots.rover_model import RoverModel
from sandlot.robots.rover_state import RoverState
from sandlot.typing import Array
from sandlot.worlds.terrain.grid import Grid
from sandlot.worlds.terrain.settings import TerrainSettings


class Layer(Protocol):
    """Ground that exchanges forces with the bodies of a MuJoCo model: `Soil` and `Particles`."""

    def attach(self, model: mujoco.MjModel, geoms: Sequence[str | int] | None, tracks: Sequence[Track]) -> Any:
        """Choose the geoms and tracks that touch the ground."""

    def step(self, data: mujoco.MjData, steps: int) -> None:
        """Step the bodies and the ground together."""

    def surface(self) -> Array:
        """Heights of the surface at the nodes: (ny, nx) [m]."""


class MujocoGround(ABC):
    """A `Ground` that moves together with the bodies of a MuJoCo model."""

    def __init__(self, settings: TerrainSettings, grid: Grid) -> None:
        """Prepare the ground; `attach` and then `restart` come before the first step."""
        self.settings, self.grid = settings, grid
        self.initial, self.grain = np.zeros(grid.shape), 0.0
        self._heights: Array | None = None
        self._layer: Layer

    def attach(self, rovers: RoverModel) -> None:
        """Put it under rovers.

        Raises:
            SandlotError: If a rover has parts that cannot touch such ground.
        """
        self._rovers = rovers
        # A small sample refuses such parts already here, not only at the first reset.
        self._connect(self._sample())

    def _connect(self, layer: Layer) -> Layer:
        geoms = [geom for parts in self._rovers.rovers for geom in parts.ground]
        tracks = [track for parts in self._rovers.rovers for track in parts.tracks]
        layer.attach(self._rovers.model, geoms, tracks)
        return layer

    def restart(self, heights: Array) -> None:
        """Lay new ground that nothing has touched: (ny, nx) [m]."""
        self._layer, self._heights = self._connect(self._lay(heights)), None
        self.initial = self.heights.copy()

    def step(self, data: mujoco.MjData, steps: int) -> None:
        """Make steps of the physics, of rovers and ground together."""
        self._heights = None
        self._layer.step(data, steps)

    def change(self, before: RoverState, after: RoverState) -> None:
        """Do nothing: the ground has changed in `step`, together with the rovers."""
        return

    @property
    def heights(self) -> Array:
        """Of the surface: (ny, nx) [m]. Not a copy: it changes with the next step; read only."""
        if self._heights is None:
            self._heights = self._layer.surface()
        return self._heights

    @abstractmethod
    def _sample(self) -> Layer:
        """A small piece of such ground."""

    @abstractmethod
    def _lay(self, heights: Array) -> Layer:
        """Ground with this surface: (ny, nx) [m]."""


class SoilGround(MujocoGround):
    """Soil, which is pressed down and pushed aside."""

    @property
    def soil(self) -> Soil:
        """The soil since the last restart."""
        assert isinstance(self._layer, Soil)
        return self._layer

    def _sample(self) -> Soil:
        return self._lay(np.zeros((3, 3)))

    def _lay(self, heights: Array) -> Soil:
        return Soil(heights, self.grid.spacing, self._kind(), wrap=self.grid.wrap)

    def _kind(self) -> str | SoilKind:
        return self.settings.soil


class RigidGround(SoilGround):
    """A soil that never yields."""

    def _kind(self) -> str:
        return "rigid"


class ParticleGround(MujocoGround):
    """Many equal spheres in a container."""

    _settled: tuple[Array, dict[str, NDArray[Any]]] | None = None
    """Heights of the last terrain, and the state of its particles after they have settled."""

    def __init__(self, settings: TerrainSettings, grid: Grid) -> None:
        super().__init__(settings, grid)
        self.grain = settings.particles.radius

    def _sample(self) -> Particles:
        width = 2.0 * self.settings.particles.radius
        return self._stacks(np.array([[width]]), width)

    def _stacks(self, heights: Array, spacing: float) -> Particles:
        given = self.settings.particles
        return Particles(heights, spacing, **given.model_dump(exclude={"depth", "settle", "packing"}))

    def _lay(self, heights: Array) -> Particles:
        """Stacks of particles; settled, if the settings want that, which is done once for each terrain."""
        particles = self._stacks(heights + self.settings.particles.depth, self.grid.spacing)
        if not self.settings.particles.settle:
            return particles
        if self._settled is None or not np.array_equal(self._settled[0], heights):
            # Always the same shaking, so that an episode does not depend on the ones before it.
            particles.settle(np.random.default_rng(self.settings.particles.packing))
            self._settled = heights, particles.snapshot()
        particles.restore(self._settled[1])
        return particles
