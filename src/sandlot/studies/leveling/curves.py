"""Cycles until flat over the probability of acting, and over how steeply it depends on height."""

from collections.abc import Iterator
from typing import Annotated

import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.control.leveling import Rule
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Job, study
from sandlot.studies.leveling.base import LevelingStudy, groups, uncut
from sandlot.studies.plots import COLOURS, canvas, curve, thousands
from sandlot.studies.statistics import Comparison, compare

PROBABILITIES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
STEEPNESSES = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
Probability = Annotated[float, Field(gt=0.0, le=1.0)]
Positive = Annotated[float, Field(gt=0.0)]


def _name(value: float) -> str:
    """A value as text, in its short form if that is exact."""
    return f"{value:g}" if float(f"{value:g}") == value else str(value)


def compare_with_fastest(results: xr.Dataset, by: str) -> list[Comparison]:
    """Cycles at each value of a parameter against the value with the fewest."""
    cycles = {_name(value): group for value, group in groups(results, by, "cycles").items()}
    fastest = min(cycles, key=lambda name: float(cycles[name].mean()))
    return compare(cycles, fastest, "cycles")


def claim_u_shape(results: xr.Dataset, by: str, comparisons: list[Comparison]) -> Claim:
    """Whether both ends of a curve are significantly slower than its minimum."""
    values = [_name(value) for value in groups(results, by, "cycles")]
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


def claim_minimum(source: float, within: float, comparisons: list[Comparison]) -> Claim:
    """Whether the minimum is at the source's value, within a tolerance."""
    fastest = float(comparisons[0].baseline)
    here = next((c for c in comparisons if float(c.group) == source), None)
    beside = f"; {source:g} needs {100 * (here.ratio - 1):+.1f}% (p={here.p:.2g})" if here else ""
    return Claim(
        f"Cycles are fewest near {source:g}.",
        source,
        fastest,
        abs(fastest - source) <= within * (1 + 1e-9),
        f"near: within {within:g}{beside}",
    )


def draw_cycles(results: xr.Dataset, by: str, label: str, source: float) -> Figure:
    """Cycles over a parameter, with the source's minimum marked."""
    figure, (axes,) = canvas()
    curve(axes, groups(results, by, "cycles"), label="mean and 95% confidence interval")
    axes.axvline(source, color=COLOURS[5], linestyle=":", label=f"the source's minimum, {source:g}")
    axes.set(xlabel=label, ylabel="cycles until flat")
    axes.yaxis.set_major_formatter(thousands)
    axes.legend(frameon=False)
    return figure


@study("leveling.probabilities", source="Cook 2017, figure 4.2")
class Probabilities(LevelingStudy):
    """How often should an agent act on what it senses?

    Pick-up and put-down happen with the same constant probability. An agent that always acts shuffles material
    between neighbouring cells; one that rarely acts carries it further, but wastes time if it acts too rarely.

    Attributes:
        probabilities: At least three values.
    """

    probabilities: Annotated[tuple[Probability, ...], Field(min_length=3), AfterValidator(distinct)] = PROBABILITIES

    def jobs(self) -> Iterator[Job]:
        """Every probability, ``replicates`` times."""
        return self.cross(probability=self.probabilities, replicate=range(self.replicates))

    def run(self, job: Job) -> dict[str, float]:
        """Level the terrain once."""
        probability = float(job.parameters["probability"])
        rule = Rule(pick_up=probability, put_down=probability)
        return self.level(rule, job, self.terrain(), self.world)

    def figure(self, results: xr.Dataset) -> Figure:
        """Cycles until flat, over the probability of acting."""
        return draw_cycles(results, "probability", "probability of picking up and putting down", 0.3)

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Each probability against the fastest."""
        return compare_with_fastest(results, "probability")

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """A U-shaped curve with its minimum at 0.3."""
        tests = self.comparisons(results)
        found = [claim_u_shape(results, "probability", tests), claim_minimum(0.3, 0.1, tests)]
        return uncut(results, found)


@study("leveling.steepness", source="Cook 2017, figure 4.3")
class Steepness(LevelingStudy):
    """How steeply should the chance to act depend on height?

    An agent picks up with probability (h / (k + h))^2 and puts down with (k / (k + h))^2, where h is the height of its
    cell. On high cells it rather picks up, on low ones it rather puts down; at height k both are equally likely.

    Attributes:
        steepnesses: At least three values of k [unit].
    """

    steepnesses: Annotated[tuple[Positive, ...], Field(min_length=3), AfterValidator(distinct)] = STEEPNESSES

    def jobs(self) -> Iterator[Job]:
        """Every k, ``replicates`` times."""
        return self.cross(k=self.steepnesses, replicate=range(self.replicates))

    def run(self, job: Job) -> dict[str, float]:
        """Level the terrain once."""
        rule = Rule(steepness=float(job.parameters["k"]))
        return self.level(rule, job, self.terrain(), self.world)

    def example(self) -> Rule:
        """The source's best."""
        return Rule(steepness=6.0)

    def figure(self, results: xr.Dataset) -> Figure:
        """Cycles until flat, over k."""
        return draw_cycles(results, "k", "k [unit]", 6.0)

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Each k against the fastest."""
        return compare_with_fastest(results, "k")

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """A U-shaped curve with its minimum at k = 6."""
        tests = self.comparisons(results)
        return uncut(results, [claim_u_shape(results, "k", tests), claim_minimum(6.0, 2.0, tests)])
