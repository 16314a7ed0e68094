"""What the water studies share: the source's bodies, the fitness of gaits, and figures of an evolution."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pydantic import Field, model_validator

from sandlot.learning.evolution import Genetic, evolve
from sandlot.recordings import Quantity
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import start_centre
from sandlot.studies.base import Claim, Found, Job, Study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.statistics import Comparison, compare, mean_interval
from sandlot.typing import Array

CONVERGED = 0.02
"""The reference has converged if half its time step changes the distance by less than this share."""

LIGHT = Snake(links=8, mass=0.3, faces="all", max_torque=10.0, interval=0.005, step=0.005)
"""The body of section 7.1, of density 0.1, with motors of 10 N m that are commanded in every step of the source's."""

SHORT = Snake(links=8, length=1.25, mass=15.625, faces="all", max_torque=100.0, step=0.005)
"""The body of sections 7.2 to 7.5. The source gives a density of 6.25 and a mass of 5; 8 links of 1.25 x 0.5 x 0.5 with
that density weigh 15.625. The density is taken: with it the distances of section 7.4 come out, with 5 kg they do not
(`water.drift`). Its motors are at their limits most of the time, which takes the source's own short steps."""

PARAMETERS = {"amplitude": "rad", "frequency": "Hz", "phase": "rad"}
"""Of a gait, and their units."""
LOW, HIGH = (0.1, 0.1, 0.0), (1.5, 3.0, 2.0 * np.pi)
"""Range of section 7.7 of amplitude [rad], frequency [Hz] and phase [rad]."""
FITNESS = {
    "best": Quantity("m", "fitness of the best individual", ("generation",), (0,)),
    "mean": Quantity("m", "mean fitness of all individuals", ("generation",), (0,)),
}


def score(swimmers: FastSwimmers, distance: Array) -> Array:
    """Fitness: the distance swum (individuals,) [m]; NaN for an exploded simulation."""
    return np.where(swimmers.exploded, np.nan, distance)


def travelled(swimmers: FastSwimmers) -> Array:
    """Distance from the start, negative if backwards (equation 7.1): (individuals,) [m]."""
    moved = swimmers.centre - start_centre(swimmers.snake)
    return np.sign(moved[:, 0]) * np.linalg.norm(moved, axis=1)


def shared_waves(genes: Array, joints: int, first: int = 0, pose: Array | None = None) -> Array:
    """Gaits with one amplitude, frequency and phase for all joints: (4, joints, individuals).

    Args:
        genes: (individuals, 3) amplitude [rad], frequency [Hz], phase [rad].
        joints: Of the body.
        first: The first joint that swims; joints before it keep the pose.
        pose: (joints,) offset of all joints [rad].
    """
    index = np.arange(joints)[:, None]
    swims = (index >= first).astype(np.float64)
    amplitude, frequency, phase = genes.T[:, None, :]
    rest = np.zeros(joints) if pose is None else pose
    ones = np.ones((joints, len(genes)))
    return np.stack([swims * amplitude, 2.0 * np.pi * frequency * ones, index * phase, rest[:, None] * ones])


class SwimStudy(Study):
    """A study in which bodies swim for some time.

    Attributes:
        seconds: Duration of a simulation [s].
        snake: The body.
    """

    seconds: float = Field(10.0, gt=0.0, le=1e4)
    snake: Snake = Snake()

    @model_validator(mode="after")
    def _lasts(self) -> Self:
        least = self.begin() + self.snake.interval
        if self.seconds < least - 1e-9:
            why = f", since it swims from {self.begin():g} s on" if self.begin() else ""
            raise ValueError(f"seconds={self.seconds:g} is too short; allowed: at least {least:g}{why}")
        return self

    def begin(self) -> float:
        """Time at which the body begins to swim [s]."""
        return 0.0

    def swim_shared(self, genes: Array) -> tuple[FastSwimmers, Array]:
        """Let bodies swim from rest, each with one amplitude, frequency and phase for all its joints.

        Args:
            genes: (individuals, 3) as for `shared_waves`.

        Returns:
            The bodies, and the distance they swam along x (equation 7.4): (individuals,) [m].
        """
        swimmers = FastSwimmers(self.snake, len(genes))
        start = swimmers.centre[:, 0].copy()
        swimmers.swim([0.0], shared_waves(genes, self.snake.joints)[None], self.seconds)
        return swimmers, swimmers.centre[:, 0] - start


class EvolutionStudy(SwimStudy):
    """A study that evolves gaits, a job for each replicate.

    Attributes:
        replicates: Number of runs, each with its own seed.
        genetic: The genetic algorithm.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **FITNESS,
        "genes": Quantity("1", "genes of the best individual", ("generation", "gene"), (0, 0)),
        "champion": Quantity("1", "genes of the best individual of all generations", ("gene",), (0,)),
    }

    replicates: int = Field(18, ge=2, le=10_000)
    genetic: Genetic = Genetic()

    def jobs(self) -> Iterator[Job]:
        """Every replicate."""
        return self.cross(replicate=range(self.replicates))

    def limits(self) -> tuple[Sequence[float], Sequence[float]]:
        """Minimum and maximum of every gene."""
        return LOW, HIGH

    @abstractmethod
    def evaluate(self, job: Job, genes: Array) -> Array:
        """Fitness of a population: (individuals,) from (individuals, genes)."""

    def run(self, job: Job) -> Mapping[str, Found]:
        """Evolve once, and judge the best individual."""
        history = evolve(lambda genes: self.evaluate(job, genes), *self.limits(), self.genetic, job.seed)
        found = {"best": history.best, "mean": history.mean, "genes": history.genes, "champion": history.champion}
        return {**found, **self.judge(job, history.champion)}

    def judge(self, job: Job, genes: Array) -> Mapping[str, Found]:
        """Further outcomes, of the best individual."""
        return {}

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Best individuals against average ones, at the end."""
        return best_against_average(results)


def best_against_average(results: xr.Dataset) -> list[Comparison]:
    """Fitness of the best individuals of the last generation against that of the average ones."""
    ends = {"best": results["best"].values[:, -1], "average": results["mean"].values[:, -1]}
    return compare(ends, "average", "fitness in the last generation")


def near(text: str, source: float, measured: float, within: float = 0.1, note: str = "") -> Claim:
    """A claim that holds if the measured value is within a share of the source's value."""
    said = f"holds within {within:.0%}" + (f"; {note}" if note else "")
    close = bool(abs(measured - source) <= within * abs(source))
    return Claim(text, source, round(float(measured), 4), close, said)


def claim_better(comparisons: list[Comparison]) -> Claim:
    """That the best individuals are better than the average ones."""
    (test,) = comparisons
    text = "The best individuals of the last generation perform better than the average ones."
    return Claim(text, "p < 0.05", f"p = {test.p:.2g}", test.above(), "Wilcoxon rank-sum over replicates")


def draw_band(axes: Axes, values: Array, colour: str, label: str) -> None:
    """Mean over replicates with its 95% confidence interval, and minimum and maximum dashed; (replicates, x)."""
    x = np.arange(1, values.shape[1] + 1)
    intervals = [mean_interval(column) for column in values.T]
    axes.plot(x, [each.mean for each in intervals], color=colour, label=label)
    low, high = [each.low for each in intervals], [each.high for each in intervals]
    axes.fill_between(x, low, high, color=colour, alpha=0.25, linewidth=0)
    for edge in (values.min(axis=0), values.max(axis=0)):
        axes.plot(x, edge, color=colour, linewidth=0.7, linestyle="--")
    axes.set_xscale("log")


def draw_fitness(axes: Axes, results: xr.Dataset, source: float, title: str = "") -> None:
    """Best and mean fitness over generations, and the source's best."""
    draw_band(axes, results["best"].values, COLOURS[0], "best individual")
    draw_band(axes, results["mean"].values, COLOURS[1], "average individual")
    axes.axhline(source, color=COLOURS[5], linestyle=":", label=f"the source's best, {source:g}")
    floor = min(0.0, float(results["mean"].values[:, -1].min()))
    # Leaves room for the legend above the curves.
    top = 1.4 * max(source, float(results["best"].values.max()))
    axes.set(xlabel="generation", ylabel="fitness [m]", title=title, ylim=(floor, top))
    axes.legend(frameon=False, loc="upper left")


def draw_course(results: xr.Dataset, source: Mapping[str, float], best: float) -> Figure:
    """Fitness and the three parameters of the best individuals over generations."""
    figure, axes = canvas(4, 13.0, 3.6)
    draw_fitness(axes[0], results, best)
    for k, (name, unit) in enumerate(PARAMETERS.items()):
        draw_band(axes[k + 1], results["genes"].values[:, :, k], COLOURS[2], "best individual")
        axes[k + 1].axhline(source[name], color=COLOURS[5], linestyle=":", label=f"the source's, {source[name]:g}")
        axes[k + 1].set(xlabel="generation", title=f"{name} [{unit}]", ylim=(0, HIGH[k]))
        axes[k + 1].legend(frameon=False)
    return figure


def champion(results: xr.Dataset) -> Array:
    """Genes of the best individual of all replicates: (genes,)."""
    leader = int(results["best"].values.max(axis=1).argmax())
    return np.asarray(results["champion"].values[leader])


def claim_parameters(results: xr.Dataset, source: Mapping[str, float], note: str = "") -> list[Claim]:
    """Amplitude, frequency and phase of the last generation's best individuals, compared with the source's."""
    ends: dict[str, Any] = dict(zip(PARAMETERS, results["genes"].values[:, -1].mean(axis=0), strict=True))
    return [
        near(f"The {name} converges to {source[name]:g}.", source[name], ends[name], 0.1, note) for name in PARAMETERS
    ]
