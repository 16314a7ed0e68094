"""Pictures of the ruts that rovers leave on soil and on particles."""

import mujoco
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from pydantic import Field
from scipy.ndimage import gaussian_filter

from sandlot.physics.particles import Particles
from sandlot.places.terrains import shade
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import RoverParts, build_model, drive
from sandlot.settings import Settings
from sandlot.studies.base import Picture
from sandlot.studies.plots import COLOURS
from sandlot.studies.terrain.ride import Ride, waves
from sandlot.studies.terrain.shared import ROVERS
from sandlot.typing import Array

SAND = LinearSegmentedColormap.from_list("sand", ["#3b2a1c", "#a67c52", "#e8cfa6", "#fff6e3"])
SOIL_SPACING, PIXEL = 0.005, 0.002
"""Grid spacing of the soil, and size of a pixel of the picture of particles [m]."""


class SoilRuts(Settings):
    """A picture of both rovers on soft soil.

    Attributes:
        seconds: Duration of the drive [s].
        side: Of the ground [m].
    """

    seconds: float = Field(6.0, ge=0.1, le=60.0)
    side: float = Field(1.6, ge=0.6, le=5.0)

    def draw(self) -> Picture:
        """Drive each rover alone over the same ground."""
        figure = Figure(figsize=(12.0, 3.8), layout="constrained")
        panels = figure.subplots(1, 2)
        ground, half = waves(0.04, self.side, SOIL_SPACING), 0.5 * self.side
        for axes, name in zip(panels, ROVERS, strict=True):
            start = (-half + 0.35, -0.1, 0.0)
            ride = Ride(name, "soft", heights=ground, spacing=SOIL_SPACING, pose=start)
            ride.wait(0.5)
            for k in range(round(10 * self.seconds)):
                ride.go(0.2, 0.9 * np.cos(2.0 * np.pi * k / 60.0), 0.1)
            draw_ground(axes, ride.soil.surface(), SOIL_SPACING, (-half, half, -half, half))
            draw_rover(axes, ride.data, ride.parts)
            axes.set(title=f"{name}, after {self.seconds:g} s", ylim=(-0.4, 0.4))
        return Picture("Rovers on soft soil from above, lit from the upper left: ruts between banks.", figure)


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
    radius: float = Field(0.006, gt=0.0, le=0.05)
    friction: float = Field(0.35, ge=0.0)
    load: float = Field(8.0, ge=0.0, le=20.0)
    seconds: float = Field(1.6, ge=0.1, le=20.0)

    def draw(self) -> Picture:
        """Drive through the bed, and compare its surface with that before."""
        length, width, depth = self.bed
        diameter = 2.0 * self.radius
        shape = (round(width / diameter), round(length / diameter))
        particles = Particles(np.full(shape, depth), diameter, self.radius, friction=self.friction)
        particles.settle(np.random.default_rng(0), shake=0.1, max_time=2.0)
        made = build_model([load_rover("tracked")], [[-0.5 * length + 0.15, -0.02, depth + 0.043, 0.0, 0.0, 0.0]])
        parts, data = made.rovers[0], mujoco.MjData(made.model)
        made.model.body_mass[parts.chassis] += self.load
        particles.attach(made.model, parts.ground, parts.tracks)
        pixels = (round(width / PIXEL), round(length / PIXEL))
        before = particles.surface(pixels)
        particles.step(data, 300)
        drive(made, data, [[0.2, 0.35]])
        particles.step(data, round(1000 * self.seconds))
        after = particles.surface(pixels)

        figure = Figure(figsize=(11.0, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        extent = (-0.5 * length, 0.5 * length, -0.5 * width, 0.5 * width)
        # Without smoothing over about a particle, single particles would hide the ruts.
        smooth = self.radius / PIXEL
        draw_ground(left, gaussian_filter(after, smooth), PIXEL, extent)
        left.set_title(f"{len(particles.position):,} particles, lit from the upper left")
        change = 1000 * gaussian_filter(after - before, smooth)
        limit = max(float(np.quantile(np.abs(change), 0.995)), 1.0)
        image = right.imshow(change, extent=extent, origin="lower", cmap="BrBG", vmin=-limit, vmax=limit)
        figure.colorbar(image, ax=right, label="change of height [mm]", shrink=0.62)
        right.set(title="change of the surface", xlabel="x [m]", ylabel="y [m]", aspect="equal")
        for axes in (left, right):
            draw_rover(axes, data, parts)
        return Picture(
            f"A tracked rover with a load of {self.load:g} kg has driven from the left through a bed of particles of "
            f"{1000 * diameter:g} mm diameter with a friction coefficient of {self.friction:g}: ruts between banks. "
            "Surfaces are smoothed over a particle. With 3 kg and a friction coefficient of 0.5, no rut was visible.",
            figure,
        )


def draw_ground(axes: Axes, heights: Array, spacing: float, extent: tuple[float, float, float, float]) -> None:
    """Draw a shaded height map; ``extent`` is min x, max x, min y and max y [m]."""
    bright = shade(heights, spacing)
    axes.imshow(bright, extent=extent, origin="lower", cmap=SAND, vmin=0.1, vmax=1.0, interpolation="bilinear")
    axes.set(xlabel="x [m]", ylabel="y [m]", xlim=extent[:2], ylim=extent[2:], aspect="equal")


def draw_rover(axes: Axes, data: mujoco.MjData, parts: RoverParts) -> None:
    """Draw the outline of a rover from above: its body, its wheels or tracks, and a mark at its front."""
    position = data.qpos[parts.qpos : parts.qpos + 2]
    rotation = data.xmat[parts.chassis].reshape(3, 3)[:2, :2]

    def outline(x: float, y: float, half_length: float, half_width: float, **style: object) -> None:
        corners = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]]) * (half_length, half_width) + (x, y)
        axes.add_patch(Polygon(corners @ rotation.T + position, closed=True, linewidth=1.2, zorder=3, **style))

    side = 0.5 * parts.base
    for y in (side, -side):
        if parts.tracks:
            outline(0.0, y, 0.125, 0.018, facecolor="none", edgecolor=COLOURS[0])
        else:
            for x in (0.095, -0.095):
                outline(x, y, parts.radius, 0.018, facecolor="none", edgecolor=COLOURS[0])
    outline(0.0, 0.0, 0.084, 0.0445, facecolor=(*([1.0] * 3), 0.25), edgecolor=COLOURS[0])
    outline(0.07, 0.0, 0.006, 0.03, facecolor=COLOURS[1], edgecolor=COLOURS[1])
