"""Gaits of a body with a folded head, found by evolution."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from sandlot.control.snake.gaits import Schedule, fold, round_head, square_head
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Picture, pick, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.statistics import Comparison, compare
from sandlot.studies.water.base import (
    HIGH,
    PARAMETERS,
    EvolutionStudy,
    champion,
    claim_parameters,
    draw_band,
    near,
    shared_waves,
)
from sandlot.studies.water.shared import SharedStudy
from sandlot.studies.water.strips import strip
from sandlot.typing import Array


@study("water.heads", source="Draschwandtner 2015, section 7.8")
class Heads(SharedStudy):
    """Does the shape of a folded head change the best gait of the body behind it?

    Within 3 s the first eight joints fold to a square or a circle, which could hold a ball; the other joints then swim
    for the rest of 10 s.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **EvolutionStudy.outcomes,
        "own": Quantity("m", "distance that the source's best gait for this head swims"),
    }
    SOURCE: ClassVar[Mapping[str, Mapping[str, float]]] = {
        "square": {"amplitude": 0.73, "frequency": 1.72, "phase": 0.92, "distance": 24.07, "average": 21.48},
        "circle": {"amplitude": 0.75, "frequency": 1.79, "phase": 0.93, "distance": 23.18, "average": 20.49},
    }
    FOLDED: ClassVar[int] = 8
    PREPARES: ClassVar[float] = 3.0

    def jobs(self) -> Iterator[Job]:
        """Every replicate of both heads."""
        return self.cross(head=tuple(self.SOURCE), replicate=range(self.replicates))

    def head(self, job: Job) -> Array:
        """The pose of the head."""
        fold_ = square_head if job.parameters["head"] == "square" else round_head
        return fold_(self.snake.joints)

    def before(self, job: Job) -> Schedule:
        """Fold the head."""
        return fold(np.zeros(self.snake.joints), self.head(job), 2.5, self.snake.interval)

    def waves(self, job: Job, genes: Array) -> Array:
        """The head stays folded, the other joints swim."""
        return shared_waves(genes, self.snake.joints, self.FOLDED, self.head(job))

    def judge(self, job: Job, genes: Array) -> Mapping[str, Found]:
        """Let the source's best gait swim; it is the same in every replicate."""
        source = self.SOURCE[str(job.parameters["head"])]
        (own,) = self.evaluate(job, np.array([[source[name] for name in PARAMETERS]]))
        return {"own": float(own)}

    def figure(self, results: xr.Dataset) -> Figure:
        """Fitness and parameters of the best individuals for both heads (as figures 7.23 to 7.26); dashed: extremes."""
        figure, axes = canvas(4, 13.0, 3.8)
        for colour, (head, source) in zip(COLOURS, self.SOURCE.items(), strict=False):
            group = pick(results, head=head)
            draw_band(axes[0], group["best"].values, colour, head)
            axes[0].axhline(source["distance"], color=colour, linestyle=":")
            for k, name in enumerate(PARAMETERS):
                draw_band(axes[k + 1], group["genes"].values[:, :, k], colour, head)
                axes[k + 1].axhline(source[name], color=colour, linestyle=":")
        axes[0].set(title="fitness [m]", xlabel="generation")
        for k, (name, unit) in enumerate(PARAMETERS.items()):
            axes[k + 1].set(title=f"{name} [{unit}]", xlabel="generation", ylim=(0, HIGH[k]))
        axes[0].plot([], [], color=COLOURS[5], linestyle=":", label="the source's")
        axes[0].legend(frameon=False)
        return figure

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """One head against the other."""
        ends = {head: pick(results, head=head)["best"].values[:, -1] for head in self.SOURCE}
        return compare(ends, "square", "fitness in the last generation")

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Distances and parameters of both heads, and that they differ little."""
        claims = []
        ends = {}
        for head, source in self.SOURCE.items():
            group = pick(results, head=head)
            ends[head] = float(group["best"].values[:, -1].mean())
            swum, average, own = source["distance"], float(group["mean"].values[:, -1].mean()), float(group["own"][0])
            claims += [
                near(f"With a {head} head: {swum:g} m.", swum, ends[head]),
                near(
                    f"With a {head} head: The average individuals converge to {source['average']:g} m.",
                    source["average"],
                    average,
                ),
                near(f"With a {head} head: The source's best gait swims {swum:g} m.", swum, own),
            ]
            claims += [
                replace(claim, text=f"With a {head} head: {claim.text}") for claim in claim_parameters(group, source)
            ]
        apart = ends["circle"] / ends["square"] - 1.0
        text = "The shape of the head makes little difference to the distance."
        return [
            *claims,
            Claim(text, "-4%", f"{apart:+.1%}", abs(apart) < 0.1, "circle against square; holds within 10%"),
        ]

    def leaders(self, results: xr.Dataset) -> Mapping[str, tuple[Job, Array]]:
        """The best individual of each head."""
        first = {str(job.parameters["head"]): job for job in self.jobs() if job.parameters["replicate"] == 0}
        return {head: (job, champion(pick(results, head=head))) for head, job in first.items()}

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The best individual of each head swims."""
        for head, (job, genes) in self.leaders(results).items():
            yield strip(self.snake, self.whole(job, genes), self.seconds, f"The best with a {head} head.")
