"""How steep heaps lie: particles by their friction, soil by its angle of repose."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from pydantic import Field

from sandlot.physics.particles.particles import HEADROOM, Particles
from sandlot.physics.particles.state import new_state
from sandlot.physics.soil import PRESETS, Soil
from sandlot.places.terrains import heap
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, pick
from sandlot.studies.plots import COLOURS
from sandlot.studies.terrain.trial import YIELDING, Case, Several, Trial, below, rows
from sandlot.typing import Array

RADIUS = 0.15
"""Of particles [m]; angles do not depend on it."""
STEEP = 1.75
"""Slope of the cliff that is cut: 60 degrees."""
BEGINS = 50.0
"""Angle of a heap of soil before it slides [deg]."""
ACROSS, RISE = 41, 15
"""Nodes to each side of a heap of soil, and of its slope at the start."""


class Heaps(Trial):
    """Angles of heaps that were too steep.

    Attributes:
        frictions: Of particles.
        length: Of a bed of particles, of which the farther part is dug out, in particles.
        width: In particles.
        layers: In particles.
    """

    name: ClassVar[str] = "heaps"
    outcomes: ClassVar[Mapping[str, Quantity]] = {"heaps_angle": Quantity("rad", "angle at which a heap comes to rest")}

    frictions: Several = (0.2, 0.35, 0.5, 0.7, 0.9)
    length: int = Field(36, ge=12)
    width: int = Field(16, ge=3)
    layers: int = Field(12, ge=4)

    def cases(self) -> Iterator[Case]:
        """Particles of every friction, and every soil with its angle of repose [deg]."""
        for friction in self.frictions:
            yield Case("cliff", "particles", friction)
        for ground in YIELDING:
            yield Case("cone", ground, PRESETS[ground].friction)

    def measure(self, case: Case, seed: np.random.SeedSequence) -> Mapping[str, Found]:
        """Let it slide."""
        angle = self._cliff(case.detail) if case.body == "cliff" else _cone(case.ground)
        return {"heaps_angle": np.radians(angle)}

    def _cliff(self, friction: float) -> float:
        """Angle of what is left of a cliff that is cut into settled ground [deg]."""
        width = 2.0 * RADIUS
        particles = Particles(np.full((self.width, self.length), self.layers * width), width, RADIUS, friction=friction)
        particles.settle(np.random.default_rng(0), most=6.0)
        x, _, z = particles.position.T
        low, high = particles.state.box[:2]
        # A carpet stays, on which what slides comes to rest.
        kept = (z < 2.0 * width) | (z < STEEP * (low + 0.62 * (high - low) - x))
        top = float(z.max()) + HEADROOM
        particles.state = new_state(particles.position[kept], RADIUS, particles.state.box, top)
        for _ in range(100):
            particles.fall(0.1)
            if particles.awake == 0:
                break
        # Walls hold what is beside them: only the middle half counts.
        across = 5 * self.width
        heights = particles.heights((across, 5 * self.length))[across // 4 : across - across // 4]
        profile = heights.mean(axis=0)
        return _angle(np.linspace(low, high, len(profile)), profile)

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Between 20 and 40 degrees, growing; soil at its own angle."""
        grains = pick(results, body="cliff").sortby("detail")
        angles, frictions = np.degrees(grains["heaps_angle"].values), grains["detail"].values
        told = "; ".join(f"{angle:.1f} at {friction:g}" for angle, friction in zip(angles, frictions, strict=True))
        soils = {}
        for case, row in rows(pick(results, body="cone")):
            soils[case.ground] = float(np.degrees(row["heaps_angle"])) - case.detail
        return [
            Claim(
                "A heap of particles lies at an angle between 20 and 40 degrees.",
                "20 to 40 deg",
                f"{angles.min():.1f} to {angles.max():.1f} deg",
                bool(np.all((angles >= 20.0) & (angles <= 40.0))),
                "what is left of a cliff of 60 degrees, from a fifth to four fifths of its height",
            ),
            Claim(
                "Its angle grows with friction.",
                "every step up",
                f"{told} [deg]",
                bool(len(angles) > 1 and np.all(np.diff(angles) > 0.0)),
                "angle at each coefficient of friction",
            ),
            Claim(
                "A heap of soil that is too steep slides to its angle of repose.",
                "within 1 deg",
                "; ".join(f"{ground}: {off:+.2f} deg" for ground, off in soils.items()),
                below(np.abs(list(soils.values())), 1.0),
                f"a cone of {BEGINS:g} degrees",
            ),
        ]

    def draw(self, panels: Sequence[Axes], results: xr.Dataset) -> None:
        """Angle over friction."""
        (axes,) = panels
        grains = pick(results, body="cliff").sortby("detail")
        axes.plot(grains["detail"], np.degrees(grains["heaps_angle"]), "o-", color=COLOURS[0], label="particles")
        marks = {"soft": "s", "mid": "D", "LETE sand": "^"}
        for case, row in rows(pick(results, body="cone")):
            friction = np.tan(np.radians(case.detail))
            angle, label = np.degrees(row["heaps_angle"]), f"{case.ground}, over tan(repose)"
            axes.plot(friction, angle, marks[case.ground], color=COLOURS[1], label=label, alpha=0.7)
        x = np.linspace(0.15, 0.95, 50)
        axes.plot(x, np.degrees(np.arctan(x)), ":", color=COLOURS[5], label="arctan of it")
        axes.axhspan(20.0, 40.0, color="0.95", zorder=0)
        axes.set(title="angle of heaps", xlabel="coefficient of friction", ylabel="angle [deg]", ylim=(5, 50))
        axes.legend(frameon=False, fontsize=8, loc="lower right")


def _cone(ground: str) -> float:
    """Angle of a cone of soil that has slid [deg]: the mean of four directions along the grid."""
    spacing, count = 0.02, 2 * ACROSS + 1
    relief = np.tan(np.radians(BEGINS)) * RISE * spacing
    soil = Soil(heap((count, count), RISE, relief), spacing, ground)
    soil.settle()
    heights, away = soil.heights, np.linspace(0.0, ACROSS * spacing, ACROSS + 1)
    middle = (
        heights[ACROSS:, ACROSS],
        heights[ACROSS::-1, ACROSS],
        heights[ACROSS, ACROSS:],
        heights[ACROSS, ACROSS::-1],
    )
    return float(np.mean([_angle(away, profile) for profile in middle]))


def _angle(along: Array, profile: Array) -> float:
    """Angle at which a profile falls [deg], from four fifths to a fifth of its height."""
    tenth = max(len(profile) // 10, 1)
    foot, top = float(profile[-tenth:].mean()), float(profile[: max(tenth // 2, 1)].mean())
    share = (profile - foot) / max(top - foot, 1e-9)
    slope = (share > 0.2) & (share < 0.8)
    if slope.sum() < 2:
        return 0.0
    return float(np.degrees(np.arctan(-np.polyfit(along[slope], profile[slope], 1)[0])))
