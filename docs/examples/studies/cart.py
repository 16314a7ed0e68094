"""The studies of the cart world."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.control.cart import SpringDamper
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Job, Study, study
from sandlot.studies.plots import canvas, curve
from sandlot.worlds.cart import DT, Cart, CartSettings
from sandlot.worlds.rollout import rollout


@study("cart.damping", source="any textbook on vibrations")
class Damping(Study):
    """How strongly should the damper brake?

    Too weak, and the cart swings past the middle again and again; too strong, and it creeps. Textbooks recommend
    critical damping, 2 sqrt(stiffness * mass), here 2 N*s/m.

    Attributes:
        world: Settings of the world.
        dampings: To compare [N*s/m].
        replicates: Starts for each of them.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {"time": Quantity("s", "time until the cart has stopped")}

    world: CartSettings = CartSettings()
    dampings: tuple[float, ...] = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
    replicates: int = Field(30, ge=1)

    def jobs(self) -> Iterator[Job]:
        """Every damping, ``replicates`` times."""
        return self.cross(damping=self.dampings, replicate=range(self.replicates))

    def run(self, job: Job) -> dict[str, float]:
        """Stop the cart once."""
        controller = SpringDamper(damping=float(job.parameters["damping"]))
        *_, last = rollout(Cart(settings=self.world), controller, int(job.seed.generate_state(1)[0]), 2000)
        return {"time": last.number * DT}

    def figure(self, results: xr.Dataset) -> Figure:
        """Time over damping."""
        figure, (axes,) = canvas()
        curve(axes, {float(d): group["time"].values for d, group in results.groupby("damping")})
        axes.set(xlabel="damping [N*s/m]", ylabel="time until stopped [s]")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Critical damping is fastest."""
        means = results["time"].groupby(results["damping"]).mean()
        fastest = float(means["damping"][int(np.argmin(means.values))])
        return [Claim("Critical damping stops the cart soonest.", 2.0, fastest, fastest == 2.0)]
