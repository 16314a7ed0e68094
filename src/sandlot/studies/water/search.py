"""Other ways to find swimmers: nets that evolve, a search that adapts, and two aims at once."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.control.files import gait_text, net_text
from sandlot.control.gaits import Gait
from sandlot.control.nets import NetCard, NetController, from_card, to_card
from sandlot.learning.cmaes import Adaptive, adapt
from sandlot.learning.evolution import Genetic, evolve
from sandlot.learning.neat import Neat, evolve_nets
from sandlot.learning.pareto import Pareto, find_front
from sandlot.physics.nets import Nets, swim_nets
from sandlot.recordings import Quantity
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import FastSwimmers
from sandlot.studies.base import Claim, Found, Job, Study, study
from sandlot.studies.plots import COLOURS, canvas, thousands
from sandlot.studies.statistics import Comparison, compare
from sandlot.studies.water.base import (
    FOLLOWED,
    HIGH,
    LOW,
    SHORT,
    Array,
    claim_better,
    draw_band,
    draw_fitness,
    near,
    score,
    shared_waves,
)


@study("water.neat", source="Draschwandtner 2015, section 7.2")
class EvolveNets(Study):
    """Can evolved nets swim as well as evolved waves?

    Each joint of an eight-link body is told its angle by a net that sees all joint angles and a clock. NEAT evolves the
    net's structure and weights together with the clock's frequency. The source gives a density of 6.25 and a mass of 5,
    which contradict each other (8 links of that density weigh 15.6); the mass is taken.

    Attributes:
        replicates: How many runs, each with a seed of its own.
        seconds: Each individual swims for so long [s].
        snake: The body.
        neat: The algorithm.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "best": Quantity("m", "fitness of the best individual", ("generation",), (0,)),
        "mean": Quantity("m", "mean fitness of all individuals", ("generation",), (0,)),
        "frequency": Quantity("s^-1", "frequency of the best individual's clock", ("generation",), (0,)),
        "hidden": Quantity("1", "hidden nodes of the best individual", ("generation",), (0,)),
        "principal": Quantity("s^-1", "principal frequency of the joints of the best individual of all"),
        "champion": Quantity("1", "the best individual of all generations", dtype="str"),
    }

    replicates: int = Field(18, ge=2)
    seconds: float = Field(20.0, gt=0.0)
    snake: Snake = SHORT
    neat: Neat = Neat()

    def jobs(self) -> Iterator[Job]:
        """Every replicate."""
        return self.cross(replicate=range(self.replicates))

    def evaluate(self, nets: Nets, frequencies: Array) -> Array:
        """Distance swum, negative if to the rear (equation 7.1)."""
        swimmers = FastSwimmers(self.snake, len(frequencies))
        start = swimmers.centre
        swimmers.drive_by(
            lambda body, state, commands: swim_nets(body, state, nets, frequencies, commands), self.seconds
        )
        way = swimmers.centre - start
        return score(swimmers, np.sign(way[:, 0]) * np.linalg.norm(way, axis=1), followed=0.0)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Evolve once."""
        history = evolve_nets(self.evaluate, self.snake.joints, self.neat, job.seed)
        text = net_text(to_card(history.champion))
        angles = self.angles(text)
        spectrum = np.abs(np.fft.rfft(angles - angles.mean(axis=0), axis=0)) ** 2
        peak = np.fft.rfftfreq(len(angles), self.snake.interval)[int(spectrum.sum(axis=1).argmax())]
        return {
            "best": history.best,
            "mean": history.mean,
            "frequency": history.frequencies,
            "hidden": history.hidden,
            "principal": float(peak),
            "champion": text,
        }

    def angles(self, net: str) -> Array:
        """Joint angles over time of a body driven by a net: (commands, joints) [rad]."""
        controller = NetController(from_card(NetCard.model_validate_json(net)), self.snake)
        swimmers, angles = FastSwimmers(self.snake, 1), []
        for _ in range(round(self.seconds / self.snake.interval)):
            seen = np.concatenate([[swimmers.time], np.zeros(7), swimmers.angles[0], swimmers.rates[0]])
            swimmers.command(controller(seen)[None])
            angles.append(swimmers.angles[0].copy())
        return np.array(angles)

    def figure(self, results: xr.Dataset) -> Figure:
        """Fitness and frequency of the clock over generations, and the joints of the best (as figures 7.4 to 7.6)."""
        figure, axes = canvas(3, 12.0, 3.8)
        draw_fitness(axes[0], results, 10.09)
        draw_band(axes[1], results["frequency"].values, COLOURS[2], "best individual")
        axes[1].axhline(0.63, color=COLOURS[5], linestyle=":", label="the source's, 0.63")
        axes[1].set(xlabel="generation", title="frequency of the clock [Hz]", ylim=(0, None))
        axes[1].legend(frameon=False)
        angles = self.angles(self.leader(results))
        times = np.arange(1, len(angles) + 1) * self.snake.interval
        shown = times <= 10.0
        for joint, row in enumerate(angles.T):
            axes[2].plot(times[shown], row[shown] + 2.0 * joint, color=COLOURS[joint % 5], linewidth=1)
        axes[2].set(xlabel="time [s]", title="joint angles of the best, one above the other", yticks=[])
        return figure

    def leader(self, results: xr.Dataset) -> str:
        """The best net of all replicates."""
        return str(results["champion"].values[int(results["best"].values.max(axis=1).argmax())])

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Best individuals against average ones, at the end."""
        ends = {"best": results["best"].values[:, -1], "average": results["mean"].values[:, -1]}
        return compare(ends, "average", "fitness in the last generation")

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Distances and frequencies."""
        best, mean = results["best"].values, results["mean"].values
        clock, joints = results["frequency"].values[:, -1], results["principal"].values
        return [
            near("The best individuals converge to 10.09 m.", 10.09, best[:, -1].mean()),
            near("The average individuals converge to 6.03 m.", 6.03, mean[:, -1].mean()),
            claim_better(self.comparisons(results)),
            near("The clock converges to 0.63 Hz.", 0.63, float(np.median(clock)), 0.2, "median over replicates"),
            near("The joints move at 0.59 Hz.", 0.59, float(np.median(joints)), 0.2, "median over replicates"),
        ]

    def files(self, results: xr.Dataset) -> Mapping[str, str]:
        """The best net."""
        return {"best.json": self.leader(results)}


@study("water.optimizers", source="beyond the source; its section 7.7")
class Optimizers(Study):
    """How many evaluations does each search need to find the best gait?

    The genetic algorithm of section 7.7 and CMA-ES look for the same three parameters, with the same number of
    evaluations.

    Attributes:
        replicates: Runs of each.
        evaluations: Of each run.
        genetic: The genetic algorithm; its generations follow from the evaluations.
        adaptive: CMA-ES; likewise.
        snake: The body.
        seconds: Each individual swims for so long [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "best": Quantity("m", "best fitness so far", ("sample",), (0,)),
        "evaluations": Quantity("1", "evaluations so far", ("sample",), (0,)),
    }
    SAMPLES: ClassVar[int] = 500

    replicates: int = Field(18, ge=2)
    evaluations: int = Field(12000, ge=240)
    genetic: Genetic = Genetic()
    adaptive: Adaptive = Adaptive(population=24)
    snake: Snake = Snake()
    seconds: float = Field(10.0, gt=0.0)

    def jobs(self) -> Iterator[Job]:
        """Every replicate of both."""
        return self.cross(method=("genetic", "CMA-ES"), replicate=range(self.replicates))

    def evaluate(self, genes: Array) -> Array:
        """Distance swum along x (equation 7.4)."""
        swimmers = FastSwimmers(self.snake, len(genes))
        start = swimmers.centre[:, 0].copy()
        swimmers.swim([0.0], shared_waves(genes, self.snake.joints)[None], self.seconds)
        return score(swimmers, swimmers.centre[:, 0] - start)

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
        """Evaluations of each run until it had that share of the best of all; infinite if it never had."""
        goal = share * float(results["best"].max())
        there = results["best"].values >= goal
        counts = np.where(there.any(axis=1), results["evaluations"].values[0][there.argmax(axis=1)], np.inf)
        return {name: counts[results["method"].values == name] for name in ("genetic", "CMA-ES")}

    def figure(self, results: xr.Dataset) -> Figure:
        """Best distance so far over evaluations: median and range of the middle half of the replicates."""
        figure, (axes,) = canvas()
        counts = results["evaluations"].values[0]
        for colour, name in zip(COLOURS, ("genetic", "CMA-ES"), strict=False):
            best = results["best"].values[results["method"].values == name]
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
        """Evaluations to 99% of the best; runs that never had it count as needing all."""
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


@study("water.pareto", source="beyond the source; its section 7.7")
class PriceOfSpeed(Study):
    """What does speed cost?

    NSGA-II looks for gaits that no other beats both in speed and in cost of transport: the energy that the motors
    spend, net, for each metre and each kilogram.

    Attributes:
        replicates: How many runs; their fronts are joined.
        nsga: The algorithm.
        snake: The body.
        seconds: Each individual swims for so long [s].
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

    replicates: int = Field(6, ge=1)
    nsga: Pareto = Pareto()
    snake: Snake = Snake()
    seconds: float = Field(10.0, gt=0.0)

    def jobs(self) -> Iterator[Job]:
        """Every replicate."""
        return self.cross(replicate=range(self.replicates))

    def evaluate(self, genes: Array) -> Array:
        """Speed [m/s] and negative cost of transport [J/(kg*m)]: (individuals, 2)."""
        swimmers = FastSwimmers(self.snake, len(genes))
        start = swimmers.centre[:, 0].copy()
        swimmers.swim([0.0], shared_waves(genes, self.snake.joints)[None], self.seconds)
        way = swimmers.centre[:, 0] - start
        kinetic = 0.5 * self.snake.mass * (swimmers.velocity**2).sum(axis=1)
        cost = (swimmers.heat + kinetic) / (self.snake.mass * np.maximum(way, 1e-3))
        good = (swimmers.drive >= FOLLOWED) & ~swimmers.exploded & (way > 0.01 * self.snake.arclength)
        return np.where(good[:, None], np.stack([way / self.seconds, -cost], axis=1), (-1.0, -1e6))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Search once; the front is filled up with nothing to the size of the population."""
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
        """Speed, cost and genes of what no other of all replicates beats, by rising speed."""
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
        axes[0].set(xlabel="mean speed over 10 s [m/s]", ylabel="cost of transport [J/(kg m)]", ylim=(0, None))
        for k, name in enumerate(("amplitude [rad]", "frequency [Hz]", "phase [rad]")):
            axes[1].plot(speed, genes[:, k], "o", markersize=3, color=COLOURS[k], label=name)
        axes[1].set(xlabel="mean speed over 10 s [m/s]", ylim=(0, None))
        for each in axes:
            each.legend(frameon=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Speed has its price; the source's gaits are beaten."""
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
        names = ("amplitude", "frequency", "phase")
        gaits = {"cheapest.toml": genes[0], "fastest.toml": genes[-1]}
        return {
            name: gait_text(Gait(**dict(zip(names, row.tolist(), strict=True))), self.snake)
            for name, row in gaits.items()
        }
