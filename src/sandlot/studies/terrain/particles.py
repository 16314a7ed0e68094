"""Particles stay in their container while rovers drive over them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

import mujoco
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.physics.particles import Particles
from sandlot.recordings import Quantity
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import build_model, drive
from sandlot.studies.base import Claim, Found, Job, Picture, Study, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.terrain.pictures import ParticleRuts
from sandlot.studies.terrain.ride import COMMAND_STEPS, random_commands
from sandlot.studies.terrain.shared import ROVERS, rows

BED, RADIUS = (0.7, 0.4, 0.04), 0.01
"""Length, width and depth of the bed, and radius of its particles [m]."""
FIRST_SEED = 42
"""Random drives are those of spawn keys from here on: published results depend on them."""


@study("terrain.particles", source="conservation of mass, and our own")
class Containment(Study):
    """Do particles stay in their container while rovers drive over them?

    Both rovers drive at random in a bed of particles, and reverse near its walls. After every command all particles
    must be between the walls and above the floor.

    Attributes:
        steps: Of a drive, 1 ms each.
        picture: What the picture of ruts shows.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "count": Quantity("1", "particles at the start"),
        "lost": Quantity("1", "particles missing or outside the walls after a command", ("command",), (0,)),
        "lowest": Quantity("1", "height of the lowest particle centre after a command, in radii", ("command",), (0,)),
    }

    steps: int = Field(10_000, ge=1, le=10_000_000)
    picture: ParticleRuts = ParticleRuts()

    def check(self) -> None:
        """Refuse a picture of a bed that is too small for the rover."""
        self.picture.world()

    def jobs(self) -> Iterator[Job]:
        """Both rovers."""
        for job in self.cross(rover=ROVERS):
            yield replace(job, seed=np.random.SeedSequence(self.seed, spawn_key=(FIRST_SEED + job.index,)))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Drive at random in a bed of particles, and reverse near its walls."""
        shape = (round(BED[1] / (2.0 * RADIUS)), round(BED[0] / (2.0 * RADIUS)))
        particles = Particles(np.full(shape, BED[2]), 2.0 * RADIUS, RADIUS)
        particles.settle(np.random.default_rng(0), shake=0.2, max_time=2.0)
        made = build_model([load_rover(str(job.parameters["rover"]))], [[0.0, 0.0, BED[2] + 0.06, 0.0, 0.0, 0.0]])
        data, parts, count = mujoco.MjData(made.model), made.rovers[0], len(particles.position)
        particles.attach(made.model, parts.ground, parts.tracks)
        lost, lowest = [], []
        for steps, linear, angular in random_commands(job.seed, self.steps):
            x = data.qpos[parts.qpos : parts.qpos + 2]
            ahead = data.xmat[parts.chassis, [0, 3]]
            outward = float(ahead @ x) * linear > 0.0 and bool(np.any(np.abs(x) > (0.2, 0.1)))
            drive(made, data, [[-linear if outward else linear, angular]])
            particles.step(data, steps)
            centres, (left, right, near, far) = particles.position, particles.state.box
            inside = (centres[:, 0] > left) & (centres[:, 0] < right) & (centres[:, 1] > near) & (centres[:, 1] < far)
            lost.append(count - int(inside.sum()))
            lowest.append(float(centres[:, 2].min()) / RADIUS)
        return {"count": count, "lost": np.array(lost, np.float64), "lowest": np.array(lowest)}

    def figure(self, results: xr.Dataset) -> Figure:
        """Height of the lowest particle centre during the drives, and particles lost; dotted: a particle at rest."""
        figure, (left, right) = canvas(2, 10.0, 3.8)
        time = 0.001 * np.minimum(COMMAND_STEPS * (1 + np.arange(results.sizes["command"])), self.steps)
        for k, row in enumerate(rows(results)):
            left.plot(time, row["lowest"], ".-", color=COLOURS[k], label=row["rover"].item())
            right.plot(time, row["lost"], ".-", color=COLOURS[k], label=row["rover"].item())
        left.axhline(1.0, color=COLOURS[5], linestyle=":")
        left.set(xlabel="time [s]", ylabel="lowest centre above the floor [radii]", ylim=(0, None))
        right.set(xlabel="time [s]", ylabel="particles lost", ylim=(-0.1, max(1.0, 1.1 * float(results["lost"].max()))))
        left.legend(frameon=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """All particles are there, and above the floor."""
        lost = int(np.nan_to_num(results["lost"].max("command", skipna=False), nan=1e9).sum())
        lowest = float(results["lowest"].min(skipna=False))
        return [
            Claim(
                f"In a drive of {self.steps:,} steps no particle is lost, and none falls through the floor.",
                "none",
                f"{lost} lost; lowest centre {lowest:.2f} radii above it",
                lost == 0 and lowest > 0.0,
                f"{int(results['count'].sum()):,} particles under {results.sizes['job']} rovers",
            )
        ]

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """Ruts of a loaded rover in a bed of particles."""
        yield self.picture.draw()
