"""How the number of cycles depends on the size of the terrain and of the swarm."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Annotated, Self

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, model_validator

from sandlot.control.leveling import Rule
from sandlot.settings import build, distinct
from sandlot.studies.base import Claim, Job, study
from sandlot.studies.leveling.base import LevelingStudy, groups, uncut
from sandlot.studies.plots import COLOURS, canvas, curve
from sandlot.worlds.leveling.settings import LevelingSettings

Counts = Annotated[tuple[Annotated[int, Field(ge=1, le=16384)], ...], Field(min_length=1), AfterValidator(distinct)]


@study("leveling.scaling", source="a question beyond Cook 2017")
class Scaling(LevelingStudy):
    """How does the number of cycles depend on the size of the terrain and of the swarm?

    The probabilistic rule at 0.3, on terrains of the same kind but different size. ``world.sensing`` applies to 32 x 32
    cells; on other sizes it is scaled in inverse proportion to the number of cells, so that the eight stored heights
    always come from the whole terrain.

    Attributes:
        sizes: Cells along each side.
        swarms: Numbers of agents.
    """

    sizes: Counts = (16, 32, 64, 128, 256)
    swarms: Counts = (1, 2, 4, 8, 16, 32, 64)
    replicates: int = Field(3, ge=1, le=10_000)
    max_cycles: int = Field(20_000_000_000, ge=2, le=10**15)

    @model_validator(mode="after")
    def _swarms_fit(self) -> Self:
        if max(self.swarms) > min(self.sizes) ** 2:
            raise ValueError(
                f"swarms={max(self.swarms)} do not fit on a terrain of {min(self.sizes)} x {min(self.sizes)}"
            )
        return self

    def jobs(self) -> Iterator[Job]:
        """Every size and swarm, ``replicates`` times."""
        return self.cross(size=self.sizes, agents=self.swarms, replicate=range(self.replicates))

    def run(self, job: Job) -> dict[str, float]:
        """Level a terrain of one size with one swarm."""
        size, agents = int(job.parameters["size"]), int(job.parameters["agents"])
        sensing = min(1.0, self.world.sensing * (32 / size) ** 2)
        changes = {"shape": (size, size), "agents": agents, "sensing": sensing}
        world = build(LevelingSettings, self.world.model_dump() | changes)
        return self.level(Rule(), job, world.heights(np.random.default_rng(self.terrain_seed)), world)

    def figure(self, results: xr.Dataset) -> Figure:
        """Cycles over agents, and the work of all agents over cells: means with 95% confidence intervals."""
        figure, (left, right) = canvas(2, width=9.5)
        for colour, size in zip(itertools.cycle(COLOURS), self.sizes, strict=False):
            here = results.isel(job=results["size"].values == size)
            curve(left, groups(here, "agents", "cycles"), colour, f"{size} x {size}")
        left.set(xscale="log", yscale="log", xlabel="agents", ylabel="cycles until flat")
        left.set_xticks(self.swarms, [str(n) for n in self.swarms])
        left.minorticks_off()
        left.legend(frameon=False, fontsize=8)
        work = results.assign(work=results["cycles"] * results["agents"], cells=results["size"] ** 2)
        curve(right, groups(work, "cells", "work"))
        right.set(xscale="log", yscale="log", xlabel="cells", ylabel="agent-cycles until flat, all swarms")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Exponents of the scaling, and whether agents hinder each other; the source has none to compare with."""
        exponents = {}
        for size in self.sizes:
            cycles = groups(results.isel(job=results["size"].values == size), "agents", "cycles")
            exponents[size] = _exponent(cycles)
        work = results.assign(work=results["cycles"] * results["agents"], cells=results["size"] ** 2)
        growth = _exponent(groups(work, "cells", "work"))
        measured = ", ".join(f"{value:.2f} on {size} x {size}" for size, value in exponents.items())
        found = [
            Claim(
                "Agents do not hinder each other: cycles fall with agents to the power -1.",
                "not studied",
                measured,
                all(abs(value + 1.0) <= 0.1 for value in exponents.values()),
                "within 0.1, by linear regression of the logarithms",
            ),
            Claim(
                "The work of all agents grows faster than the number of cells: with a power above 1.",
                "not studied",
                round(growth, 3),
                growth > 1.0,
                "by linear regression of the logarithms",
            ),
        ]
        return uncut(results, found)


def _exponent(groups: Mapping[float, NDArray[np.float64]]) -> float:
    """Exponent of the power law through the means of groups; 0 for a single group."""
    if len(groups) < 2:
        return 0.0
    return float(np.polyfit(np.log(list(groups)), np.log([group.mean() for group in groups.values()]), 1)[0])
