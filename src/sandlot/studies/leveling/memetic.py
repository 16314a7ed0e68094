"""Evolved sequences of actions compared with the probabilistic rule, and the effect of the mean height."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

from sandlot.control.leveling import Rule
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Job, study
from sandlot.studies.leveling.base import LevelingStudy, groups, uncut
from sandlot.studies.plots import COLOURS, bars, canvas, curve, thousands
from sandlot.studies.statistics import Comparison, compare

FRACTIONS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
Fraction = Annotated[float, Field(ge=0.0, lt=1.0)]
RULES = {
    "probabilistic": Rule(kind="probabilistic"),
    "memetic, one each": Rule(kind="memetic"),
    "memetic, pool of five": Rule(kind="pool"),
}


@study("leveling.memetic", source="Cook 2017, figures 4.4 and 4.5")
class Memetic(LevelingStudy):
    """Do evolved sequences of actions move less material?

    The probabilistic rule at 0.3 against both memetic rules, on several terrains. How much they save depends on the
    terrain's mean height; ``leveling.remainder`` looks into that.

    Attributes:
        terrains: Number of terrains; their seeds are ``terrain_seed`` and the following.
    """

    terrains: int = Field(3, ge=1, le=1000)

    def jobs(self) -> Iterator[Job]:
        """Every terrain and rule, ``replicates`` times."""
        return self.cross(terrain=range(self.terrains), rule=RULES, replicate=range(self.replicates))

    def run(self, job: Job) -> dict[str, float]:
        """Level one of the terrains once."""
        heights = self.terrain(int(job.parameters["terrain"]))
        return self.level(RULES[str(job.parameters["rule"])], job, heights, self.world)

    def example(self) -> Rule:
        """The memetic rule that moves less material."""
        return Rule(kind="pool")

    def figure(self, results: xr.Dataset) -> Figure:
        """Units moved, and cycles until flat, for each terrain and rule: means with 95% confidence intervals."""
        figure, axes = canvas(2, width=9.5)
        for each, quantity, label in zip(axes, ("moved", "cycles"), ("units moved", "cycles until flat"), strict=True):
            bars(each, {self._name(t): self._by_rule(results, t, quantity) for t in range(self.terrains)})
            each.set(ylabel=label)
            each.yaxis.set_major_formatter(thousands)
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
                measured = "; ".join(f"terrain {t}: {c.ratio:.2f}x (p={c.p:.2g})" for t, c in enumerate(mine, start=1))
                holds = all(c.below() if source == "fewer" else c.above() for c in mine)
                note = "on every terrain, Mann-Whitney U, Holm-corrected, p < 0.05"
                found.append(
                    Claim(f"The rule '{rule}' {words} than the probabilistic one.", source, measured, holds, note)
                )
        return uncut(results, found)

    def _name(self, terrain: int) -> str:
        """A terrain and its mean height, on which the savings depend."""
        return f"terrain {terrain + 1}\nmean {self.terrain(terrain).mean():.2f}"

    def _by_rule(self, results: xr.Dataset, terrain: int, quantity: str) -> dict[str, NDArray[np.float64]]:
        here = results.isel(job=results["terrain"].values == terrain)
        return {rule: here[quantity].values[here["rule"].values == rule] for rule in RULES}


@study("leveling.remainder", source="a question beyond Cook 2017")
class Remainder(LevelingStudy):
    """Why do evolved sequences save material on some terrains and not on others?

    The mean height of a terrain determines how many of its cells end on each of the two levels of the flat state. If it
    is close to a whole number, one of the levels is rare. Here units are removed from, or added to, random cells of one
    terrain until the fractional part of its mean height has a given value; then the rules of ``leveling.memetic`` level
    it.

    Attributes:
        fractions: Fractional parts of the mean height [unit].
    """

    fractions: Annotated[tuple[Fraction, ...], Field(min_length=3), AfterValidator(distinct)] = FRACTIONS
    replicates: int = Field(10, ge=1, le=10_000)

    def jobs(self) -> Iterator[Job]:
        """Every fraction and rule, ``replicates`` times."""
        return self.cross(fraction=self.fractions, rule=RULES, replicate=range(self.replicates))

    def run(self, job: Job) -> dict[str, float]:
        """Level the terrain once, with the job's mean height and rule."""
        heights = self.shifted(float(job.parameters["fraction"]))
        return self.level(RULES[str(job.parameters["rule"])], job, heights, self.world)

    def shifted(self, fraction: float) -> NDArray[np.int16]:
        """The terrain with a given fractional part of the mean height."""
        heights = self.terrain()
        excess = int(heights.sum()) - round((heights.sum() // heights.size + fraction) * heights.size)
        cells = np.flatnonzero(heights > 0) if excess > 0 else np.arange(heights.size)
        chosen = np.random.default_rng(self.terrain_seed).choice(cells, abs(excess), replace=False)
        heights.flat[chosen] -= np.sign(excess)
        return heights

    def figure(self, results: xr.Dataset) -> Figure:
        """Units moved and cycles of the memetic rules, relative to the probabilistic one: means with 95% intervals."""
        figure, axes = canvas(2, width=9.5)
        for each, quantity, label in zip(axes, ("moved", "cycles"), ("units moved", "cycles until flat"), strict=True):
            for colour, rule in zip(COLOURS[1:], list(RULES)[1:], strict=False):
                curve(each, self._relative(results, rule, quantity), colour, rule)
            each.axhline(1.0, color=COLOURS[0], label="probabilistic")
            each.set(xlabel="fraction of the mean height [unit]", ylabel=f"{label}, ratio of means")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Savings are largest at a fraction of 0.5."""
        found = []
        whole = min(self.fractions, key=lambda fraction: min(fraction, 1.0 - fraction))
        middle = min(self.fractions, key=lambda fraction: abs(fraction - 0.5))
        for rule in list(RULES)[1:]:
            moved = self._relative(results, rule, "moved")
            near, far = moved[whole], moved[middle]
            (test,) = compare({"near": near, "far": far}, "far", "moved")
            found.append(
                Claim(
                    f"The rule '{rule}' saves less material when the mean height is close to a whole number.",
                    "not studied",
                    f"moves {near.mean():.2f}x at {whole:g}, {far.mean():.2f}x at {middle:g} (p={test.p:.2g})",
                    test.above(),
                    "units moved, relative to the mean of the probabilistic rule; Mann-Whitney U, p < 0.05",
                )
            )
        return uncut(results, found)

    def _relative(self, results: xr.Dataset, rule: str, quantity: str) -> dict[float, NDArray[np.float64]]:
        """Each run of a rule over the mean of the probabilistic one, for each fraction."""
        mine = groups(results.isel(job=results["rule"].values == rule), "fraction", quantity)
        base = groups(results.isel(job=results["rule"].values == "probabilistic"), "fraction", quantity)
        return {fraction: mine[fraction] / base[fraction].mean() for fraction in mine}
