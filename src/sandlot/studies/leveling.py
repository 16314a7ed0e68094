"""The studies of the leveling world: Cook (2017), figures 4.1 to 4.5, and how it scales."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pydantic import Field

from sandlot.control.leveling import LevelingController, Rule
from sandlot.physics.swarm import MOVED
from sandlot.recordings import Quantity
from sandlot.settings import build
from sandlot.studies.base import Claim, Job, Picture, Study, study
from sandlot.studies.plots import COLOURS, bars, blocks, canvas, curve
from sandlot.studies.statistics import Comparison, compare
from sandlot.worlds.leveling import Leveling, LevelingSettings

Probability = Annotated[float, Field(gt=0.0, le=1.0)]
Positive = Annotated[float, Field(gt=0.0)]
Count = Annotated[int, Field(ge=1)]


class LevelingStudy(Study):
    """What the leveling studies share: a terrain, a swarm, and runs until it is flat.

    Attributes:
        world: Settings of the world.
        terrain_seed: Which terrain; the same one for every job, unless the study says otherwise.
        replicates: Runs for each value.
        max_cycles: A run that is not flat by then is cut, and counted as such.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "cycles": Quantity("cycle", "cycles until flat"),
        "moved": Quantity("unit", "units moved"),
        "flat": Quantity("1", "whether it became flat"),
    }

    world: LevelingSettings = LevelingSettings()
    terrain_seed: int = Field(0, ge=0)
    replicates: int = Field(30, ge=1)
    max_cycles: int = Field(20_000_000, ge=2)

    def level(self, rule: Rule, seed: np.random.SeedSequence, world: LevelingSettings, terrain_seed: int) -> Leveling:
        """Let a swarm follow a rule until the terrain is flat."""
        place, controller = self.begin(rule, seed, world, terrain_seed)
        place.run(controller, self.max_cycles)
        return place

    def begin(
        self, rule: Rule, seed: np.random.SeedSequence, world: LevelingSettings, terrain_seed: int
    ) -> tuple[Leveling, LevelingController]:
        """A world at its start, and the controller for it."""
        place_seed, rule_seed = seed.spawn(2)
        place = Leveling(**world.model_dump())
        heights = world.heights(np.random.default_rng(terrain_seed))
        place.reset(seed=int(place_seed.generate_state(1)[0]), options={"heights": heights})
        return place, LevelingController(rule, world.agents, rule_seed)

    def measure(self, place: Leveling) -> dict[str, float]:
        """The outcomes of a run."""
        return {"cycles": place.cycles, "moved": place.swarm.tally[MOVED], "flat": place.flat}

    def example(self) -> Rule:
        """The rule that the scenes show."""
        return Rule()

    def scenes(self) -> Iterator[Picture]:
        """The terrain before and after, and how flat it was in between."""
        place, controller = self.begin(self.example(), np.random.SeedSequence(self.seed), self.world, self.terrain_seed)
        before, trace = place.swarm.heights.copy(), []
        while not place.flat and place.cycles < self.max_cycles:
            trace.append((place.cycles, np.ptp(place.swarm.heights), place.swarm.heights.std()))
            # Finer steps at the start, where most happens.
            place.run(controller, 2 * (1 + place.cycles // 100))
        trace.append((place.cycles, np.ptp(place.swarm.heights), place.swarm.heights.std()))
        after, agents = place.swarm.heights, self.world.agents

        terrains = Figure(figsize=(9.0, 3.8), layout="constrained")
        blocks(terrains, (1, 2, 1), before, "before", before.max())
        blocks(terrains, (1, 2, 2), after, f"after {place.cycles:,} cycles", before.max())
        ny, nx = before.shape
        yield Picture(f"A {nx} x {ny} terrain before and after {agents} agents have leveled it.", terrains)

        cycles, spread, deviation = np.array(trace).T
        figure, (axes,) = canvas()
        axes.step(cycles, spread, where="post", color=COLOURS[1], label="height range (flat: at most 1)")
        axes.plot(cycles, deviation, color=COLOURS[0], label="standard deviation of height")
        axes.set(xlabel="cycles", ylabel="[unit]", ylim=(0, None))
        axes.legend(frameon=False)
        yield Picture("How flat the terrain of that run was over time.", figure)


def groups(results: xr.Dataset, by: str, quantity: str) -> dict[float, NDArray[np.float64]]:
    """The values of ``quantity`` for each value of the parameter ``by``, in order."""
    return {float(v): results[quantity].values[results[by].values == v] for v in np.unique(results[by].values)}


def compare_with_fastest(results: xr.Dataset, by: str) -> list[Comparison]:
    """Cycles at each value of a parameter against the value with the fewest."""
    cycles = {f"{value:g}": group for value, group in groups(results, by, "cycles").items()}
    fastest = min(cycles, key=lambda name: float(cycles[name].mean()))
    return compare(cycles, fastest, "cycles")


def claim_u_shape(results: xr.Dataset, by: str, comparisons: list[Comparison]) -> Claim:
    """Whether both ends of a curve are significantly slower than its minimum."""
    values = [f"{value:g}" for value in np.unique(results[by].values)]
    slower = {c.group: c for c in comparisons}
    ends = [slower[end] for end in (values[0], values[-1]) if end in slower]
    measured = "; ".join(f"{100 * (c.ratio - 1):+.0f}% at {c.group} (p={c.p:.2g})" for c in ends)
    fastest = comparisons[0].baseline
    return Claim(
        "The curve is U-shaped: both of its ends need more cycles than its minimum.",
        "U-shaped",
        measured,
        len(ends) == 2 and all(c.above() for c in ends),
        f"Mann-Whitney U against {fastest}, Holm-corrected, p < 0.05",
    )


def claim_minimum(results: xr.Dataset, by: str, source: float, comparisons: list[Comparison]) -> Claim:
    """Whether the minimum is where the source has it, give or take one step of the grid."""
    values = np.unique(results[by].values)
    fastest = float(comparisons[0].baseline)
    step = float(np.diff(values).max())
    here = next((c for c in comparisons if c.group == f"{source:g}"), None)
    beside = f"; {source:g} needs {100 * (here.ratio - 1):+.1f}% (p={here.p:.2g})" if here else ""
    return Claim(
        f"Cycles are fewest near {source:g}.",
        source,
        fastest,
        abs(fastest - source) <= step * (1 + 1e-9),
        f"near: within one step of the grid, {step:g}{beside}",
    )


def draw_cycles(results: xr.Dataset, by: str, label: str, source: float) -> Figure:
    """Cycles over a parameter, with the source's minimum marked."""
    figure, (axes,) = canvas()
    curve(axes, groups(results, by, "cycles"), label="mean and 95% confidence interval")
    axes.axvline(source, color=COLOURS[5], linestyle=":", label=f"the source's minimum, {source:g}")
    axes.set(xlabel=label, ylabel="cycles until flat")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.legend(frameon=False)
    return figure


@study("leveling.probabilities", source="Cook 2017, figure 4.2")
class Probabilities(LevelingStudy):
    """How often should an agent act on what it sees?

    Pick-up and put-down happen with the same constant probability. An agent that always acts shuffles material
    between neighbours; one that rarely acts walks further before it does, and wastes its time if too rarely.
    """

    probabilities: tuple[Probability, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

    def jobs(self) -> Iterator[Job]:
        """Every probability, ``replicates`` times."""
        return self.cross(probability=self.probabilities, replicate=range(self.replicates))

    def run(self, job: Job) -> dict[str, float]:
        """Level the terrain once."""
        probability = float(job.parameters["probability"])
        rule = Rule(pick_up=probability, put_down=probability)
        return self.measure(self.level(rule, job.seed, self.world, self.terrain_seed))

    def figure(self, results: xr.Dataset) -> Figure:
        """Cycles over probability."""
        return draw_cycles(results, "probability", "probability of picking up and putting down", 0.3)

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Each probability against the fastest."""
        return compare_with_fastest(results, "probability")

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """A U-shaped curve with its minimum at 0.3."""
        tests = self.comparisons(results)
        return [
            claim_u_shape(results, "probability", tests),
            claim_minimum(results, "probability", 0.3, tests),
        ]


@study("leveling.steepness", source="Cook 2017, figure 4.3")
class Steepness(LevelingStudy):
    """How steeply should the chance to act depend on height?

    An agent picks up with probability (h / (k + h))^2 and puts down with (k / (k + h))^2, h being the height beneath
    it: high cells invite picking up, low ones putting down, and k is the height where both are equally likely.
    """

    steepnesses: tuple[Positive, ...] = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20)

    def jobs(self) -> Iterator[Job]:
        """Every k, ``replicates`` times."""
        return self.cross(k=self.steepnesses, replicate=range(self.replicates))

    def run(self, job: Job) -> dict[str, float]:
        """Level the terrain once."""
        rule = Rule(steepness=float(job.parameters["k"]))
        return self.measure(self.level(rule, job.seed, self.world, self.terrain_seed))

    def example(self) -> Rule:
        """The source's best."""
        return Rule(steepness=6.0)

    def figure(self, results: xr.Dataset) -> Figure:
        """Cycles over k."""
        return draw_cycles(results, "k", "k [unit]", 6.0)

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Each k against the fastest."""
        return compare_with_fastest(results, "k")

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """A U-shaped curve with its minimum at k = 6."""
        tests = self.comparisons(results)
        return [claim_u_shape(results, "k", tests), claim_minimum(results, "k", 6.0, tests)]


RULES = {
    "probabilistic": Rule(kind="probabilistic"),
    "memetic, one each": Rule(kind="memetic"),
    "memetic, pool of five": Rule(kind="pool"),
}


@study("leveling.memetic", source="Cook 2017, figures 4.4 and 4.5")
class Memetic(LevelingStudy):
    """Do evolved sequences of actions move less material?

    The probabilistic rule at 0.3 against both memetic rules, on several terrains. What is saved depends on the mean
    height: the closer it is to a whole number, the fewer cells of a nearly flat terrain lie on the rarer of its two
    levels, the longer an agent searches for one, and the less an evolved sequence has ahead of plain chance.

    Attributes:
        terrains: On how many terrains; their seeds follow ``terrain_seed``.
    """

    terrains: int = Field(3, ge=1)

    def jobs(self) -> Iterator[Job]:
        """Every terrain and rule, ``replicates`` times."""
        return self.cross(terrain=range(self.terrains), rule=RULES, replicate=range(self.replicates))

    def run(self, job: Job) -> dict[str, float]:
        """Level one of the terrains once."""
        terrain_seed = self.terrain_seed + int(job.parameters["terrain"])
        return self.measure(self.level(RULES[str(job.parameters["rule"])], job.seed, self.world, terrain_seed))

    def example(self) -> Rule:
        """The thriftier of the memetic rules."""
        return Rule(kind="pool")

    def figure(self, results: xr.Dataset) -> Figure:
        """Units moved, and cycles, for each terrain and rule."""
        figure, axes = canvas(2, width=9.5)
        for each, quantity, label in zip(axes, ("moved", "cycles"), ("units moved", "cycles until flat"), strict=True):
            bars(each, {self._name(t): self._by_rule(results, t, quantity) for t in range(self.terrains)})
            each.set(ylabel=label)
            each.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            each.grid(visible=False, axis="x")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
        return figure

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Both memetic rules against the probabilistic one, on each terrain."""
        return [
            test
            for quantity in ("moved", "cycles")
            for t in range(self.terrains)
            for test in compare(self._by_rule(results, t, quantity), "probabilistic", f"{quantity}, terrain {t + 1}")
        ]

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Fewer units and more cycles, for each memetic rule."""
        tests = self.comparisons(results)
        found = []
        for rule in list(RULES)[1:]:
            for quantity, words, source in (
                ("moved", "moves fewer units", "fewer"),
                ("cycles", "needs more cycles", "more"),
            ):
                mine = [c for c in tests if c.group == rule and c.quantity.startswith(quantity)]
                measured = ", ".join(f"{c.ratio:.2f}x (p={c.p:.2g})" for c in mine)
                holds = all(c.below() if source == "fewer" else c.above() for c in mine)
                note = "on every terrain, Mann-Whitney U, Holm-corrected, p < 0.05"
                found.append(
                    Claim(f"The rule '{rule}' {words} than the probabilistic one.", source, measured, holds, note)
                )
        return found

    def _name(self, terrain: int) -> str:
        """A terrain with its mean height, which decides how much there is to save."""
        mean = self.world.heights(np.random.default_rng(self.terrain_seed + terrain)).mean()
        return f"terrain {terrain + 1}\nmean height {mean:.2f}"

    def _by_rule(self, results: xr.Dataset, terrain: int, quantity: str) -> dict[str, NDArray[np.float64]]:
        here = results.isel(job=results["terrain"].values == terrain)
        return {rule: here[quantity].values[here["rule"].values == rule] for rule in RULES}


@study("leveling.scaling", source="not in Cook 2017")
class Scaling(LevelingStudy):
    """How does the work grow with the terrain, and shrink with the swarm?

    The probabilistic rule at 0.3, on terrains of the same kind but different size. ``world.sensing`` is what agents use
    on 32 x 32 cells; on other sizes it is changed in inverse proportion to the number of cells, so that eight stored
    heights always come from all over the terrain.

    Attributes:
        sizes: Cells along each side.
        swarms: Numbers of agents.
    """

    sizes: tuple[Count, ...] = (16, 32, 64, 128, 256)
    swarms: tuple[Count, ...] = (1, 2, 4, 8, 16, 32, 64)
    replicates: int = Field(3, ge=1)
    max_cycles: int = Field(20_000_000_000, ge=2)

    def jobs(self) -> Iterator[Job]:
        """Every size and swarm, ``replicates`` times."""
        return self.cross(size=self.sizes, agents=self.swarms, replicate=range(self.replicates))

    def run(self, job: Job) -> dict[str, float]:
        """Level a terrain of one size with one swarm."""
        size, agents = int(job.parameters["size"]), int(job.parameters["agents"])
        sensing = min(1.0, self.world.sensing * (32 / size) ** 2)
        changes = {"shape": (size, size), "agents": agents, "sensing": sensing}
        world = build(LevelingSettings, self.world.model_dump() | changes)
        return self.measure(self.level(Rule(), job.seed, world, self.terrain_seed))

    def figure(self, results: xr.Dataset) -> Figure:
        """Cycles over agents, and the work of all agents over cells."""
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
        """Nothing to compare with: what the exponents are, and whether agents hinder each other."""
        exponents = {}
        for size in self.sizes:
            cycles = groups(results.isel(job=results["size"].values == size), "agents", "cycles")
            exponents[size] = _exponent(cycles)
        work = results.assign(work=results["cycles"] * results["agents"], cells=results["size"] ** 2)
        growth = _exponent(groups(work, "cells", "work"))
        measured = ", ".join(f"{value:.2f} on {size} x {size}" for size, value in exponents.items())
        return [
            Claim(
                "Agents do not hinder each other: cycles fall with agents to the power -1.",
                "not studied",
                measured,
                all(abs(value + 1.0) <= 0.1 for value in exponents.values()),
                "within 0.1, by a straight line through the logarithms",
            ),
            Claim(
                "The work of all agents grows faster than the number of cells: with a power above 1.",
                "not studied",
                round(growth, 3),
                growth > 1.0,
                "by a straight line through the logarithms",
            ),
        ]


def _exponent(groups: Mapping[float, NDArray[np.float64]]) -> float:
    """The power with which the means of groups grow; 0 for a single group."""
    if len(groups) < 2:
        return 0.0
    return float(np.polyfit(np.log(list(groups)), np.log([group.mean() for group in groups.values()]), 1)[0])
