"""Soil keeps its volume while rovers drive over it."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Study, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.terrain.ride import SPACING, Ride, random_commands, waves
from sandlot.studies.terrain.shared import ROVERS, SOILS, at_most, named, rows

RELIEF = 0.06
"""Height of the waves of the ground [m]."""
LIMIT = 1e-9
"""Relative change of volume that is allowed."""
CHECKS = 20
FIRST_SEED = 36
"""Random drives are those of spawn keys from here on: published results depend on them."""


@study("terrain.volume", source="conservation of volume, and our own")
class Volume(Study):
    """Does soil keep its volume while rovers drive over it?

    Both rovers drive at random over waves of soil, turn often and push it about. The volume is summed without rounding
    errors.

    Attributes:
        steps: Of a drive, 1 ms each.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "change": Quantity("1", "relative change of the soil's volume since the start", ("check",), (0,)),
        "moved": Quantity("m^3", "volume that lies elsewhere at the end"),
    }

    steps: int = Field(10_000, ge=CHECKS, le=10_000_000)

    def jobs(self) -> Iterator[Job]:
        """Both rovers on every soil."""
        for job in self.cross(rover=ROVERS, ground=SOILS):
            yield replace(job, seed=np.random.SeedSequence(self.seed, spawn_key=(FIRST_SEED + job.index,)))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Drive at random, and sum the volume now and then."""
        start = waves(RELIEF)
        ride = Ride(str(job.parameters["rover"]), str(job.parameters["ground"]), heights=start)
        checks, done, changes = np.linspace(0, self.steps, CHECKS + 1).round()[1:], 0, []
        total = math.fsum(start.ravel())
        for steps, linear, angular in random_commands(job.seed, self.steps):
            until = done + steps
            while done < until:
                next_check = int(checks[checks > done][0])
                part = min(next_check, until) - done
                ride.go(linear, angular, part * ride.model.opt.timestep)
                done += part
                if done == next_check:
                    changes.append(math.fsum([*ride.soil.surface().ravel(), -total]) / total)
        moved = 0.5 * float(np.abs(ride.soil.surface() - start).sum()) * SPACING**2
        return {"change": np.array(changes), "moved": moved}

    def figure(self, results: xr.Dataset) -> Figure:
        """Relative change of the soil's volume during drives; dotted: the limit."""
        figure, (axes,) = canvas()
        steps = np.linspace(0, self.steps, CHECKS + 1)[1:] / 1000.0
        for row in rows(results):
            style = "-" if row["rover"].item() == "wheeled" else "--"
            change = np.maximum(np.abs(row["change"].values), 1e-17)
            colour = COLOURS[SOILS.index(row["ground"].item())]
            axes.plot(steps, change, style, color=colour, label=named(row, "rover", "ground"))
        axes.axhline(LIMIT, color=COLOURS[5], linestyle=":", label="allowed")
        axes.set(xlabel="steps [thousands]", ylabel="relative change of volume", yscale="log", ylim=(1e-17, 1e-6))
        axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper left")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """The volume is constant."""
        change, litres = np.abs(results["change"].values).max(), 1000 * results["moved"].values
        return [
            Claim(
                f"Soil keeps its volume in a drive of {self.steps:,} steps that moves it about.",
                f"to {LIMIT:g}",
                f"to {change:.1e}",
                at_most(change, LIMIT) and float(np.median(litres)) > 0.0,
                f"{results.sizes['job']} drives over waves of {100 * RELIEF:g} cm; {litres.min():.2g} to "
                f"{litres.max():.2g} litres were moved; hard soil may carry a rover without yielding",
            )
        ]
