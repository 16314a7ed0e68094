"""Readable sensor models compared with others: accuracy, size and speed."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal, get_args

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from pydantic import AfterValidator, Field

from sandlot.extras import need
from sandlot.places.plan_names import SHIPPED
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, Study, pick, study
from sandlot.studies.indoor.shared import ENOUGH, METHODS, NARMAX, check_extras, errors
from sandlot.studies.indoor.source import BEST, OTHER, RANKS, SOURCE
from sandlot.studies.indoor.timing import time_methods
from sandlot.studies.plots import COLOURS, canvas, points
from sandlot.studies.statistics import Comparison, compare, mean_interval
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph
from sandlot.typing import Array
from sandlot.worlds.indoor.learned import explore
from sandlot.worlds.indoor.settings import IndoorSettings

Method = Literal["sectors", "headings", "local", "scans", "lookup", "net", "large net", "map"]
ALL: tuple[Method, ...] = get_args(Method)
PlanName = Literal["arena", "cluttered", "office", "flat"]
TEST = "Mann-Whitney U, Holm-corrected, p < 0.05"
NOT_COMPARED = "not compared"


@study("indoor.rivals", source=SOURCE)
class Rivals(Study):
    """Which sensor model is most accurate, and how large is it?

    Polynomials are ``sectors``, the source's own, with a polynomial for each of 12 headings and each segment;
    ``headings``, one polynomial for each segment; and ``local``, many small ones. They are compared with models from
    the literature: ``scans``, the nearest scans of the log (Lund and Miglino 1996); ``lookup``, the same with the
    windows of each scan that ``local`` is fitted to; ``net``, a small neural net (Lee, Nehmzow and Hubbard 1998), and
    ``large net``, with three layers of 256 neurons, both trained on these windows; and ``map``, ray casting in a map.
    All are fitted to the same logs of a wandering robot, and predict two further drives of it. What is free in
    ``local``, both tables and the map is decided by the same cross-validation; where they know nothing, all of them
    predict the median of the segment. The training of the nets was tuned on the first log of each plan.

    Attributes:
        plans: Floor plans in which the robot wanders.
        methods: Models to compare.
        samples: Scans of a log; the source has 1,400.
        validation: Scans of each of the two further drives.
        replicates: Logs in each plan; all methods are fitted to the same logs.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "error": Quantity("m", "mean absolute error of each segment", ("segment",), (SEGMENTS,)),
        "fitted_error": Quantity("m", "the same on the log that the model is fitted to", ("segment",), (SEGMENTS,)),
        "spearman": Quantity("1", "rank correlation of predicted and actual", ("segment",), (SEGMENTS,)),
        "size": Quantity("1", "number of stored values in the model"),
    }

    plans: Annotated[tuple[PlanName, ...], Field(min_length=1), AfterValidator(distinct)] = ("arena", "cluttered")
    methods: Annotated[tuple[Method, ...], Field(min_length=1), AfterValidator(distinct)] = ALL
    samples: int = Field(1400, ge=50, le=100_000)
    validation: int = Field(240, ge=10, le=100_000)
    replicates: int = Field(10, ge=1, le=1000)

    def check(self) -> None:
        """Check that what the methods and their timing need is installed."""
        check_extras(self.methods)
        need("threadpoolctl", "learn")

    def jobs(self) -> Iterator[Job]:
        """Every method on every log."""
        return self.cross(plan=self.plans, method=self.methods, replicate=range(self.replicates))

    def logs(self, plan: str, replicate: int) -> tuple[Sensorgraph, Sensorgraph]:
        """A log, and two further drives one after the other; the same for every method."""
        seeds = np.random.SeedSequence(self.seed, spawn_key=(SHIPPED.index(plan), replicate)).generate_state(3)
        settings = IndoorSettings.model_validate({"plan": plan})
        lengths = (self.samples, self.validation, self.validation)
        log, *drives = (explore(settings, each, int(seed)) for each, seed in zip(lengths, seeds, strict=True))
        return log, Sensorgraph.join(drives)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Fit one method to one log, and predict the further drives."""
        log, asked = self.logs(str(job.parameters["plan"]), int(job.parameters["replicate"]))
        model = METHODS[str(job.parameters["method"])]().fit(log)
        error, _, spearman = errors(model.predict(asked.poses), asked.segments())
        fitted, _, _ = errors(model.predict(log.poses), log.segments())
        return {"error": error, "fitted_error": fitted, "spearman": spearman, "size": model.size}

    def by_method(self, results: xr.Dataset, plan: str, quantity: str = "error") -> dict[str, Array]:
        """Values of each method in a plan, one for each log, averaged over all segments."""
        there = {method: pick(results, plan=plan, method=method)[quantity].values for method in self.methods}
        return {method: values.reshape(len(values), -1).mean(1) for method, values in there.items()}

    def figure(self, results: xr.Dataset) -> Figure:
        """Mean absolute error over all segments, of every log; and its median over the size of the model."""
        figure, (left, right) = canvas(2, 12.0, 4.8)
        for k, plan in enumerate(self.plans):
            wrong, sizes = self.by_method(results, plan), self.by_method(results, plan, "size")
            left.plot([], [], "o", color=COLOURS[k], label=plan)
            for column, method in enumerate(self.methods):
                shift = (k - (len(self.plans) - 1) / 2) * 0.8 / len(self.plans)
                points(left, column + shift, 100.0 * wrong[method], COLOURS[k])
                at = float(np.median(sizes[method])), 100.0 * float(np.median(wrong[method]))
                mark = "o" if method in NARMAX else "s"
                right.plot(*at, mark, color=COLOURS[k], markersize=8, fillstyle="full" if method in NARMAX else "none")
                if plan == self.plans[-1]:
                    offset = 0, -16 if method in ("local", "net") else 8  # away from their neighbours
                    right.annotate(method, at, offset, textcoords="offset points", ha="center", fontsize=9)
        if "arena" in self.plans:
            left.axhline(BEST, color=COLOURS[5], linestyle=":", label="the source's best table")
        left.set_xticks(range(len(self.methods)), [method.replace(" ", "\n") for method in self.methods])
        left.set(ylabel="mean absolute error [cm]", yscale="log")
        right.plot([], [], "o", color=COLOURS[5], label="polynomials")
        right.plot([], [], "s", color=COLOURS[5], fillstyle="none", label="others")
        right.set(xlabel="stored values in the model", ylabel="mean absolute error [cm]", xscale="log", yscale="log")
        right.margins(0.12, 0.15)
        for axes in (left, right):
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.legend(frameon=False)
        for axis in (left.yaxis, right.yaxis, right.xaxis):
            axis.set_major_formatter("{x:,g}")
            axis.set_minor_formatter(NullFormatter())
        left.grid(visible=False, axis="x")
        return figure

    def against(self, results: xr.Dataset, plan: str, method: str, others: tuple[str, ...]) -> list[Comparison]:
        """Errors of other methods against those of one."""
        groups = self.by_method(results, plan)
        return compare({name: groups[name] for name in (method, *others)}, method, f"error, {plan}")

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Every method against ``local``, or against the first if that is not among them."""
        first = "local" if "local" in self.methods else self.methods[0]
        others = tuple(method for method in self.methods if method != first)
        return [test for plan in self.plans for test in self.against(results, plan, first, others) if others]

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Accuracy in every plan, and sizes; a claim is left out if one of its methods is not in the run."""
        found = []
        rest = tuple(method for method in self.methods if method != "map")
        for plan in self.plans:
            cases = (
                ("local", ("lookup", "net", "large net"), "Many small polynomials are", "not studied"),
                ("sectors", ("lookup", "net"), "The source's models are", NOT_COMPARED),
                ("map", rest, "Ray casting in a map is", "not studied"),
            )
            for method, others, who, source in cases:
                if {method, *others} <= set(self.methods) and others:
                    text = f"In the {plan} plan, {who[0].lower() + who[1:]} more accurate than {listed(others)}."
                    found.append(self._more_accurate(results, text, source, plan, method, others))
        if "arena" in self.plans and "local" in self.methods:
            found += self._arena_claims(results)
        for other, what in (("scans", "the table of whole scans"), ("net", "the small net")):
            if {*NARMAX, other} <= set(self.methods):
                found.append(self._compact(results, other, what))
        return found

    def _more_accurate(
        self, results: xr.Dataset, text: str, source: str, plan: str, method: str, others: tuple[str, ...]
    ) -> Claim:
        """Whether all tests are significant, and which are not."""
        groups, tests = self.by_method(results, plan), self.against(results, plan, method, others)
        said = ", ".join(f"{name}: {100.0 * np.median(groups[name]):.3g}" for name in (method, *others))
        unsure = ", ".join(f"{test.group} (p = {test.p:.2g})" for test in tests if not test.above())
        note = f"medians over {self.replicates} logs; {TEST}"
        if unsure:
            fitted = 100.0 * np.median(self.by_method(results, plan, "fitted_error")[method])
            note += f". Fails for: {unsure}. On the logs that it is fitted to, {method} has {fitted:.3g} cm"
        return Claim(text, source, f"{said} cm", not unsure, note)

    def _arena_claims(self, results: xr.Dataset) -> list[Claim]:
        """Accuracy and rank correlation of many small polynomials in the arena."""
        interval = mean_interval(100.0 * self.by_method(results, "arena")["local"])
        ranks = np.median(pick(results, plan="arena", method="local")["spearman"].values, 0)
        low = "all segments, right to left: " + ", ".join(f"{each:.2f}" for each in ranks)
        return [
            Claim(
                "In the arena, many small polynomials are more accurate than the source's models were on its robot.",
                f"{BEST:.1f} cm on its better drive, {OTHER:.1f} cm on the other",
                f"{interval.mean:.1f} cm",
                interval.high < BEST,
                f"95% confidence: {interval.low:.1f} to {interval.high:.1f} cm; the source's arena differed",
            ),
            Claim(
                "In the arena, predictions of many small polynomials correlate with actual readings, in every segment.",
                f"{RANKS.min():.2f} to {RANKS.max():.2f} on its second drive",
                f"{ranks.min():.2f}",
                bool(ranks.min() >= ENOUGH),
                f"Spearman's rank correlation, smallest median over logs, at least {ENOUGH:g}; {low}",
            ),
        ]

    def _compact(self, results: xr.Dataset, other: str, what: str) -> Claim:
        """Whether all readable models are smaller than another model, in every plan."""
        said, larger = [], []
        for plan in self.plans:
            sizes = {name: float(np.median(found)) for name, found in self.by_method(results, plan, "size").items()}
            said.append(f"{plan}: " + ", ".join(f"{name} {sizes[name]:,.0f}" for name in (*NARMAX, other)))
            larger += [f"{name}, {plan}" for name in NARMAX if sizes[name] >= sizes[other]]
        note = "stored values in the model, medians over logs" + (f". Fails for: {'; '.join(larger)}" if larger else "")
        text = f"Readable models are compact: each is smaller than {what}."
        return Claim(text, "compact", "; ".join(said), not larger, note)

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """How long each method takes on this machine."""
        plan = self.plans[0]
        yield time_methods(plan, self.methods, *self.logs(plan, 0))


def listed(names: tuple[str, ...]) -> str:
    """Names listed as in a sentence."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
