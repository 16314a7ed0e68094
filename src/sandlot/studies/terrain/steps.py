"""Whether half the time step changes a drive."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Study, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.terrain.ride import Ride
from sandlot.studies.terrain.shared import GROUNDS, ROVERS, at_most, named, rows
from sandlot.typing import Array

SAMPLE = 0.1
"""Time between samples of a path [s]."""
LIMIT = 0.02
"""Allowed distance between two drives, as a share of their path length."""


@study("terrain.steps", source="convergence in the time step, and our own")
class Steps(Study):
    """Does half the time step change a drive?

    Each rover makes the same winding drive on each ground with the usual time step and with half of it.

    Attributes:
        step: The usual time step [s].
        seconds: Duration of a drive [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "deviation": Quantity("m", "distance between the two drives", ("time",), (0,)),
        "path_length": Quantity("m", "path length of the drive with half the time step"),
    }

    step: float = Field(0.001, ge=1e-5, le=0.01)
    seconds: float = Field(10.0, ge=SAMPLE, le=100.0)

    def jobs(self) -> Iterator[Job]:
        """Both rovers on every ground."""
        return self.cross(rover=ROVERS, ground=GROUNDS)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Drive twice."""
        rover, ground = str(job.parameters["rover"]), str(job.parameters["ground"])
        full, half = (self._path(rover, ground, step) for step in (self.step, 0.5 * self.step))
        path_length = float(np.linalg.norm(np.diff(half, axis=0), axis=1).sum())
        return {"deviation": np.linalg.norm(full - half, axis=1)[1:], "path_length": path_length}

    def _path(self, rover: str, ground: str, step: float) -> Array:
        """Positions over time: (samples + 1, 2) [m]."""
        ride = Ride(rover, ground, step=step)
        ride.wait(0.5)
        path = [ride.position]
        for k in range(round(self.seconds / SAMPLE)):
            ride.go(0.15, 0.6 * np.sin(2.0 * np.pi * k * SAMPLE / 5.0), SAMPLE)
            path.append(ride.position)
        return np.array(path)

    def figure(self, results: xr.Dataset) -> Figure:
        """Distance between drives with the full and with half the time step; dotted: the limit."""
        figure, (axes,) = canvas()
        time = SAMPLE * (1 + np.arange(results.sizes["time"]))
        for row in rows(results):
            ground, wheeled = row["ground"].item(), row["rover"].item() == "wheeled"
            share = 100 * row["deviation"] / row["path_length"]
            colour, label = COLOURS[GROUNDS.index(ground)], ground if wheeled else None
            axes.plot(time, share, "-" if wheeled else "--", color=colour, label=label)
        axes.plot([], [], "--", color=COLOURS[5], label="the same, tracked")
        axes.axhline(100 * LIMIT, color=COLOURS[5], linestyle=":", label="allowed")
        axes.set(xlabel="time [s]", ylabel="distance between drives [% of path length]")
        axes.set_ylim(0, 1.3 * axes.get_ylim()[1])  # leaves room for the legend above all lines
        axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper left")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Half the step hardly changes a drive."""
        shares = {
            named(row, "rover", "ground"): float(row["deviation"].max() / row["path_length"]) for row in rows(results)
        }
        return [
            Claim(
                f"Half the step changes a drive of {self.seconds:g} s by little.",
                f"under {LIMIT:.0%} of its length",
                "; ".join(f"{name}: {share:.2%}" for name, share in shares.items()),
                at_most(list(shares.values()), LIMIT),
                f"steps of {1000 * self.step:g} and {500 * self.step:g} ms; the greatest distance at any time",
            )
        ]
