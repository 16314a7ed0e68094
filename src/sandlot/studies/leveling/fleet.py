"""Leveling by driving alone, with swarms of any size and for hours."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, Value, pick, study
from sandlot.studies.leveling.passive import RULES, SOILS, last
from sandlot.studies.leveling.swarm import OUTCOMES, Case, Hills, drive
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.statistics import holm
from sandlot.typing import Array

LONG_RULES = ("walk", "spin")
Sizes = Annotated[tuple[Annotated[int, Field(ge=1, le=1000)], ...], Field(min_length=2), AfterValidator(distinct)]


@study("leveling.fleet", source="Cook 2017, section 7.1.1")
class Fleet(Study):
    """Does a larger swarm, or more time, level a terrain by driving alone?

    The rules and the terrain of ``leveling.passive``, in the learned world, where rovers do not collide. Every size of
    the swarm gets the same robot time, and hills of its own, so that rules are compared in pairs: the same number of
    rovers on the same hills. The longest runs show what hours do.

    Attributes:
        hills: The terrain.
        rovers: Sizes of the swarm.
        minutes: Robot time of a run: that of all rovers together [min].
        long_rovers: Rovers in the longest runs.
        long_minutes: Robot time of these [min].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = OUTCOMES

    hills: Hills = Hills()
    rovers: Sizes = (1, 2, 4, 8, 16, 32)
    minutes: float = Field(20.0, gt=0.0, le=10_000.0)
    long_rovers: int = Field(8, ge=1, le=1000)
    long_minutes: float = Field(600.0, gt=0.0, le=10_000.0)

    def jobs(self) -> Iterator[Job]:
        """Every soil, size and rule; then the longest runs."""
        cases: list[dict[str, Value]] = [
            {"part": "size", "soil": soil, "rovers": rovers, "rule": rule, "minutes": self.minutes, "terrain": k}
            for soil in SOILS
            for k, rovers in enumerate(self.rovers)
            for rule in RULES
        ]
        cases += [
            {
                "part": "long",
                "soil": soil,
                "rovers": self.long_rovers,
                "rule": rule,
                "minutes": self.long_minutes,
                "terrain": 0,
            }
            for soil in SOILS
            for rule in LONG_RULES
        ]
        return self.each(cases)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Let rovers drive in one of the cases."""
        p = job.parameters
        case = Case(
            "learned", str(p["soil"]), str(p["rule"]), int(p["rovers"]), float(p["minutes"]), terrain=int(p["terrain"])
        )
        return drive(case, self.hills, job.seed)

    def figure(self, results: xr.Dataset) -> Figure:
        """Left: height lost of the hills by size of the swarm. Right: heights, hills and ruts in the longest runs."""
        figure, axes = canvas(4, 14.0, 4.1)
        for panel, soil in zip(axes[:2], SOILS, strict=True):
            for colour, rule in zip(COLOURS, RULES, strict=False):
                panel.plot(self.rovers, self._lost(results, soil, rule), "o-", color=colour, label=rule)
            panel.axhline(0.0, color="0.5", linewidth=0.7)
            panel.set(xscale="log", xlabel="rovers", ylabel="height lost of the hills [%]", title=f"{soil} soil")
            panel.set_xticks(self.rovers, [str(n) for n in self.rovers])
            panel.minorticks_off()
        for panel, soil in zip(axes[2:], SOILS, strict=True):
            for rule, line in zip(LONG_RULES, ("--", "-"), strict=True):
                one = pick(results, part="long", soil=soil, rule=rule).isel(job=0)
                for colour, (name, label) in zip(
                    COLOURS, {"height_sd": "all", "hill_sd": "hills", "rut_sd": "ruts"}.items(), strict=False
                ):
                    text = f"{label}, {rule}" if soil == SOILS[0] else None
                    panel.plot(one["time"] / 60.0, 1000.0 * one[name], line, color=colour, label=text)
            panel.set(xlabel="robot time [min]", ylabel="standard deviation [mm]", ylim=(0, None), title=f"{soil} soil")
        kept: dict[str, Any] = {"frameon": False, "fontsize": 8}
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower left", ncols=4, **kept)
        figure.legend(*axes[2].get_legend_handles_labels(), loc="outside lower right", ncols=6, **kept)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Whether hours level a terrain, whether size matters, and whether the rules do."""
        return [*self._hours(results), *self._rules(results), self._size(results)]

    def _lost(self, results: xr.Dataset, soil: str, rule: str) -> Array:
        """Height lost of the hills [%], by size of the swarm."""
        mine = pick(results, part="size", soil=soil, rule=rule)
        return np.asarray(100.0 * (1.0 - mine["left"].isel(sample=-1).values))

    def _hours(self, results: xr.Dataset) -> Iterator[Claim]:
        for soil in SOILS:
            change, left = {}, {}
            for rule in LONG_RULES:
                one = pick(results, part="long", soil=soil, rule=rule).isel(job=0)
                change[rule] = 100.0 * (last(one)["height_sd"] / float(one["height_sd"][0]) - 1.0)
                left[rule] = 100.0 * (1.0 - last(one)["left"])
            yield Claim(
                f"Hours of robot time level a terrain, {soil} soil: the standard deviation of heights falls.",
                "conjectured",
                ", ".join(f"{rule}: {value:+.3g}%" for rule, value in change.items()),
                change["spin"] < 0.0,
                f"after {self.long_minutes:g} min of robot time, by the rule spin; walk is at random; lost of the "
                "hills: " + ", ".join(f"{rule}: {value:.3g}%" for rule, value in left.items()),
            )

    def _rules(self, results: xr.Dataset) -> Iterator[Claim]:
        pairs = (("charge", "walk"), ("spin", "charge"), ("memory", "spin"))
        lost = {(soil, rule): self._lost(results, soil, rule) for soil in SOILS for rule in RULES}
        gains = {pair: {soil: lost[soil, pair[0]] - lost[soil, pair[1]] for soil in SOILS} for pair in pairs}
        p_values = holm([_signed_rank(np.concatenate(list(gains[pair].values()))) for pair in pairs])
        for (better, worse), p in zip(pairs, p_values, strict=True):
            medians = {soil: float(np.median(gain)) for soil, gain in gains[better, worse].items()}
            yield Claim(
                f"The rule '{better}' lowers hills more than '{worse}', with swarms of any size.",
                "conjectured",
                ", ".join(f"{soil}: {median:+.2g}%" for soil, median in medians.items()) + f" (p={p:.2g})",
                bool(p < 0.05) and min(medians.values()) > 0.0,
                "median difference of the height lost of the hills, on the same hills with the same number of rovers; "
                "Wilcoxon's signed-rank test on both soils together, Holm-corrected, p < 0.05",
            )

    def _size(self, results: xr.Dataset) -> Claim:
        tests = {}
        for soil in SOILS:
            lost = np.concatenate([self._lost(results, soil, rule) for rule in RULES if rule != "walk"])
            from scipy import stats  # loaded when needed: it takes a second, in each worker

            tests[soil] = stats.spearmanr(np.tile(self.rovers, len(RULES) - 1), lost)
        return Claim(
            "At the same robot time, the size of the swarm does not matter.",
            "not studied",
            ", ".join(
                f"{soil}: {float(test.statistic):+.2f} (p={float(test.pvalue):.2g})" for soil, test in tests.items()
            ),
            all(test.pvalue > 0.05 for test in tests.values()),
            "Spearman's correlation of the number of rovers with the height lost of the hills, all rules; p > 0.05",
        )


def _signed_rank(differences: Array) -> float:
    """Wilcoxon's signed-rank test, two-sided; 1 if all differences are zero."""
    from scipy import stats  # loaded when needed: it takes a second, in each worker

    return float(stats.wilcoxon(differences).pvalue) if np.any(differences) else 1.0
