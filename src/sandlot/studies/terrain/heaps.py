"""Angle of repose of heaps: of particles by their friction, of soil by its own angle."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.physics.particles.particles import HEADROOM, Particles
from sandlot.physics.particles.state import new_state
from sandlot.physics.soil import PRESETS, Soil
from sandlot.places.terrains import heap
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.terrain.shared import SOILS, PositiveValues, at_most, rows
from sandlot.typing import Array

RADIUS = 0.15
"""Of particles [m]; angles do not depend on it."""
CLIFF_SLOPE = 1.75
"""Tangent of the cliff's angle of 60 degrees."""
CONE_ANGLE = 50.0
"""Of a heap of soil before it slides [deg]."""
HALF_WIDTH, RISE = 41, 15
"""Of the ground around a heap of soil, and of its slope at the start [nodes]."""
MARKERS = {"soft": "s", "mid": "D", "LETE sand": "^"}


@study("terrain.heaps", source="angles of repose, and our own")
class Heaps(Study):
    """How steep do heaps of particles and of soil lie?

    A cliff of 60 degrees is cut into a settled bed of particles, and a cone of soil is heaped up at 50 degrees. Both
    slide until they rest. The angle is measured between a fifth and four fifths of the height.

    Attributes:
        frictions: Friction coefficients of the particles.
        length: Of the bed of particles, of which the far part is dug out [particles].
        width: [particles]
        layers: [particles]
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {"angle": Quantity("rad", "angle at which a heap comes to rest")}

    frictions: PositiveValues = (0.2, 0.35, 0.5, 0.7, 0.9)
    length: int = Field(36, ge=12, le=200)
    width: int = Field(16, ge=3, le=200)
    layers: int = Field(12, ge=4, le=200)

    def jobs(self) -> Iterator[Job]:
        """Particles of every friction coefficient, and every soil with the tangent of its angle of repose."""
        heaps = [("particles", friction) for friction in self.frictions]
        heaps += [(ground, float(np.tan(np.radians(PRESETS[ground].friction)))) for ground in SOILS]
        for index, (ground, friction) in enumerate(heaps):
            seed = np.random.SeedSequence(self.seed, spawn_key=(index,))
            yield Job(index, {"ground": ground, "friction": friction}, seed)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Let one heap slide."""
        ground, friction = str(job.parameters["ground"]), float(job.parameters["friction"])
        return {"angle": np.radians(self._cliff(friction) if ground == "particles" else _cone(ground))}

    def _cliff(self, friction: float) -> float:
        """Angle of a cliff cut into settled particles, after it slid [deg]."""
        width = 2.0 * RADIUS
        particles = Particles(np.full((self.width, self.length), self.layers * width), width, RADIUS, friction=friction)
        particles.settle(np.random.default_rng(0), max_time=6.0)
        x, _, z = particles.position.T
        low, high = particles.state.box[:2]
        # Two layers stay everywhere, so that particles come to rest on particles.
        kept = (z < 2.0 * width) | (z < CLIFF_SLOPE * (low + 0.62 * (high - low) - x))
        top = float(z.max()) + HEADROOM
        particles.state = new_state(particles.position[kept], RADIUS, particles.state.box, top)
        for _ in range(100):
            particles.fall(0.1)
            if particles.awake == 0:
                break
        # The walls support particles beside them, so only the middle half of the width is measured.
        across = 5 * self.width
        heights = particles.surface((across, 5 * self.length))[across // 4 : across - across // 4]
        profile = heights.mean(axis=0)
        return angle_of(np.linspace(low, high, len(profile)), profile)

    def figure(self, results: xr.Dataset) -> Figure:
        """Angle of heaps over the friction coefficient; for soil, over the tangent of its angle of repose."""
        figure, (axes,) = canvas()
        particles = pick(results, ground="particles").sortby("friction")
        axes.plot(particles["friction"], np.degrees(particles["angle"]), "o-", color=COLOURS[0], label="particles")
        for ground, marker in MARKERS.items():
            soil = pick(results, ground=ground)
            label = f"{ground}, over tan(repose)"
            axes.plot(soil["friction"], np.degrees(soil["angle"]), marker, color=COLOURS[1], label=label, alpha=0.7)
        x = np.linspace(0.15, 0.95, 50)
        axes.plot(x, np.degrees(np.arctan(x)), ":", color=COLOURS[5], label="arctan(friction)")
        axes.axhspan(20.0, 40.0, color="0.95", zorder=0)
        axes.set(xlabel="friction coefficient", ylabel="angle [deg]", ylim=(5, 50))
        axes.legend(frameon=False, fontsize=8, loc="lower right")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Particles between 20 and 40 degrees, growing with friction; soil at its own angle."""
        particles = pick(results, ground="particles").sortby("friction")
        angles, frictions = np.degrees(particles["angle"].values), particles["friction"].values
        listed = "; ".join(f"{angle:.1f} at {friction:g}" for angle, friction in zip(angles, frictions, strict=True))
        errors = {
            row["ground"].item(): float(np.degrees(row["angle"])) - PRESETS[row["ground"].item()].friction
            for row in rows(results)
            if row["ground"].item() != "particles"
        }
        return [
            Claim(
                "A heap of particles lies at an angle between 20 and 40 degrees.",
                "20 to 40 deg",
                f"{angles.min():.1f} to {angles.max():.1f} deg",
                bool(np.all((angles >= 20.0) & (angles <= 40.0))),
                "a cliff of 60 degrees after it slid, from a fifth to four fifths of its height",
            ),
            Claim(
                "Its angle grows with friction.",
                "every step up",
                f"{listed} [deg]",
                bool(len(angles) > 1 and np.all(np.diff(angles) > 0.0)),
                "angle at each friction coefficient",
            ),
            Claim(
                "A heap of soil that is too steep slides to its angle of repose.",
                "within 1 deg",
                "; ".join(f"{ground}: {error:+.2f} deg" for ground, error in errors.items()),
                at_most(np.abs(list(errors.values())), 1.0),
                f"a cone of {CONE_ANGLE:g} degrees",
            ),
        ]


def _cone(ground: str) -> float:
    """Angle of a cone of soil after it slid [deg]: the mean over the four directions along the grid."""
    spacing, count, middle = 0.02, 2 * HALF_WIDTH + 1, HALF_WIDTH
    relief = np.tan(np.radians(CONE_ANGLE)) * RISE * spacing
    soil = Soil(heap((count, count), RISE, relief), spacing, ground)
    soil.settle()
    heights, distance = soil.surface(), np.linspace(0.0, middle * spacing, middle + 1)
    profiles = (
        heights[middle:, middle],
        heights[middle::-1, middle],
        heights[middle, middle:],
        heights[middle, middle::-1],
    )
    return float(np.mean([angle_of(distance, profile) for profile in profiles]))


def angle_of(distance: Array, profile: Array) -> float:
    """Angle at which a profile (n,) [m] falls over distance (n,) [m], from 80% to 20% of its height [deg]."""
    tenth = max(len(profile) // 10, 1)
    foot, top = float(profile[-tenth:].mean()), float(profile[: max(tenth // 2, 1)].mean())
    share = (profile - foot) / max(top - foot, 1e-9)
    slope = (share > 0.2) & (share < 0.8)
    if slope.sum() < 2:
        return 0.0
    return float(np.degrees(np.arctan(-np.polyfit(distance[slope], profile[slope], 1)[0])))
