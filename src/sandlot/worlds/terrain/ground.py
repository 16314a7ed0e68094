"""The ground of the terrain world: soil, particles or rigid, behind one face."""

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from sandlot.physics.particles import Particles
from sandlot.physics.soil import Soil
from sandlot.robots.rover_model import RoverModel
from sandlot.typing import Array
from sandlot.worlds.terrain.settings import TerrainSettings


class TerrainGround:
    """Ground under rovers.

    Attributes:
        corner: (2,) x and y of the first node [m].
        spacing: Of nodes [m].
        wrap: Whether it goes on at the other edge.
    """

    def __init__(self, settings: TerrainSettings, rovers: RoverModel) -> None:
        """Get ready; `restart` puts the ground there.

        Raises:
            SandlotError: If a rover has parts that cannot touch such ground.
        """
        self.settings, self._rovers = settings, rovers
        self.spacing, self.wrap = settings.spacing, settings.wraps
        self.corner = np.zeros(2)
        self._ground: Soil | Particles
        self._view: Array | None = None
        self._settled: tuple[Array, tuple[NDArray[Any], ...]] | None = None
        # A scrap of ground refuses what all of it would, but now and not at the first reset.
        if settings.ground == "particles":
            width = 2.0 * settings.particles.radius
            self._attach(self._stack(np.array([[width]]), width))
        else:
            self._attach(self._soil(np.zeros((3, 3))))

    def restart(self, heights: Array) -> None:
        """Lay new ground, which nothing has touched: (ny, nx) [m]."""
        ny, nx = self._shape = heights.shape
        self.corner = -0.5 * self.spacing * np.array([nx - 1.0, ny - 1.0])
        self._ground = self._lay_particles(heights) if self.settings.ground == "particles" else self._soil(heights)
        self._attach(self._ground)
        self._view = None

    def _attach(self, ground: Soil | Particles) -> None:
        geoms = [geom for parts in self._rovers.rovers for geom in parts.ground]
        tracks = [track for parts in self._rovers.rovers for track in parts.tracks]
        ground.attach(self._rovers.model, geoms, tracks)

    def _soil(self, heights: Array) -> Soil:
        kind = "rigid" if self.settings.ground == "rigid" else self.settings.soil
        return Soil(heights, self.spacing, kind, wrap=self.wrap)

    def _stack(self, heights: Array, spacing: float) -> Particles:
        names = ("radius", "density", "friction", "rolling", "inertia")
        return Particles(heights, spacing, **{name: getattr(self.settings.particles, name) for name in names})

    def _lay_particles(self, heights: Array) -> Particles:
        """Stacks, or the loose ground that has become of the same stacks before."""
        given = self.settings.particles
        particles = self._stack(heights + given.depth, self.spacing)
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
