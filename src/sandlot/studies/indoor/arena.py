"""The source's experiment: polynomials fitted to a robot's log predict its laser readings at other poses."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.kernels.randomness import children
from sandlot.places.plans import load_plan
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, Study, pick, study
from sandlot.studies.indoor import pictures
from sandlot.studies.indoor.shared import DRIVES, ENOUGH, LABELS, NARMAX, drives, errors, look
from sandlot.studies.indoor.source import ERRORS, RANKS, SOURCE, STANDARD_ERRORS
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.statistics import Comparison, compare
from sandlot.surrogates.equations import text
from sandlot.surrogates.sensor_models import Sectors, SensorModel
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph
from sandlot.typing import Array
from sandlot.worlds.indoor.learned import explore
from sandlot.worlds.indoor.settings import IndoorSettings

Method = Literal["sectors", "headings", "local"]
ABOUT = {
    "sectors": "polynomials for 12 headings, as in the source",
    "headings": "one polynomial for all headings",
    "local": "many small polynomials",
}
BINS = 12
"""Of the histograms of x, y and yaw."""


@study("indoor.arena", source=f"{SOURCE}, tables 1 to 3")
class Arena(Study):
    """Can a few polynomials predict a robot's laser readings?

    A robot wanders about an arena of 100 m2 and logs 1,400 scans with their poses. NARMAX polynomials of the pose then
    model the medians of six segments of each scan, in three ways: for each of 12 headings a polynomial of x and y, as
    in the source (sectors); one polynomial of x, y and the heading's sine and cosine (headings); and many small ones,
    each for rays that are nearly the same (local). Segments are named by the angle of their middle, from L15 on the
    right to L165 on the left. Each replicate has its own log. The models predict two drives that are not in the log.

    Attributes:
        methods: Models to fit.
        samples: Scans of a log.
        validation: Scans of each validation drive.
        replicates: Number of logs.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "error": Quantity("m", "mean absolute error", ("drive", "segment"), (0, 0)),
        "standard_error": Quantity("m", "standard error of that mean", ("drive", "segment"), (0, 0)),
        "spearman": Quantity("1", "rank correlation of predicted and actual", ("drive", "segment"), (0, 0)),
        "guess": Quantity(
            "1", "p-value of errors being smaller than those of random guesses", ("drive", "segment"), (0, 0)
        ),
        "thinnest": Quantity(
            "1", "scans in the emptiest bin of x, y and yaw, relative to the mean bin", ("pose",), (0,)
        ),
        "size": Quantity("1", "coefficients"),
    }

    methods: Annotated[tuple[Method, ...], Field(min_length=1), AfterValidator(distinct)] = (
        "sectors",
        "headings",
        "local",
    )
    samples: int = Field(1400, ge=50, le=1_000_000)
    validation: int = Field(DRIVES, ge=10, le=100_000)
    replicates: int = Field(10, ge=1, le=10_000)

    def jobs(self) -> Iterator[Job]:
        """Every method on every log."""
        return self.cross(method=self.methods, replicate=range(self.replicates))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Fit to a log, and predict both drives."""
        replicate = int(job.parameters["replicate"])
        graph, model = self.log(replicate), NARMAX[str(job.parameters["method"])]()
        model.fit(graph)
        found = []
        rngs = map(np.random.default_rng, self._seeds(replicate)[1].spawn(2))
        for seen, rng in zip(self.seen(replicate), rngs, strict=True):
            predicted, actual = model.predict(seen.poses), seen.segments()
            found.append((*errors(predicted, actual), self._guess(predicted, actual, rng)))
        wrong, standard, spearman, guess = (np.array(each) for each in zip(*found, strict=True))
        bins = [counts.values for counts in graph.coverage(BINS).data_vars.values()]
        return {
            "error": wrong,
            "standard_error": standard,
            "spearman": spearman,
            "guess": guess,
            "thinnest": np.array([counts.min() / counts.mean() for counts in bins]),
            "size": float(model.size),
        }

    def log(self, replicate: int) -> Sensorgraph:
        """The log of a wandering robot; the same for all methods."""
        walk, _ = self._seeds(replicate)
        return explore(IndoorSettings(), self.samples, int(walk.generate_state(1)[0]))

    def seen(self, replicate: int) -> list[Sensorgraph]:
        """Scans along both drives."""
        settings, rng = IndoorSettings(), np.random.default_rng(self._seeds(replicate)[1])
        plan = load_plan(settings.plan)
        return [look(settings, plan, poses, rng) for poses in drives(plan, self.validation)]

    def _seeds(self, replicate: int) -> tuple[np.random.SeedSequence, np.random.SeedSequence]:
        first, second = children(np.random.SeedSequence(self.seed, spawn_key=(2**20, replicate)), 2)
        return first, second

    def _guess(self, predicted: Array, actual: Array, rng: np.random.Generator) -> Array:
        """Mann-Whitney p-values: errors against those of uniform guesses from the range of readings, (segments,)."""
        guesses = rng.uniform(np.nanmin(actual, 0), np.nanmax(actual, 0), actual.shape)
        pairs = zip(np.abs(predicted - actual).T, np.abs(guesses - actual).T, strict=True)
        from scipy import stats  # loaded when needed: it takes a second, in each worker

        tests = [stats.mannwhitneyu(a, b, alternative="less", nan_policy="omit") for a, b in pairs]
        return np.array([test.pvalue for test in tests])

    def figure(self, results: xr.Dataset) -> Figure:
        """Mean absolute error of each segment on both drives: the source's, and ours, every log and the median."""
        figure, panels = canvas(2, 10.0, 4.2)
        width = 0.8 / (len(self.methods) + 1)
        for drive, axes in enumerate(panels):
            at = np.arange(SEGMENTS) - 0.4 + 0.5 * width
            axes.bar(at, 100.0 * ERRORS[drive], width * 0.9, color="0.75", label="the source")
            for k, method in enumerate(self.methods):
                wrong = 100.0 * pick(results, method=method)["error"].values[:, drive]
                x = at + (k + 1) * width
                axes.bar(
                    x,
                    np.median(wrong, 0),
                    width * 0.9,
                    color=COLOURS[k],
                    alpha=0.8,
                    label=f"{method}: {ABOUT[method]}",
                )
                axes.plot(np.tile(x, (len(wrong), 1)), wrong, ".", color="0.2", markersize=3, alpha=0.5)
            axes.set_xticks(np.arange(SEGMENTS), LABELS)
            axes.set(title=f"drive {drive + 1}", ylabel="mean absolute error [cm]" if drive == 0 else None)
            axes.grid(visible=False, axis="x")
        low, high = 0.0, max(axes.get_ylim()[1] for axes in panels)
        for axes in panels:
            axes.set_ylim(low, high)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
        return figure

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Every other method against the source's."""
        groups: dict[str, Array] = {
            each: pick(results, method=each)["error"].values.mean((1, 2)) for each in self.methods
        }
        return compare(groups, self.methods[0], "mean absolute error") if len(groups) > 1 else []

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """The source's tables, and our own models."""
        found = []
        if "sectors" in self.methods:
            found += self._source_claims(pick(results, method="sectors"))
        for method in self.methods:
            if method != "sectors":
                found += self._claims(method, pick(results, method=method))
        thinnest = results["thinnest"].values.min(1)
        found.append(
            Claim(
                "The robot visits every x, y and heading about equally often.",
                "nearly uniform histograms (figures 5 to 7)",
                f"thinnest of {BINS} bins: {_median_and_range(thinnest)} of the mean",
                bool((thinnest >= 0.25).all()),
                "holds if no bin of any log has less than a quarter of the mean",
            )
        )
        return found

    def _source_claims(self, mine: xr.Dataset) -> list[Claim]:
        names = ("error", "standard_error", "spearman", "guess")
        wrong, standard, ranks, guess = (np.median(mine[name].values, 0) for name in names)
        found = [
            Claim(
                f"Polynomials of x and y for 12 headings predict every segment to a few decimetres, drive {k + 1}.",
                _table(ERRORS[k], STANDARD_ERRORS[k]),
                _table(wrong[k], standard[k]),
                bool((wrong[k] <= ERRORS.max()).all()),
                f"table {k + 1}; medians over logs, from L15 to L165; holds if none is above the source's largest "
                f"error, {100.0 * ERRORS.max():.0f} cm. The positions of the cartons in its arena are not known",
            )
            for k in (0, 1)
        ]
        from scipy import stats  # loaded when needed: it takes a second, in each worker

        critical = stats.t.ppf(0.975, self.validation - 2)
        least = critical / np.sqrt(self.validation - 2 + critical**2)
        return [
            *found,
            Claim(
                "Predicted and actual readings correlate, in every segment.",
                _list(RANKS, "", ".2f"),
                _list(ranks[1], "", ".2f"),
                bool((ranks[1] > least).all()),
                f"table 3; Spearman on the second drive, medians over logs; above {least:.2f} is significant",
            ),
            Claim(
                "Predictions are better than random guesses.",
                "p < 0.05 for L75 and L105",
                f"greatest p: {guess.max():.2g}",
                bool((guess < 0.05).all()),
                "figures 16 and 17; Mann-Whitney U on absolute errors, all segments, both drives, medians over logs",
            ),
        ]

    def _claims(self, method: Method, mine: xr.Dataset) -> list[Claim]:
        best = ERRORS.mean(1).min()
        wrong, ranks = mine["error"].values.mean((1, 2)), mine["spearman"].values.min((1, 2))
        about = f"{method} ({ABOUT[method]})"
        return [
            Claim(
                f"Beyond the source, {about}: errors are smaller than in its better table.",
                f"{100.0 * best:.1f} cm, mean of table 1",
                f"{_median_and_range(100.0 * wrong)} cm",
                bool((wrong < best).all()),
                "over all segments and both drives; median and range over logs; all must be smaller",
            ),
            Claim(
                f"{about.capitalize()}: the rank correlation is at least {ENOUGH:g} in every segment.",
                "0.30 to 0.98 (table 3)",
                f"least of 12: {_median_and_range(ranks, '.3f')}",
                bool(np.median(ranks) >= ENOUGH),
                f"of each drive and segment; median and range over logs; {int((ranks >= ENOUGH).sum())} of "
                f"{ranks.size} logs reach it everywhere",
            ),
        ]

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The first log, and the models fitted to it."""
        graph, seen = self.log(0), self.seen(0)
        models: dict[str, SensorModel] = {method: NARMAX[method]().fit(graph) for method in self.methods}
        yield Picture(
            "Where the robot logged its scans, and both drives. (Figures 4, 8 and 9 of the source.)",
            pictures.places(load_plan("arena"), graph, seen),
        )
        yield Picture(
            "How many scans there are by x, y and heading. (Figures 5 to 7 of the source.)",
            pictures.coverage(graph, BINS),
        )
        yield Picture(
            "Predicted and actual readings along both drives. (As figures 10 and 11 of the source.)",
            pictures.along(seen, models),
        )
        yield Picture(
            "Predicted readings against actual ones. (Figures 12 to 15 of the source.)", pictures.against(seen, models)
        )
        yield Picture(
            f"Errors of {self.methods[0]} beside those of random guesses. (Figures 16 and 17 of the source.)",
            pictures.guesses(seen, models[self.methods[0]], self.seed),
        )

    def files(self, results: xr.Dataset) -> Mapping[str, str]:
        """All equations of the source's kind of model, fitted to the first log."""
        model = Sectors().fit(self.log(0))
        lines = []
        for sector, row in enumerate(model.models_):
            for label, each in zip(LABELS, row, strict=True):
                title = f"heading {360 * sector // model.sectors} degrees, segment {label} [m]"
                lines.append(f"{title}\n\n{text(each, label) if each else 'too few scans'}\n")
        return {"equations.txt": "\n".join(lines)}


def _table(values: Array, standard_errors: Array) -> str:
    """Means and standard errors [m] as text in cm."""
    both = zip(100.0 * values, 100.0 * standard_errors, strict=True)
    return ", ".join(f"{mean:.0f} ± {error:.0f}" for mean, error in both) + " cm"


def _list(values: Array, unit: str, form: str = ".0f") -> str:
    return f"{', '.join(f'{value:{form}}' for value in values)} {unit}".strip()


def _median_and_range(values: Array, form: str = ".2g") -> str:
    return f"{np.median(values):{form}} ({values.min():{form}} to {values.max():{form}})"
