"""CMA-ES compared with the genetic algorithm."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.learning.cmaes import Adaptive, adapt
from sandlot.learning.evolution import Genetic, evolve
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, pick, study
from sandlot.studies.plots import COLOURS, canvas, thousands
from sandlot.studies.statistics import Comparison, compare
from sandlot.studies.water.base import HIGH, LOW, SwimStudy, score
from sandlot.typing import Array


@study("water.optimizers", source="beyond the source; its section 7.7")
class Optimizers(SwimStudy):
    """How many evaluations does each search need to find the best gait?

    The genetic algorithm of section 7.7 and CMA-ES search for the same three parameters. Both run for as many whole
    generations as come closest to the same number of evaluations. The genetic algorithm needs slightly fewer, because
    children that equal a parent are not evaluated again.

    Attributes:
        replicates: Runs of each algorithm.
        evaluations: Approximate number in each run.
        genetic: The genetic algorithm; its generations follow from the evaluations.
        adaptive: CMA-ES; its generations follow from the evaluations.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "best": Quantity("m", "best fitness so far", ("sample",), (0,)),
        "evaluations": Quantity("1", "evaluations so far", ("sample",), (0,)),
    }
    SAMPLES: ClassVar[int] = 500

    replicates: int = Field(18, ge=2, le=10_000)
    evaluations: int = Field(12000, ge=240, le=10_000_000)
    genetic: Genetic = Genetic()
    adaptive: Adaptive = Adaptive(population=24)

    def jobs(self) -> Iterator[Job]:
        """Every replicate of both."""
        return self.cross(method=("genetic", "CMA-ES"), replicate=range(self.replicates))

    def evaluate(self, genes: Array) -> Array:
        """Distance swum along x."""
        return score(*self.swim_shared(genes))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Search once."""
        if job.parameters["method"] == "genetic":
            generations = max(round(self.evaluations / self.genetic.population), 1)
            genetic = self.genetic.model_copy(update={"generations": generations})
            history = evolve(self.evaluate, LOW, HIGH, genetic, job.seed)
        else:
            generations = max(round(self.evaluations / self.adaptive.population), 1)
            adaptive = self.adaptive.model_copy(update={"generations": generations})
            history = adapt(self.evaluate, LOW, HIGH, adaptive, job.seed)
        counts = np.linspace(self.evaluations / self.SAMPLES, self.evaluations, self.SAMPLES)
        so_far = np.maximum.accumulate(history.best)
        index = np.searchsorted(history.evaluations, counts, side="right") - 1
        return {"best": np.where(index >= 0, so_far[index], np.minimum(so_far[0], 0.0)), "evaluations": counts}

    def needed(self, results: xr.Dataset, share: float = 0.99) -> dict[str, Array]:
        """Evaluations of each run until it reached a share of the overall best; infinite if it never did."""
        goal = share * float(results["best"].max())
        there = results["best"].values >= goal
        counts = np.where(there.any(axis=1), results["evaluations"].values[0][there.argmax(axis=1)], np.inf)
        return {name: counts[results["method"].values == name] for name in ("genetic", "CMA-ES")}

    def figure(self, results: xr.Dataset) -> Figure:
        """Best distance so far over evaluations: median and range of the middle half of the replicates."""
        figure, (axes,) = canvas()
        counts = results["evaluations"].values[0]
        for colour, name in zip(COLOURS, ("genetic", "CMA-ES"), strict=False):
            best = pick(results, method=name)["best"].values
            low, middle, high = np.percentile(best, (25, 50, 75), axis=0)
            axes.plot(counts, middle, color=colour, label=name)
            axes.fill_between(counts, low, high, color=colour, alpha=0.2, linewidth=0)
        goal = 0.99 * float(results["best"].max())
        axes.axhline(goal, color=COLOURS[5], linestyle=":", label="99% of the best")
        axes.set(xlabel="evaluations", ylabel="best distance so far [m]", xscale="log", ylim=(0, None))
        axes.xaxis.set_major_formatter(thousands)
        axes.legend(frameon=False)
        return figure

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Evaluations to 99% of the best; runs that never reached it count with all their evaluations."""
        runs = {name: np.minimum(counts, self.evaluations) for name, counts in self.needed(results).items()}
        return compare(runs, "genetic", "evaluations to 99% of the best")

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """CMA-ES needs fewer."""
        runs = self.needed(results)
        (test,) = self.comparisons(results)
        said = "; ".join(
            f"{name}: median {np.median(counts):,.0f}, {int(np.isfinite(counts).sum())} of {counts.size} found it"
            for name, counts in runs.items()
        )
        text = "CMA-ES finds 99% of the best distance with fewer evaluations than the genetic algorithm."
        return [Claim(text, "beyond the source", said, test.below(), f"Mann-Whitney U, p = {test.p:.2g}")]
