"""The trade-off between speed and cost of transport."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.control.snake.files import gait_text
from sandlot.control.snake.gaits import Gait
from sandlot.learning.pareto import Pareto, find_front
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.water.base import HIGH, LOW, PARAMETERS, SwimStudy
from sandlot.typing import Array


@study("water.pareto", source="beyond the source; its section 7.7")
class PriceOfSpeed(SwimStudy):
    """What does speed cost?

    NSGA-II searches for the Pareto front of speed and cost of transport. The cost is the energy dissipated in the water
    plus the final kinetic energy of the centre of mass, per metre and kilogram. It leaves out the final kinetic energy
    of the links relative to the centre of mass, which the motors also supply.

    Attributes:
        replicates: Number of runs; their fronts are joined.
        nsga: The algorithm.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "speed": Quantity("m/s", "mean speed of the gaits of the front", ("individual",), (0,)),
        "cost": Quantity("J/kg*m^-1", "cost of transport of the gaits of the front", ("individual",), (0,)),
        "genes": Quantity("1", "amplitude, frequency and phase", ("individual", "gene"), (0, 0)),
    }
    OTHERS: ClassVar[Mapping[str, tuple[float, float, float]]] = {
        "section 7.7's best": (0.46, 2.00, 0.68),
        "section 7.11's, by hand": (0.7, 0.9, 0.8),
    }

    replicates: int = Field(6, ge=1, le=10_000)
    nsga: Pareto = Pareto()

    def jobs(self) -> Iterator[Job]:
        """Every replicate."""
        return self.cross(replicate=range(self.replicates))

    def evaluate(self, genes: Array) -> Array:
        """Speed [m/s] and negative cost of transport [J/(kg*m)]: (individuals, 2)."""
        swimmers, distance = self.swim_shared(genes)
        kinetic = 0.5 * self.snake.mass * (swimmers.velocity**2).sum(axis=1)
        cost = (swimmers.heat + kinetic) / (self.snake.mass * np.maximum(distance, 1e-3))
        good = ~swimmers.exploded & (distance > 0.01 * self.snake.arclength)
        return np.where(good[:, None], np.stack([distance / self.seconds, -cost], axis=1), (-1.0, -1e6))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Search once; the front is padded with NaN to the size of the population."""
        front = find_front(self.evaluate, LOW, HIGH, self.nsga, job.seed)
        spare = self.nsga.population - len(front.genes)
        speed, cost = front.objectives.T
        fill = ((0, spare),)
        return {
            "speed": np.pad(speed, fill, constant_values=np.nan),
            "cost": np.pad(-cost, fill, constant_values=np.nan),
            "genes": np.pad(front.genes, (*fill, (0, 0)), constant_values=np.nan),
        }

    def front(self, results: xr.Dataset) -> tuple[Array, Array, Array]:
        """Speed, cost and genes of the Pareto front of all replicates, by increasing speed."""
        speed, cost = results["speed"].values.ravel(), results["cost"].values.ravel()
        genes = results["genes"].values.reshape(speed.size, -1)
        order = np.argsort(-np.nan_to_num(speed, nan=-np.inf), kind="stable")
        cheapest = np.minimum.accumulate(np.nan_to_num(cost[order], nan=np.inf))
        kept = order[(cost[order] <= cheapest) & np.isfinite(speed[order])][::-1]
        return speed[kept], cost[kept], genes[kept]

    def others(self) -> dict[str, tuple[float, float]]:
        """Speed and cost of the source's gaits."""
        found = self.evaluate(np.array(list(self.OTHERS.values())))
        return {name: (speed, -cost) for name, (speed, cost) in zip(self.OTHERS, found.tolist(), strict=True)}

    def figure(self, results: xr.Dataset) -> Figure:
        """The front, with the source's gaits, and the parameters along it."""
        figure, axes = canvas(2, 11.0, 4.2)
        speed, cost, genes = self.front(results)
        axes[0].plot(speed, cost, "o-", markersize=3, color=COLOURS[0], label="front")
        for colour, (name, (fast, dear)) in zip(COLOURS[1:], self.others().items(), strict=False):
            axes[0].plot(fast, dear, "s", color=colour, label=name)
        over = f"mean speed over {self.seconds:g} s [m/s]"
        axes[0].set(xlabel=over, ylabel="cost of transport [J/(kg m)]", ylim=(0, None))
        for k, (name, unit) in enumerate(PARAMETERS.items()):
            axes[1].plot(speed, genes[:, k], "o", markersize=3, color=COLOURS[k], label=f"{name} [{unit}]")
        axes[1].set(xlabel=over, ylim=(0, None))
        for each in axes:
            each.legend(frameon=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Cost grows with speed; gaits on the front cost less than the source's."""
        speed, cost, _ = self.front(results)
        half = float(np.interp(0.5 * speed[-1], speed, cost))
        claims = [
            Claim(
                "At half the greatest speed, a metre costs less than half as much.",
                "beyond the source",
                f"{half:.2f} J/(kg m) at {0.5 * speed[-1]:.1f} m/s, {cost[-1]:.2f} at {speed[-1]:.1f} m/s",
                half < 0.5 * float(cost[-1]),
            )
        ]
        for name, (fast, dear) in self.others().items():
            better = float(np.interp(fast, speed, cost))
            text = f"A gait as fast as {name} costs less."
            measured = f"{better:.2f} instead of {dear:.2f} J/(kg m) at {fast:.2f} m/s"
            claims.append(Claim(text, "beyond the source", measured, better < dear))
        return claims

    def files(self, results: xr.Dataset) -> Mapping[str, str]:
        """The fastest gait of the front, and the cheapest."""
        _, _, genes = self.front(results)
        gaits = {"cheapest.toml": genes[0], "fastest.toml": genes[-1]}
        return {
            name: gait_text(Gait(**dict(zip(PARAMETERS, row.tolist(), strict=True))), self.snake)
            for name, row in gaits.items()
        }
