"""Sensor models fitted to the first part of a real robot's logs, and tested on the rest."""

import math
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field
from scipy.spatial import cKDTree

from sandlot.errors import SandlotError
from sandlot.recordings import Quantity
from sandlot.recordings.logs import import_log
from sandlot.recordings.logs.data import VARIABLE, locate_log
from sandlot.recordings.reader import open as open_recording
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, Study, pick, study
from sandlot.studies.indoor.real_pictures import draw_errors, draw_log, draw_predictions
from sandlot.studies.indoor.rivals import ALL, Method, listed
from sandlot.studies.indoor.shared import ENOUGH, METHODS, check_extras, errors
from sandlot.studies.indoor.source import RANKS, SOURCE
from sandlot.studies.statistics import holm
from sandlot.surrogates.sensorgraph import SEGMENTS, Sensorgraph, directions
from sandlot.typing import Array, BoolArray

LOGS = tuple(Path("intel-lab", f"{name}.log.gz") for name in ("intel-corrected", "intel-graph"))
MIN_SCANS = 20
"""Of each part of a log."""
TEST = "smaller error at every cut, and Wilcoxon, one-sided, over cuts and segments, Holm-corrected, p < 0.05"
"""Cuts share scans, so p alone would be too small."""
PLACES = {"error": "Over all later scans", "near_error": "Where the robot has been before"}
GUESS = "the median of each segment"
"""The baseline that does not use the pose."""
ALIKE = 0.25
METRES_PER_RADIAN = 2.0
"""A later ray is like an earlier one if their distance is at most this [m]; weight of a turn in that distance."""
LIKE = f"like an earlier one (within {ALIKE:g} m, or {math.degrees(ALIKE / METRES_PER_RADIAN):.0f} degrees)"
PER_SEGMENT = ("segment",), (SEGMENTS,)


def name_of(log: Path) -> str:
    """Name of a log: that of its file up to the first dot."""
    return log.name.split(".")[0]


def different_names(logs: tuple[Path, ...]) -> tuple[Path, ...]:
    """Refuse logs of the same name.

    Raises:
        ValueError: If two have the same.
    """
    distinct(tuple(name_of(log) for log in logs))
    return logs


@study("indoor.real", source=f"beyond {SOURCE}")
class Real(Study):
    """Do models of a log predict what a real robot measures later?

    A robot drove through the Intel Research Lab in Seattle. There are two logs with poses that were corrected by SLAM:
    ``intel-corrected`` has 910 scans over 500 m, ``intel-graph`` 2,672 scans over 361 m. Each method is fitted to the
    first part of a log, and predicts all later scans, and those near an earlier one: elsewhere the robot sees rooms
    that are not in the first part. The baseline is the median of each segment in the first part, which does not use the
    pose. The methods are those of `indoor.rivals`. The logs are not part of Sandlot.

    Attributes:
        logs: Logs with poses, of any format that ``sandlot import`` reads. Relative paths that do not exist are looked
            for below the folder in the environment variable SANDLOT_DATA.
        cuts: Shares of a log that models are fitted to; they predict the rest.
        near: A later pose is near an earlier one if their distance is at most this [m].
        methods: Models to compare.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "error": Quantity("m", "mean absolute error of each segment, all later scans", *PER_SEGMENT),
        "near_error": Quantity("m", "the same, scans near an earlier one", *PER_SEGMENT),
        "guess": Quantity("m", "mean absolute error of the baseline, all later scans", *PER_SEGMENT),
        "near_guess": Quantity("m", "the same, scans near an earlier one", *PER_SEGMENT),
        "spearman": Quantity("1", "rank correlation of predicted and actual", *PER_SEGMENT),
        "near_spearman": Quantity("1", "the same, scans near an earlier one", *PER_SEGMENT),
        "near_share": Quantity("1", "share of later scans that are near an earlier one"),
        "alike_error": Quantity("m", "mean absolute error, rays that are like an earlier one", *PER_SEGMENT),
        "alike_spearman": Quantity("1", "rank correlation, rays that are like an earlier one", *PER_SEGMENT),
        "alike_share": Quantity("1", "share of later rays that are like an earlier one"),
        "size": Quantity("1", "number of stored values in the model"),
    }

    logs: Annotated[tuple[Path, ...], Field(min_length=1), AfterValidator(different_names)] = LOGS
    cuts: Annotated[
        tuple[Annotated[float, Field(gt=0.0, lt=1.0)], ...], Field(min_length=1), AfterValidator(distinct)
    ] = (0.5, 0.6, 0.7, 0.8)
    near: float = Field(1.0, gt=0.0, le=1000.0)
    methods: Annotated[tuple[Method, ...], Field(min_length=1), AfterValidator(distinct)] = ALL

    def check(self) -> None:
        """Check that the logs exist and are long enough for all cuts, and that what the methods need is installed.

        Raises:
            SandlotError: If one of them is not so.
        """
        check_extras(self.methods)
        for log in self.paths:
            if not log.exists():
                raise SandlotError(
                    f"there is no log {log}; get those of the Intel Research Lab (data/carmen of acschaefer/ple and "
                    f"data of tipaldi/flirtlib on GitHub), put their folder in {VARIABLE}, or set logs to any logs "
                    "with scans and poses"
                )
            graph = read(log)
            shortest = min(min(len(part) for part in self.parts(graph, cut)) for cut in self.cuts)
            if shortest < MIN_SCANS:
                raise SandlotError(
                    f"cuts={list(self.cuts)} make a part of {shortest} of the {len(graph)} scans in {log}; each part "
                    f"needs {MIN_SCANS}"
                )

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where the logs are."""
        return tuple(locate_log(log) for log in self.logs)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the logs."""
        return tuple(name_of(log) for log in self.logs)

    def parts(self, graph: Sensorgraph, cut: float) -> tuple[Sensorgraph, Sensorgraph]:
        """The log before and after a cut."""
        first = round(cut * len(graph))
        return graph.part(slice(first)), graph.part(slice(first, None))

    def revisited(self, first: Sensorgraph, later: Sensorgraph) -> BoolArray:
        """Whether each later pose is near an earlier one: (later,)."""
        distance, _ = cKDTree(first.poses[:, :2]).query(later.poses[:, :2])
        return np.asarray(distance <= self.near)

    def jobs(self) -> Iterator[Job]:
        """Every method at every cut of every log."""
        return self.cross(log=self.names, cut=self.cuts, method=self.methods)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Fit one method to the first part of the log, and predict the rest."""
        log = self.paths[self.names.index(str(job.parameters["log"]))]
        first, later = self.parts(read(log), float(job.parameters["cut"]))
        model, near = METHODS[str(job.parameters["method"])]().fit(first), self.revisited(first, later)
        predicted, actual = model.predict(later.poses), later.segments()
        guess = np.broadcast_to(np.nanmedian(first.segments(), 0), actual.shape)
        alike = alike_rays(first, later)
        error, _, spearman = errors(predicted, actual)
        unknown = np.full(SEGMENTS, np.nan)
        near_error, _, near_spearman = errors(predicted[near], actual[near]) if near.sum() > 2 else (unknown,) * 3
        enough = bool((alike.sum(0) > 2).all())
        alike_error, _, alike_spearman = (
            errors(predicted, np.where(alike, actual, np.nan)) if enough else (unknown,) * 3
        )
        return {
            "error": error,
            "near_error": near_error,
            "guess": np.nanmean(np.abs(guess - actual), 0),
            "near_guess": np.nanmean(np.abs(guess - actual)[near], 0) if near.any() else unknown,
            "spearman": spearman,
            "near_spearman": near_spearman,
            "near_share": float(near.mean()),
            "alike_error": alike_error,
            "alike_spearman": alike_spearman,
            "alike_share": float(alike.mean()),
            "size": model.size,
        }

    def figure(self, results: xr.Dataset) -> Figure:
        """Mean absolute error over all segments, over the fitted share of each log: all later scans, and near ones."""
        return draw_errors(results, self.names, self.methods, PLACES)

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Accuracy of methods against each other; a claim is left out if one of its methods is not in the run."""
        return [claim for name in self.names for claim in self._claims(pick(results, log=name), name)]

    def _claims(self, results: xr.Dataset, log: str) -> list[Claim]:
        """Claims about one log."""
        rest = {best: tuple(method for method in self.methods if method != best) for best in ("local", "map")}
        cases = (
            ("error", "local", ("lookup",), "many small polynomials are"),
            ("near_error", "local", ("lookup",), "many small polynomials are"),
            ("error", "local", (GUESS,), "many small polynomials are"),
            ("near_error", "local", (GUESS,), "many small polynomials are"),
            ("error", "lookup", (GUESS,), "the lookup table is"),
            ("near_error", "lookup", (GUESS,), "the lookup table is"),
            ("error", "sectors", ("lookup",), "the source's models are"),
            ("error", "local", rest["local"], "many small polynomials are"),
            ("near_error", "map", rest["map"], "ray casting in a map is"),
            ("error", "map", rest["map"], "ray casting in a map is"),
        )
        found = [
            self._more_accurate(
                results, quantity, method, others, f"{log}: {PLACES[quantity].lower()}, {who} more accurate than"
            )
            for quantity, method, others, who in dict.fromkeys(cases)  # with few methods, some cases are equal
            if others and {method, *others} <= {*self.methods, GUESS}
        ]
        return found + ([self._ranks(results, log)] if "local" in self.methods else [])

    def _errors(self, results: xr.Dataset, name: str, quantity: str) -> Array:
        """Errors of one model at every cut of the log: (cuts, segments) [m]."""
        if name == GUESS:  # the jobs of all methods have the same
            name, quantity = self.methods[0], quantity.replace("error", "guess")
        found: Array = pick(results, method=name)[quantity].values
        return found

    def _more_accurate(
        self, results: xr.Dataset, quantity: str, method: str, others: tuple[str, ...], text: str
    ) -> Claim:
        wrong = {name: self._errors(results, name, quantity) for name in (method, *others)}
        tests = holm([_wilcoxon(wrong[method].ravel(), wrong[name].ravel()) for name in others])
        cuts = [int((wrong[method].mean(1) < wrong[name].mean(1)).sum()) for name in others]
        unsure = [
            f"{name} (p = {p:.2g}, {many} of {len(self.cuts)} cuts)"
            for name, p, many in zip(others, tests, cuts, strict=True)
            if not (p < 0.05 and many == len(self.cuts))
        ]
        said = ", ".join(f"{name}: {100.0 * values.mean():.0f}" for name, values in wrong.items())
        note = f"means over cuts and segments; {TEST}" + (f". Fails for: {', '.join(unsure)}" if unsure else "")
        if others == ("lookup",):
            share = 100.0 * pick(results, method=method)["alike_share"].values.mean()
            alike = {name: self._errors(results, name, "alike_error") for name in (method, *others)}
            same = ", ".join(f"{name}: {100.0 * values.mean():.0f}" for name, values in alike.items())
            note += f". For the {share:.0f}% of later rays that are {LIKE}, {same} cm"
        return Claim(f"{text} {listed(others)}.", "not studied", f"{said} cm", not unsure, note)

    def _ranks(self, results: xr.Dataset, log: str) -> Claim:
        mine = pick(results, method="local")
        ranks, near, alike = (
            np.median(mine[name].values, 0) for name in ("spearman", "near_spearman", "alike_spearman")
        )
        near_share, alike_share = (100.0 * mine[name].values.mean() for name in ("near_share", "alike_share"))
        note = (
            f"Spearman, medians over cuts; {near.min():.2f} to {near.max():.2f} for the {near_share:.0f}% of later "
            f"scans that are within {self.near:g} m of an earlier one"
        )
        if "map" in self.methods:
            others = np.median(pick(results, method="map")["near_spearman"].values, 0)
            note += f", where a map has {others.min():.2f} to {others.max():.2f}"
        note += f"; {alike.min():.2f} to {alike.max():.2f} for the {alike_share:.0f}% of later rays that are {LIKE}"
        text = f"{log}: as in the arena, many small polynomials have a rank correlation of {ENOUGH:g} in every segment."
        source = f"{RANKS.min():.2f} to {RANKS.max():.2f} in its arena"
        said = ", ".join(f"{each:.2f}" for each in ranks)
        return Claim(text, source, said, bool(ranks.min() >= ENOUGH), note)

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """Each log, and predictions where the robot returns; no pictures of a log that no longer exists."""
        for log in self.paths:
            if log.exists():
                yield from self._scenes(log)

    def _scenes(self, log: Path) -> Iterator[Picture]:
        first, later = self.parts(read(log), self.cuts[0])
        near = self.revisited(first, later)
        yield Picture(
            f"Laser returns and the robot's path in {name_of(log)}: the first {100.0 * self.cuts[0]:.0f}% of the "
            f"log, and the rest. {100.0 * near.mean():.0f}% of the later poses are within {self.near:g} m of an "
            "earlier one.",
            draw_log(first, later, near),
        )
        stretch = _longest(near)
        if stretch.stop - stretch.start > 1:
            names: list[str] = [name for name in self.methods if name in ("local", "lookup", "map")]
            predicted = {name: METHODS[name]().fit(first).predict(later.poses[stretch]) for name in names}
            yield Picture(
                "Predicted and actual readings of three segments along the longest stretch near earlier poses. Where "
                "a line is level, no earlier ray was similar, and the model predicts the median of all readings.",
                draw_predictions(later.part(stretch), predicted),
            )


def read(log: Path) -> Sensorgraph:
    """All scans of a log."""
    with tempfile.TemporaryDirectory() as directory:
        import_log(log, Path(directory, "log"))
        with open_recording(Path(directory, "log")) as recording:
            return Sensorgraph.of(recording)


def alike_rays(first: Sensorgraph, later: Sensorgraph) -> BoolArray:
    """Whether the ray of each later segment is like that of an earlier window: (later, segments)."""

    def places(rays: Array) -> Array:
        turned = METRES_PER_RADIAN * np.column_stack([np.cos(rays[:, 2]), np.sin(rays[:, 2])])
        return np.column_stack([rays[:, :2], turned])

    asked = directions(later.poses, later.segment_bearings())
    distance, _ = cKDTree(places(first.windows()[0])).query(places(asked))
    return np.asarray(distance <= ALIKE).reshape(-1, SEGMENTS)


def _wilcoxon(ours: Array, theirs: Array) -> float:
    """One-sided p-value of paired errors: ours less than theirs; 1 if no pair differs."""
    gap = (ours - theirs)[np.isfinite(ours - theirs)]
    from scipy import stats  # loaded when needed: it takes a second, in each worker

    return float(stats.wilcoxon(gap, alternative="less").pvalue) if gap.any() else 1.0


def _longest(flags: BoolArray) -> slice:
    """The longest run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int64), [0]])))
    starts, stops = edges[::2], edges[1::2]
    if not len(starts):
        return slice(0, 0)
    best = int(np.argmax(stops - starts))
    return slice(int(starts[best]), int(stops[best]))
