"""A picture of the ruts that a rover leaves in particles."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from pydantic import Field
from scipy.ndimage import gaussian_filter

from sandlot.control.controller import as_controller
from sandlot.settings import Settings
from sandlot.studies.base import Picture
from sandlot.studies.plots import show
from sandlot.worlds.rollout import rollout
from sandlot.worlds.terrain.world import Terrain

PIXEL = 0.002
"""Size of a pixel of the ground [m]."""


class ParticleRuts(Settings):
    """A picture of a loaded tracked rover in a bed of particles.

    Attributes:
        bed: Length, width and depth of the bed [m].
        radius: Of the particles [m].
        friction: Friction coefficient of the particles.
        load: Mass that the rover carries [kg].
        seconds: Duration of the drive [s].
    """

    bed: tuple[float, float, float] = (0.66, 0.34, 0.05)
    radius: float = Field(0.006, ge=1e-3, le=0.05)
    friction: float = Field(0.35, ge=0.0)
    load: float = Field(8.0, ge=0.0, le=20.0)
    seconds: float = Field(1.6, ge=0.1, le=20.0)

    def world(self) -> Terrain:
        """The bed with the rover.

        Raises:
            SandlotError: If the bed is too small for it.
        """
        length, width, depth = self.bed
        world = Terrain(
            ground="particles",
            particles={"radius": self.radius, "friction": self.friction, "depth": depth},
            terrain="flat",
            shape=(round(width / PIXEL), round(length / PIXEL)),
            spacing=PIXEL,
            rovers=("tracked",),
            poses=((-0.5 * length + 0.15, -0.02, 0.0),),
        )
        fleet: Any = world.task.rovers
        fleet.model.model.body_mass[fleet.model.rovers[0].chassis] += self.load
        return world

    def draw(self) -> Picture:
        """Drive through the bed, and compare its surface with that before."""
        world = self.world()
        curve = as_controller(lambda _: np.array([[0.2, 0.35]]))
        for _ in rollout(world, curve, 0, round(self.seconds / world.settings.interval)):
            pass
        ground, scene = world.task.ground, world.scene()
        figure = Figure(figsize=(11.0, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        show(left, scene)
        # Without smoothing over about a particle, single particles would hide the ruts.
        change = 1000 * gaussian_filter(ground.heights - ground.initial, self.radius / PIXEL)
        limit = max(float(np.quantile(np.abs(change), 0.995)), 1.0)
        extent = np.column_stack([scene.low, scene.high]).ravel()
        image = right.imshow(change, extent=extent, origin="lower", cmap="BrBG", vmin=-limit, vmax=limit)
        figure.colorbar(image, ax=right, label="change of height [mm]", shrink=0.62)
        right.set(title="change of the surface", xlabel="x [m]", ylabel="y [m]")
        return Picture(
            f"A tracked rover with a load of {self.load:g} kg has driven from the left through a bed of particles of "
            f"{2000 * self.radius:g} mm diameter with a friction coefficient of {self.friction:g}: ruts between banks. "
            "The change of the surface is smoothed over a particle. "
            "With 3 kg and a friction coefficient of 0.5, no rut was visible.",
            figure,
        )
