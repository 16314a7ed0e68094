"""The ground of the terrain world: soil, particles or rigid, behind one face."""

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from sandlot.physics.particles import Particles
from sandlot.physics.soil import Soil
from sandlot.robots.rover_model import RoverModel
from sandlot.worlds.terrain_settings import TerrainSettings

Array = NDArray[np.float64]


class TerrainGround:
    """Ground under rovers.

    Attributes:
        corner: (2,) x and y of the first node [m].
        spacing: Of nodes [m].
        wrap: Whether it goes on at the other edge.
    """

    def __init__(self, settings: TerrainSettings, rovers: RoverModel) -> None:
        """Get ready; `restart` puts the ground there."""
        self.settings, self._rovers = settings, rovers
        self.spacing, self.wrap = settings.spacing, settings.wraps
        self.corner = np.zeros(2)
        self._ground: Soil | Particles
        self._view: Array | None = None
        self._settled: tuple[Array, tuple[NDArray[Any], ...]] | None = None

    def restart(self, heights: Array) -> None:
        """Lay new ground, which nothing has touched: (ny, nx) [m]."""
        ny, nx = self._shape = heights.shape
        self.corner = -0.5 * self.spacing * np.array([nx - 1.0, ny - 1.0])
        geoms = [geom for parts in self._rovers.rovers for geom in parts.ground]
        tracks = [track for parts in self._rovers.rovers for track in parts.tracks]
        if self.settings.ground == "particles":
            self._ground = self._lay_particles(heights)
        else:
            kind = "rigid" if self.settings.ground == "rigid" else self.settings.soil
            self._ground = Soil(heights, self.spacing, kind, wrap=self.wrap)
        self._ground.attach(self._rovers.model, geoms, tracks)
        self._view = None

    def _lay_particles(self, heights: Array) -> Particles:
        """Stacks, or the loose ground that has become of the same stacks before."""
        given = self.settings.particles
        kind = {name: getattr(given, name) for name in ("radius", "density", "friction", "rolling", "inertia")}
        particles = Particles(heights + given.depth, self.spacing, **kind)
        if not given.settle:
            return particles
        if self._settled is None or not np.array_equal(self._settled[0], heights):
            # Always shaken alike, so that an episode is the same whether or not there was one before.
            particles.settle(np.random.default_rng(0))
            self._settled = heights, tuple(np.copy(array) for array in particles.state)
        state: tuple[NDArray[Any], ...] = particles.state
        for array, kept in zip(state, self._settled[1], strict=True):
            array[...] = kept
        return particles

    def step(self, data: mujoco.MjData, steps: int) -> None:
        """Make steps of the simulation."""
        self._view = None
        self._ground.step(data, steps)

    @property
    def heights(self) -> Array:
        """Of the surface: (ny, nx) [m]. Not a copy: it changes with the next step."""
        if self._view is None:
            if isinstance(self._ground, Particles):
                self._view = self._ground.heights(self._shape)
            else:
                self._view = self._ground.surface
        return self._view
