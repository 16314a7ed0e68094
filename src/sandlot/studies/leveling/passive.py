"""Can driving alone level a terrain?"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, TypeAlias

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.places.terrains import shade
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Study, Value, pick, study
from sandlot.studies.leveling.flatness import MEASURES, slopes
from sandlot.studies.leveling.swarm import OUTCOMES, REST, SPACING, Case, Hills, drive
from sandlot.studies.plots import COLOURS, canvas

RULES = ("walk", "charge", "spin", "memory")
SOILS = ("soft", "mid")
FIDELITIES = ("reference", "learned")
CHANGES = (
    ("heavy", "mid"),
    ("blade", "mid"),
    ("blade", "soft"),
    ("plain", "loose"),
)
"""Body and soil of what might level better, all with the rule ``spin``."""
RESTING = 0.5
"""Robot time of rovers that rest [min]."""


@study("leveling.passive", source="Cook 2017, section 7.1.1")
class Passive(Study):
    """Can driving alone level a terrain?

    The source conjectures that rovers without a blade or a bucket can level ground if they seek its peaks, and leaves
    it untested. Here they follow its rules: charge up hills, spin at their peaks, or remember peaks and return to the
    highest. Rovers that walk at random, and rovers that stand still, show what any driving does.

    All drive on the same hills of 1.8 m x 1.8 m, which continue at the opposite edge. Waves longer than a rover are
    hills, shorter ones are ruts, so that leveling is told from roughening. The soil keeps its volume and is not
    compacted. In the reference, rovers collide with each other, unless one of them is beyond the edge of the map; in
    the learned world they do not collide.

    Four changes might help: a rover of 6 kg instead of 2, a blade in front of the wheels, on two soils, and soil that
    slides at 15 degrees instead of 30. Soil offers no passive resistance to the blade, so that it is an upper bound.

    Attributes:
        hills: The terrain.
        rovers: Their number.
        minutes: Robot time of a run: that of all rovers together [min].
        step: Of the physics of the reference [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = OUTCOMES

    hills: Hills = Hills()
    rovers: int = Field(4, ge=1, le=100)
    minutes: float = Field(60.0, gt=0.0, le=10_000.0)
    step: float = Field(0.002, gt=0.0, le=0.01)

    def jobs(self) -> Iterator[Job]:
        """Rovers that rest; every fidelity, rule and soil; then what might level better."""
        cases: list[dict[str, Value]] = [
            {"part": "rest", "fidelity": "reference", "rule": REST, "soil": soil, "body": "plain"} for soil in SOILS
        ]
        cases += [
            {"part": "main", "fidelity": fidelity, "rule": rule, "soil": soil, "body": "plain"}
            for fidelity in FIDELITIES
            for rule in RULES
            for soil in SOILS
        ]
        cases += [
            {"part": "change", "fidelity": "reference", "rule": "spin", "soil": soil, "body": body}
            for body, soil in CHANGES
        ]
        # The learned world comes last: it takes seconds.
        return self.each(sorted(cases, key=lambda case: case["fidelity"] == "learned"))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Let rovers drive in one of the cases."""
        given = {name: str(value) for name, value in job.parameters.items()}
        minutes = RESTING if given["part"] == "rest" else self.minutes
        case = Case(
            given["fidelity"], given["soil"], given["rule"], self.rovers, minutes, given["body"], step=self.step
        )
        return drive(case, self.hills, job.seed)

    def figure(self, results: xr.Dataset) -> Figure:
        """Above: terrains, before and after. Below: hills over robot time, and heights and changes at the end."""
        figure, axes = canvas(4, 14.0, 7.0, 2)
        self._draw_terrains(axes[:4], results)
        for panel, soil in zip(axes[4:6], SOILS, strict=True):
            for colour, rule in zip(COLOURS, RULES, strict=False):
                for fidelity, line in zip(FIDELITIES, ("-", "--"), strict=True):
                    one = only(results, part="main", fidelity=fidelity, rule=rule, soil=soil)
                    label = f"{rule}, {fidelity}" if line == "-" else None
                    panel.plot(one["time"] / 60.0, 100.0 * one["left"], line, color=colour, label=label)
            panel.set(xlabel="robot time [min]", ylabel="height left of the hills [%]", title=f"{soil} soil")
        lines, labels = axes[4].get_legend_handles_labels()
        title = "height left of the hills; dashed: learned"
        figure.legend(lines, labels, loc="outside lower left", ncols=4, frameon=False, fontsize=9, title=title)
        self._draw_spread(axes[6], results)
        self._draw_changes(axes[7], results)
        return figure

    def _draw_terrains(self, axes: Sequence[Axes], results: xr.Dataset) -> None:
        spin = only(results, part="main", fidelity="reference", rule="spin", soil="soft")
        shown = {
            "before": spin["before"].values,
            "after: spin, soft": spin["after"].values,
            "after: spin, mid": only(results, part="main", fidelity="reference", rule="spin", soil="mid")[
                "after"
            ].values,
            "after: spin with a blade, soft": only(results, body="blade", soil="soft")["after"].values,
        }
        side = SPACING * self.hills.nodes
        for panel, (title, heights) in zip(axes, shown.items(), strict=True):
            panel.imshow(
                shade(heights, SPACING), cmap="gray", origin="lower", extent=(0, side, 0, side), vmin=0, vmax=1
            )
            panel.set(title=title, xlabel="x [m]", ylabel="y [m]")
            panel.grid(visible=False)

    def _draw_spread(self, axes: Axes, results: xr.Dataset) -> None:
        """Standard deviations of all heights, hills and ruts at the end of the main runs in the reference."""
        names = [f"{rule}, {soil}" for soil in SOILS for rule in RULES]
        ends = [
            last(only(results, part="main", fidelity="reference", rule=rule, soil=soil))
            for soil in SOILS
            for rule in RULES
        ]
        for k, (quantity, label) in enumerate((("height_sd", "all"), ("hill_sd", "hills"), ("rut_sd", "ruts"))):
            values = [1000.0 * end[quantity] for end in ends]
            axes.bar(np.arange(len(ends)) + 0.27 * (k - 1), values, 0.25, color=COLOURS[k], label=label)
        start = 1000.0 * float(results["before"].values[0].std())
        axes.axhline(start, color="0.3", linestyle=":", linewidth=1.0, label="all, at first")
        axes.set_xticks(range(len(names)), names, fontsize=8, rotation=90)
        axes.set(
            ylabel="standard deviation of heights [mm]",
            title="at the end, reference",
            ylim=(0.0, 1.4 * axes.get_ylim()[1]),
        )
        axes.legend(frameon=False, fontsize=8, ncols=2, loc="upper left")
        axes.grid(visible=False, axis="x")

    def _draw_changes(self, axes: Axes, results: xr.Dataset) -> None:
        """How much the hills lost with each change, beside the plain rover with the same rule."""
        bars = {f"{body}\n{soil}": only(results, part="change", body=body, soil=soil) for body, soil in CHANGES}
        for soil in SOILS:
            bars[f"plain\n{soil}"] = only(results, part="main", fidelity="reference", rule="spin", soil=soil)
        lost = [100.0 * (1.0 - last(one)["left"]) for one in bars.values()]
        axes.bar(range(len(bars)), lost, color=[*[COLOURS[1]] * len(CHANGES), *[COLOURS[0]] * len(SOILS)])
        axes.axhline(0.0, color="0.5", linewidth=0.7)
        axes.set_xticks(range(len(bars)), list(bars), fontsize=8)
        axes.set(ylabel="height lost of the hills [%]", title="changes, rule: spin")
        axes.grid(visible=False, axis="x")

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """The conjecture, its rules, what would have to change, and the gap."""
        ends = {
            (fidelity, rule, soil): last(only(results, part="main", fidelity=fidelity, rule=rule, soil=soil))
            for fidelity in FIDELITIES
            for rule in RULES
            for soil in SOILS
        }
        reference = {(rule, soil): ends["reference", rule, soil] for rule in RULES for soil in SOILS}
        before = results["before"].values[0]
        sd, steepest = float(before.std()), float(slopes(before, SPACING).max())
        changes = {(body, soil): last(only(results, part="change", body=body, soil=soil)) for body, soil in CHANGES}
        exploded = int(results["exploded"].sum())
        rests = [last(only(results, part="rest", soil=soil)) for soil in SOILS]
        found = [
            *_flatter(reference, sd, steepest),
            *_rules(reference),
            *_changes(changes, reference, sd),
            _rest(rests),
            _moves(results),
            *_gap(ends),
        ]
        return [
            replace(claim, note=f"{claim.note}; {exploded} runs exploded") if exploded else claim for claim in found
        ]


def only(results: xr.Dataset, **parameters: str) -> xr.Dataset:
    """The one job with these parameters."""
    return pick(results, **parameters).isel(job=0)


def last(one: xr.Dataset) -> dict[str, float]:
    """The measures of a job at its end."""
    return {name: float(one[name].isel(sample=-1)) for name in MEASURES}


Ends: TypeAlias = Mapping[tuple[str, str], Mapping[str, float]]
"""Measures at the end, by rule or body, and soil."""


def _text(ends: Ends, value: Callable[[Mapping[str, float]], float], unit: str) -> str:
    """A number for each rule or body, and soil."""
    return ", ".join(f"{name}, {soil}: {value(end):.3g}{unit}" for (name, soil), end in ends.items())


def _lost(end: Mapping[str, float]) -> float:
    """Height that the hills have lost [%]."""
    return 100.0 * (1.0 - end["left"])


def _flatter(ends: Ends, sd: float, steepest: float) -> Iterator[Claim]:
    """Whether the terrain gets flatter, and what hills and ruts do."""
    rules = {key: end for key, end in ends.items() if key[0] != "walk"}
    for soil in SOILS:
        change = {rule: 100.0 * (end["height_sd"] / sd - 1.0) for (rule, where), end in ends.items() if where == soil}
        yield Claim(
            f"Driving alone levels a terrain, {soil} soil: the standard deviation of heights falls.",
            "conjectured",
            ", ".join(f"{rule}: {value:+.3g}%" for rule, value in change.items()),
            min(value for rule, value in change.items() if rule != "walk") < 0.0,
            "with the best of the three rules, in the reference; walk is at random",
        )
    slope = {soil: min(end["steepest"] for (_, where), end in rules.items() if where == soil) for soil in SOILS}
    yield Claim(
        "By the source's own measure, driving alone levels a terrain: its steepest slope falls.",
        "conjectured",
        ", ".join(f"{soil}: {value:.3g}" for soil, value in slope.items()),
        all(value < steepest for value in slope.values()),
        f"at first: {steepest:.3g}; with the best of the three rules on each soil, in the reference",
    )
    yield Claim(
        "Soil moves from peaks to valleys.",
        "conjectured",
        _text(rules, lambda end: 1000.0 * end["peaks"], " mm"),
        all(end["peaks"] < 0.0 < end["valleys"] for end in rules.values()),
        "change of the highest tenth, without ruts; it must fall and the lowest tenth rise, which changes by "
        + _text(rules, lambda end: 1000.0 * end["valleys"], " mm"),
    )
    yield Claim(
        "Ruts add more to the variance of heights than the hills lose.",
        "not studied",
        _text(ends, lambda end: 1e6 * end["rut_sd"] ** 2, " mm^2"),
        all(end["rut_sd"] ** 2 > sd**2 - end["hill_sd"] ** 2 for end in ends.values()),
        "variance of ruts; hills lose " + _text(ends, lambda end: 1e6 * (sd**2 - end["hill_sd"] ** 2), " mm^2"),
    )


def _rules(ends: Ends) -> Iterator[Claim]:
    """Each rule against a simpler one."""
    for better, worse, text in (
        ("charge", "walk", "Charging up hills lowers them more than walking at random."),
        ("spin", "charge", "Spinning at peaks lowers hills more than charging up them."),
        ("memory", "spin", "Remembering peaks lowers hills more than spinning at those found by chance."),
    ):
        pair = {key: end for key, end in ends.items() if key[0] in (better, worse)}
        holds = all(ends[better, soil]["left"] < ends[worse, soil]["left"] for soil in SOILS)
        yield Claim(text, "conjectured", _text(pair, _lost, "%"), holds, "height lost of the hills, on both soils")


def _changes(changes: Ends, ends: Ends, sd: float) -> Iterator[Claim]:
    """What might level better."""
    texts = {
        "heavy": "A rover of three times the mass lowers hills more.",
        "blade": "A rover with a blade lowers hills more.",
        "plain": "Soil that slides at half the angle lets rovers lower hills more.",
    }
    for body, text in texts.items():
        mine = {key: end for key, end in changes.items() if key[0] == body}
        base = {soil: ends["spin", "soft" if soil == "loose" else soil] for _, soil in mine}
        plain = ", ".join(f"{_lost(end):.3g}%" for end in base.values())
        holds = all(end["left"] < base[soil]["left"] for (_, soil), end in mine.items())
        yield Claim(text, "not studied", _text(mine, _lost, "%"), holds, f"height lost of the hills; plain: {plain}")
    yield Claim(
        "With one of these changes, the standard deviation of heights falls.",
        "not studied",
        _text(changes, lambda end: 100.0 * (end["height_sd"] / sd - 1.0), "%"),
        any(end["height_sd"] < sd for end in changes.values()),
        "in the reference, with the rule spin",
    )


def _rest(rests: Sequence[Mapping[str, float]]) -> Claim:
    """Rovers that stand still."""
    left = [abs(_lost(end)) for end in rests]
    return Claim(
        "Rovers that stand still do not lower hills.",
        "not studied",
        ", ".join(f"{soil}: {value:.2g}%" for soil, value in zip(SOILS, left, strict=True)),
        max(left) < 0.1,
        "height lost of the hills; less than 0.1%",
    )


def _moves(results: xr.Dataset) -> Claim:
    """Whether rovers drive, or stand and dig."""
    main = pick(results, part="main", fidelity="reference")
    slips = {soil: float(pick(main, soil=soil)["slip"].mean()) for soil in SOILS}
    return Claim(
        "Rovers drive more than they slip, on both soils.",
        "not studied",
        ", ".join(f"{soil}: {slip:.2g}" for soil, slip in slips.items()),
        max(slips.values()) < 0.5,
        "1 minus the distance driven over the distance rolled by the wheels, mean of all rules, in the reference; "
        "less than 0.5",
    )


def _gap(ends: Mapping[tuple[str, str, str], Mapping[str, float]]) -> Iterator[Claim]:
    """The learned world against the reference."""
    for quantity, what, within in (("rut_sd", "Ruts", 0.25), ("left", "Hills", 0.02)):
        ratios = {
            (rule, soil): ends["learned", rule, soil][quantity] / ends["reference", rule, soil][quantity] - 1.0
            for rule in RULES
            for soil in SOILS
        }
        yield Claim(
            f"{what} in the learned world are as high as in the reference, within {100.0 * within:g}%.",
            "not studied",
            ", ".join(f"{rule}, {soil}: {100.0 * ratio:+.2g}%" for (rule, soil), ratio in ratios.items()),
            all(abs(ratio) <= within for ratio in ratios.values()),
            "standard deviation of waves shorter than a rover" if quantity == "rut_sd" else "height left of the hills",
        )
